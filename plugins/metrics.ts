import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { AuthMode } from '../lib/config/schema.js'
import type { MemoryStatus } from '../lib/memory/status.js'
import type { Telemetry } from '../lib/telemetry/telemetry.js'
import { Instruments } from './metrics/instruments.js'
import { MetricsServer } from './metrics/own-port.js'
import { processRegistry } from './metrics/process.js'
import { Standing } from './metrics/standing.js'

/** What a client that leaves before its answer would be told: the status that nginx logs for it. */
const CLIENT_LEFT = 499
const UNKNOWN_ROUTE = 'unknown'

/** The numbers of one gateway. */
export interface Metrics {
  telemetry: Telemetry
  contentType: string
  /** All of them in Prometheus's text format. */
  render (): Promise<string>
  /** Where they are served on a port of their own, once that is listened on. */
  readonly url: string | undefined
}

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
}

export interface MetricsOptions {
  mode: AuthMode
  host: string
  /** Serves them on a port of their own; absent: `metricsRoute` does on the gateway's. */
  port?: number
}

/** Counts the requests of every route that is watched (plugins/exchanges.ts). */
async function metrics (app: FastifyInstance, { mode, host, port }: MetricsOptions): Promise<void> {
  const instruments = new Instruments(mode)
  const standing = new Standing(instruments.registry)
  app.exchanges.onEnd((request, reply, answered) => { note(request, reply, answered ? reply.statusCode : CLIENT_LEFT, mode, instruments) })
  const render = async () => {
    standing.set(app.exchanges.size, statusOf(app))
    return `${await instruments.render()}\n${await processRegistry().metrics()}`
  }
  let server: MetricsServer | undefined
  app.decorate('metrics', { telemetry: instruments, contentType: instruments.registry.contentType, render, get url () { return server?.url } })
  app.addHook('onListen', async () => { processRegistry() })
  if (port === undefined) return
  app.addHook('onReady', async () => {
    server = await MetricsServer.listen({ host, port, contentType: instruments.registry.contentType, render })
    app.log.info(`Metrics are served at ${server.url}`)
  })
  app.addHook('onClose', async () => { await server?.close() })
}

function note (request: FastifyRequest, { elapsedTime }: FastifyReply, status: number, mode: AuthMode, instruments: Instruments): void {
  const { url = UNKNOWN_ROUTE, config } = request.routeOptions
  instruments.request(request.method, url, status, elapsedTime / 1000)
  if (config.scope === 'memory' && request.authFailed) instruments.authFailed(mode, status)
  else if (config.scope === 'admin' && status === 401) instruments.authFailed('admin_token', status)
  else if (config.scope === 'source' && status === 401) instruments.authFailed('source_signature', status)
}

/** Undefined while there is no memory service, and when it cannot say. */
function statusOf (app: FastifyInstance): MemoryStatus | undefined {
  try {
    return app.memory.status()
  } catch {
    return undefined
  }
}

/** GET /metrics of the gateway's own port. Its scope is that of the instance in which it is registered. */
export async function metricsRoute (app: FastifyInstance): Promise<void> {
  app.get('/metrics', { config: { scope: 'admin', accessLog: 'debug', probe: true }, schema: { hide: true } }, async (_request, reply) => await reply
    .type(app.metrics.contentType)
    .send(await app.metrics.render()))
}

export default fp(metrics, { name: 'metrics', fastify: '5.x', dependencies: ['exchanges'], decorators: { fastify: ['exchanges'] } })
