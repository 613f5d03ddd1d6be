import Fastify, { LogController, type FastifyInstance } from 'fastify'
import { systemClock } from './lib/base/clock.js'
import { isLoopback } from './lib/base/uri.js'
import type { Config } from './lib/config/config.js'
import type { MemoryOverrides } from './lib/operations/memory-service.js'
import { packageVersion } from './lib/base/package-file.js'
import { WebhookSources } from './lib/operations/webhook-sources.js'
import accessControl from './plugins/access-control.js'
import activeRequests from './plugins/active-requests.js'
import adminToken from './plugins/admin-token.js'
import { MAX_HEADER_BYTES } from './plugins/auth/bearer.js'
import authByApp, { type AuthenticateCaller } from './plugins/auth/by-app.js'
import { authPlugin } from './plugins/auth/index.js'
import { HEARTBEAT_MS } from './http/event-stream.js'
import { missingVariables } from './http/missing-auth-variables.js'
import answerSize from './plugins/answer-size.js'
import bankAccess from './plugins/bank-access.js'
import bodies from './plugins/bodies.js'
import connections from './plugins/connections.js'
import cors from './plugins/cors.js'
import consolePages from './plugins/console.js'
import errors from './plugins/errors.js'
import history from './plugins/history.js'
import hostNames from './plugins/host-names.js'
import httpRules from './plugins/http-rules.js'
import limits from './plugins/limits.js'
import links from './plugins/links.js'
import loopbackOnly from './plugins/loopback-only.js'
import { loggerOptions, type LogOptions } from './plugins/logger.js'
import memory from './plugins/memory.js'
import metrics from './plugins/metrics.js'
import notFound from './plugins/not-found.js'
import openapi from './plugins/openapi.js'
import reload from './plugins/reload.js'
import requestLog, { answerUnreadableUrl, requestId } from './plugins/request-log.js'
import routeScopes, { setRouteScope } from './plugins/route-scopes.js'
import shutdown from './plugins/shutdown.js'
import { answerBrokenRequest } from './plugins/socket-errors.js'
import sourceGuard from './plugins/source-guard.js'
import tracing from './plugins/tracing.js'
import validation from './plugins/validation.js'
import { adminAccessRoutes } from './routes/admin-access.js'
import { adminRoutes } from './routes/admin.js'
import { adminHistoryRoutes } from './routes/admin-history.js'
import { adminStatusRoutes } from './routes/admin-status.js'
import { healthRoutes } from './routes/health.js'
import { homeRoutes } from './routes/home.js'
import { ingestRoutes } from './routes/ingest.js'
import { mcpRoutes } from './routes/mcp.js'
import { metricsRoutes } from './plugins/metrics/route.js'
import { memoryRoutes } from './routes/memory.js'
import { resourceMetadataRoutes } from './routes/resource-metadata.js'

/** Options of the gateway besides its configuration, in its own process and as part of another app. */
export interface GatewayOptions {
  /** Replacements of the clock, the id source and the configured providers. */
  overrides?: MemoryOverrides
  /** Milliseconds between the heartbeats of a silent event stream. Default: HEARTBEAT_MS. */
  heartbeatMs?: number
  /**
   * Reads the configuration again, for POST /v1/admin/reload and `app.reloadConfiguration()`. Without it both fail with
   * 501.
   */
  reloadConfig?: () => Config
}

export interface AppOptions extends GatewayOptions {
  log?: LogOptions
}

/** Options of a gateway that is part of another app. */
export interface EmbeddedOptions {
  /** Authenticates in place of the auth modes. */
  authenticate?: AuthenticateCaller | undefined
  /** Whether a line is logged for each request. */
  accessLog: boolean
}

/** Milliseconds in which the headers of a request must arrive. */
const HEADERS_TIMEOUT_MS = 15_000

/** A bank id has at most 255 characters, each of which may be escaped as three. */
export const MAX_PARAM_LENGTH = 1024

/**
 * Builds the gateway: every plugin in order, then the routes, each in its scope. It does not listen yet.
 * @throws ProviderError when a configured provider is not available
 */
export async function buildApp (
  config: Config, { log = {}, ...options }: AppOptions = {},
): Promise<FastifyInstance> {
  const requestTimeout = config.bounds.request_seconds * 1000
  const app = Fastify({
    logger: loggerOptions(config.logLevel, log),
    // The request-log plugin writes the access log.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    bodyLimit: config.maxBodyBytes,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // The shutdown plugin answers in the contract's format.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A store may have to migrate or recover first, and has time limits of its own.
    pluginTimeout: 0,
    connectionTimeout: config.bounds.stalled_seconds * 1000,
    requestTimeout,
    http: {
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
      // How often Node looks for late requests. Its default, 30 s, would be added to their timeouts.
      connectionsCheckingInterval: 1000,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
    },
    frameworkErrors: answerUnreadableUrl,
    clientErrorHandler: answerBrokenRequest,
  })
  await assemble(app, config, options)
  return app
}

