import type { AddressInfo } from 'node:net'
import Fastify, { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { AuthMode } from '../lib/config/config.js'
import type { Telemetry } from '../lib/telemetry/telemetry.js'
import { CollectedMetrics } from './metrics/collected-metrics.js'
import { Instruments } from './metrics/instruments.js'
import { listenHost, ListenError } from '../http/listen-error.js'
import { metricsRoutes } from './metrics/route.js'
import connections from './connections.js'
import errors from './errors.js'
import hostNames from './host-names.js'
import httpRules from './http-rules.js'
import notFound from './not-found.js'
import { answerUnreadableUrl, requestId } from './request-log.js'
import routeScopes, { setRouteScope } from './route-scopes.js'
import { answerBrokenRequest } from './socket-errors.js'

const UNKNOWN_ROUTE = 'unknown'

let registry: Registry | undefined

/** The metrics of one gateway. */
interface Metrics {
  telemetry: Telemetry
  /** The registry of the metrics that are read at each scrape. */
  collected: CollectedMetrics
  contentType: string
  /** All metrics in Prometheus's text format. */
  render (): Promise<string>
  /** The URL of the metrics while they are served on a port of their own; else undefined. */
  readonly url: string | undefined
}

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
}

interface MetricsOptions {
  mode: AuthMode | 'host'
  host: string
  /** The port that serves only the metrics. Absent: metrics/route.ts serves them on the gateway's port. */
  port?: number | undefined
  /** The names in Host that this port serves besides loopback ones. Default: all. */
  allowedHosts?: readonly string[] | undefined
}

/** Counts the requests of every route that is watched (plugins/active-requests.ts) and serves all metrics. */
async function metrics (app: FastifyInstance, { mode, host, port, allowedHosts }: MetricsOptions): Promise<void> {
  const instruments = new Instruments(mode)
  const { registry } = instruments
  app.activeRequests.onEnd((request, reply, status) => { observe(request, reply, status, mode, instruments) })
  let url: string | undefined
  app.decorate('metrics', {
    telemetry: instruments,
    collected: new CollectedMetrics(registry),
    contentType: registry.contentType,
    render: async () => `${await registry.metrics()}\n${await processRegistry().metrics()}`,
    get url () { return url },
  })
  app.addHook('onListen', async () => { processRegistry() })
  if (port === undefined) return
  const server = await metricsServer(app, allowedHosts)
  app.addHook('onReady', async () => {
    try {
      await server.listen({ host: listenHost(host), port })
    } catch (error) {
      throw new ListenError('SERVICES_HOST, SERVICES_METRICS_PORT', host, port, error)
    }
    const { address, family, port: own } = server.server.address() as AddressInfo
    url = `http://${family === 'IPv6' ? `[${address}]` : address}:${own}/metrics`
    app.log.info(`Metrics are served at ${url}`)
  })
  app.addHook('onClose', async () => { await server.close() })
}

/** Its connections take descriptors that the gateway's own port needs, and Prometheus uses one. */
const MAX_CONNECTIONS = 32
/** Milliseconds without a byte sent or read after which a connection is closed, and for a whole request. */
const IDLE_TIMEOUT_MS = 10_000

/** A server for GET /metrics only. Anyone who reaches its port may ask. */
async function metricsServer (
  { log, metrics }: FastifyInstance, allowedHosts: readonly string[] | undefined,
): Promise<FastifyInstance> {
  const server = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    connectionTimeout: IDLE_TIMEOUT_MS,
    requestTimeout: IDLE_TIMEOUT_MS,
    // A slow scraper does not delay the stop.
    forceCloseConnections: true,
    http: { headersTimeout: IDLE_TIMEOUT_MS, connectionsCheckingInterval: 1000, requireHostHeader: false },
    frameworkErrors: answerUnreadableUrl,
    clientErrorHandler: answerBrokenRequest,
  })
  server.server.maxConnections = MAX_CONNECTIONS
  await server.register(errors)
  await server.register(connections)
  await server.register(httpRules, { ownsServer: true })
  // A scrape needs no rights, so without the list every name is served.
  if (allowedHosts !== undefined) await server.register(hostNames, { allowed: allowedHosts })
  await server.register(routeScopes)
  await server.register(notFound)
  server.decorate('metrics', metrics)
  server.addHook('onRequest', async ({ id }, reply) => { reply.header('x-request-id', id) })
  await server.register(async (scope) => {
    setRouteScope(scope, 'admin')
    await scope.register(metricsRoutes)
  })
  return server
}

/**
 * The registry of CPU, memory, garbage collection and the delay of the event loop since the last scrape
 * (`nodejs_eventloop_lag_*`). These belong to the process, which may hold several gateways, and their observers cannot
 * be stopped, so the registry is created once, at the first call.
 */
function processRegistry (): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}

function observe (
  request: FastifyRequest, { elapsedTime }: FastifyReply, status: number, mode: AuthMode | 'host',
  instruments: Instruments,
): void {
  const { url = UNKNOWN_ROUTE, config } = request.routeOptions
  instruments.request(request.method, url, status, elapsedTime / 1000)
  if (config.scope === 'memory' && request.authFailed) instruments.authFailed(mode, status)
  else if (config.scope === 'admin' && status === 401) instruments.authFailed('admin_token', status)
  else if (config.scope === 'source' && status === 401) instruments.authFailed('source_signature', status)
}

export default fp(metrics, { name: 'metrics', fastify: '5.x', dependencies: ['active-requests'] })
