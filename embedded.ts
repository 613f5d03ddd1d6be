import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { assemble, MAX_PARAM_LENGTH, type GatewayOptions } from './app.js'
import type { Config } from './lib/config/config.js'
import { warmUp } from './lib/operations/memory-service.js'
import type { AuthenticateCaller } from './plugins/auth/by-app.js'
import { LOG_RULES } from './plugins/logger.js'

/** How the gateway is registered in another app. */
export interface MemoryGatewayOptions extends GatewayOptions {
  /** The prefix of the path of every route, for instance `/memory`. */
  prefix: string
  /** From `loadConfig`. */
  config: Config
  /**
   * The decorator of the app that holds the memory service. Default `memory`, so that it is `app.memory`. A second
   * gateway of the same app needs another name, or `false` for none.
   */
  decorator?: string | false
  /**
   * Names the caller of a request in place of the auth modes, for an app that authenticates by itself. The auth mode of
   * the configuration must then be `dev`, its default, and is not used.
   */
  authenticate?: AuthenticateCaller
  /** Whether the gateway logs a line for each of its requests, besides those that the app logs. Default false. */
  accessLog?: boolean
}

/**
 * The gateway as a part of another app: all its routes, hooks, checks and errors are below the prefix, and those of the
 * app's own routes stay as they are. Closing the app closes the gateway and its store.
 */
async function memoryGateway (app: FastifyInstance, options: MemoryGatewayOptions): Promise<void> {
  const { prefix, config, decorator = 'memory', authenticate, accessLog = false, ...rest } = options
  refuseWhatCannotWork(app, options)
  const log = app.log.child({ gateway: prefix }, LOG_RULES)
  let memory: FastifyInstance['memory'] | undefined
  await app.register(async (scope) => {
    scope.log = log
    // The configured limit applies here, whatever the app allows on its own routes.
    scope.addHook('onRoute', (route) => { route.bodyLimit ??= config.maxBodyBytes })
    await assemble(scope, config, rest, { authenticate, accessLog })
    memory = scope.memory
  }, { prefix })
  if (decorator !== false) app.decorate(decorator, memory)
  // An app that does not listen, like those of most tests, starts without it.
  app.addHook('onListen', async () => { warmUp() })
  for (const warning of missingFromServer(app)) log.warn(warning)
}

/** @throws Error for settings that would be ignored, or that would reach beyond the prefix */
function refuseWhatCannotWork (
  app: FastifyInstance, { prefix, config, decorator = 'memory', authenticate }: MemoryGatewayOptions,
): void {
  if (typeof prefix !== 'string' || !/^\/?[^/]/.test(prefix) || prefix.endsWith('/')) {
    throw new Error('memory-gateway: prefix must be a path such as "/memory"; buildApp makes a gateway without one')
  }
  if (decorator !== false && app.hasDecorator(decorator)) {
    throw new Error(`memory-gateway: the app has a decorator "${decorator}" already; choose another name with the ` +
      'option decorator')
  }
  if (authenticate !== undefined && config.auth.mode !== 'dev') {
    throw new Error('memory-gateway: authenticate takes the place of SERVICE_AUTH_MODE, which is ' +
      `${config.auth.mode}; give one of them`)
  }
  if (config.corsOrigins !== undefined) {
    throw new Error(
      'memory-gateway: SERVICES_CORS_ORIGINS is for a gateway of its own; register @fastify/cors in the app',
    )
  }
}

/** Sentences on settings that only the app can make for its server, and on the effect of their absence. */
function * missingFromServer ({ initialConfig, server }: FastifyInstance): Iterable<string> {
  const longest = initialConfig.routerOptions?.maxParamLength ?? initialConfig.maxParamLength ?? 0
  if (longest < MAX_PARAM_LENGTH) {
    yield `routerOptions.maxParamLength of the app is ${longest}: paths with longer bank ids are not ` +
      `found; ${MAX_PARAM_LENGTH} is enough for all`
  }
  if (server.requestTimeout === 0) {
    yield 'requestTimeout of the app is not set: a client may take as long as it likes to send a request'
  }
}

export default fp(memoryGateway, { name: 'memory-gateway', fastify: '5.x' })