/**
 * Registers every plugin in order, then the routes, each in its scope.
 * @param embedded undefined when the server of `app` is the gateway's own
 */
export async function assemble (
  app: FastifyInstance, config: Config, options: GatewayOptions, embedded?: EmbeddedOptions,
): Promise<void> {
  const { overrides = {}, heartbeatMs = HEARTBEAT_MS, reloadConfig } = options
  const clock = overrides.clock ?? systemClock
  const { settings } = config
  const ownsServer = embedded === undefined
  const version = packageVersion()
  const mode = embedded?.authenticate === undefined ? config.auth.mode : 'host'
  await app.register(errors)
  await app.register(connections)
  await app.register(activeRequests)
  await app.register(requestLog, { accessLog: embedded?.accessLog ?? true })
  await app.register(tracing, { version, url: config.tracesUrl })
  const devHosts = mode === 'dev' ? config.allowedHosts ?? [] : undefined
  await app.register(metrics, { mode, host: config.host, port: config.metricsPort, allowedHosts: devHosts })
  await app.register(history, { clock })
  await app.register(httpRules, { ownsServer })
  if (devHosts !== undefined) await app.register(hostNames, { allowed: devHosts })
  if (mode === 'dev' && !ownsServer && config.allowDevAuth !== true) await app.register(loopbackOnly)
  await app.register(routeScopes)
  if (config.corsOrigins !== undefined) await app.register(cors, { origins: config.corsOrigins })
  await app.register(limits, { bounds: config.bounds, ownsServer })
  await app.register(answerSize)
  await app.register(shutdown)
  await app.register(links)
  await app.register(notFound)
  await app.register(bodies)
  await app.register(validation)
  await app.register(accessControl, { settings: settings.access })
  await app.register(memory, { config, overrides })
  await app.register(reload, { config, hasOwnCallers: mode === 'host', load: reloadConfig })
  await app.register(openapi, { mode, version })
  await app.register(healthRoutes, { timeoutMs: config.healthTimeoutMs, auth: config.auth })
  await app.register(homeRoutes, { version })

  const { mcp } = settings
  const { oidcIssuer } = config.auth
  if (mcp.enabled && mode === 'jwt_oidc' && oidcIssuer !== undefined) {
    await app.register(resourceMetadataRoutes, { issuer: oidcIssuer, publicUrl: mcp.publicUrl })
  }
  // An app that the gateway is part of listens on addresses that the gateway does not know.
  if (settings.console.enabled ?? (ownsServer && isLoopback(config.host))) {
    const { auth: { oidcIssuer: issuer }, adminToken: token } = config
    const { oidc } = settings.console
    await app.register(consolePages, { mode, issuer, oidc, hasAdminToken: token !== undefined, version })
  }

  const sources = new WebhookSources(settings.sources, app.memory, clock, app.bounds)
  await app.register(async (scope) => {
    setRouteScope(scope, 'memory')
    const { authenticate } = embedded ?? {}
    if (authenticate !== undefined) await scope.register(authByApp, { authenticate })
    else {
      const { auth, settings: { onBehalfOf: oboEnabled } } = config
      await scope.register(authPlugin(auth.mode), { auth, oboEnabled, clock })
    }
    await scope.register(bankAccess)
    await scope.register(memoryRoutes, { heartbeatMs })
    if (mcp.enabled) {
      await scope.register(async (inner) => {
        if (mcp.allowedHosts !== undefined) {
          await inner.register(hostNames, { allowed: mcp.allowedHosts, setting: 'mcp.allowed_hosts' })
        }
        await inner.register(mcpRoutes, {
          settings: mcp,
          version,
          hasIdentityProvider: mode === 'jwt_oidc',
          corsOrigins: config.corsOrigins ?? [],
        })
      })
    }
  })
  await app.register(async (scope) => {
    setRouteScope(scope, 'admin')
    await scope.register(adminToken, { token: config.adminToken })
    await scope.register(adminRoutes, { sources })
    await scope.register(adminHistoryRoutes)
    await scope.register(adminStatusRoutes, { config, mode, overrides, clock, version })
    await scope.register(adminAccessRoutes, { mode })
    if (config.metricsPort === undefined) await scope.register(metricsRoutes)
  })
  await app.register(async (scope) => {
    setRouteScope(scope, 'source')
    await scope.register(sourceGuard, { sources })
    await scope.register(ingestRoutes, { sources })
  })
  for (const name of missingVariables(config.auth)) {
    app.log.error(`${name} is not set: every request in ${config.auth.mode} mode is answered with status 500`)
  }
}
