import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { AuthMode } from '../lib/config/config.js'
import type { Telemetry } from '../lib/telemetry/telemetry.js'
import { CollectedMetrics } from './metrics/collected-metrics.js'
import { Instruments } from './metrics/instruments.js'
import { MetricsServer } from './metrics/metrics-server.js'

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
  /** The port that serves only the metrics. Absent: routes/metrics.ts serves them on the gateway's port. */
  port?: number | undefined
  /** The names in Host that this port serves besides loopback ones. Default: all. */
  allowedHosts?: readonly string[] | undefined
}

/** Counts the requests of every route that is watched (plugins/active-requests.ts) and serves all metrics. */
async function metrics (app: FastifyInstance, { mode, host, port, allowedHosts }: MetricsOptions): Promise<void> {
  const instruments = new Instruments(mode)
  const { registry } = instruments
  app.activeRequests.onEnd((request, reply, status) => { observe(request, reply, status, mode, instruments) })
  const render = async () => `${await instruments.render()}\n${await processRegistry().metrics()}`
  let server: MetricsServer | undefined
  app.decorate('metrics', {
    telemetry: instruments,
    collected: new CollectedMetrics(registry),
    contentType: registry.contentType,
    render,
    get url () { return server?.url },
  })
  app.addHook('onListen', async () => { processRegistry() })
  if (port === undefined) return
  app.addHook('onReady', async () => {
    server = await MetricsServer.listen({
      host,
      port,
      allowedHosts,
      contentType: registry.contentType,
      render,
      onFailure: (err, id) => {
        app.log.error({ err, request_id: id, code: 'internal_error' }, 'request failed')
      },
    })
    app.log.info(`Metrics are served at ${server.url}`)
  })
  app.addHook('onClose', async () => { await server?.close() })
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
