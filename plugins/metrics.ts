import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import { ListenError, listenHost } from '../http/listen-error.js'
import type { AuthMode } from '../lib/config/config.js'
import {
  EXTRACTION_OUTCOMES, type ExtractionOutcome, type ModelCallRecord, type Telemetry,
} from '../lib/base/telemetry.js'
import connections from './connections.js'
import errors from './errors.js'
import hostNames from './host-names.js'
import httpRules from './http-rules.js'
import { CollectedMetrics, PREFIX } from './metrics/collected-metrics.js'
import { metricsRoutes } from './metrics/route.js'
import notFound from './not-found.js'
import { answerUnreadableUrl, requestId } from './request-log.js'
import routeScopes, { setRouteScope } from './route-scopes.js'
import { answerBrokenRequest } from './socket-errors.js'

/** Upper bounds in seconds, from a response out of memory to one that waits for a slow model. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const STAGE_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const MODEL_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

const MODEL_LABELS = ['kind', 'provider', 'model', 'purpose'] as const

/** What authenticates a request; `host` is the app that the gateway is part of. */
type Guard = AuthMode | 'host' | 'admin_token' | 'source_signature'

/**
 * The metrics that are updated by events. Labels have few values, which come from the code and the configuration; none
 * holds a bank, a tenant or a principal.
 */
class Instruments implements Telemetry {
  readonly registry = new Registry()
  readonly #requests: Histogram<'method' | 'route' | 'status'>
  readonly #stages: Histogram<'stage'>
  readonly #calls: Counter<typeof MODEL_LABELS[number] | 'outcome'>
  readonly #callDurations: Histogram<typeof MODEL_LABELS[number]>
  readonly #tokens: Counter<typeof MODEL_LABELS[number] | 'direction'>
  readonly #cost: Counter<typeof MODEL_LABELS[number]>
  readonly #extracted: Counter<'outcome'>
  readonly #denied: Counter
  readonly #limited: Counter<'kind'>
  readonly #authFailures: Counter<'mode' | 'status'>

  /** @param mode the auth mode of the gateway */
  constructor (mode: AuthMode | 'host') {
    const registers = [this.registry]
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => (
      new Counter({ name: `${PREFIX}${name}`, help, labelNames, registers })
    )
    this.#requests = new Histogram({
      name: `${PREFIX}http_request_duration_seconds`,
      help: 'Duration of requests until the response is sent, without liveness probes. Status 499: the client ' +
        'disconnected before.',
      labelNames: ['method', 'route', 'status'],
      buckets: REQUEST_BUCKETS,
      registers,
    })
    this.#stages = new Histogram({
      name: `${PREFIX}recall_stage_duration_seconds`,
      help: 'Stages of recalls, including those of reflect and explain.',
      labelNames: ['stage'],
      buckets: STAGE_BUCKETS,
      registers,
    })
    this.#calls = counter(
      'model_calls_total', 'Calls to models by outcome; a call with its retries counts once.',
      [...MODEL_LABELS, 'outcome'],
    )
    this.#callDurations = new Histogram({
      name: `${PREFIX}model_call_duration_seconds`,
      help: 'Duration of calls to models, including waiting and retries.',
      labelNames: MODEL_LABELS,
      buckets: MODEL_BUCKETS,
      registers,
    })
    this.#tokens = counter(
      'model_tokens_total', 'Tokens of calls to models, as the models count them.', [...MODEL_LABELS, 'direction'],
    )
    this.#cost = counter(
      'model_cost_total', 'Cost of calls to models in the currency of the price table.', MODEL_LABELS,
    )
    this.#extracted = counter(
      'extraction_memories_total', 'Memories that the language model was given to derive facts from, by outcome.',
      ['outcome'],
    )
    this.#denied = counter('access_denied_total', 'Operations that access control refused.')
    this.#limited = counter('rate_limited_total', 'Operations that a rate limit or a quota refused.', ['kind'])
    this.#authFailures = counter(
      'auth_failures_total', 'Requests that failed authentication, by auth mode or guard and by status.',
      ['mode', 'status'],
    )
    // The rate of a counter misses its first event unless the counter begins at zero.
    for (const outcome of EXTRACTION_OUTCOMES) this.#extracted.inc({ outcome }, 0)
    for (const kind of ['rate_limited', 'quota_exceeded']) this.#limited.inc({ kind }, 0)
    for (const guard of [mode, 'admin_token', 'source_signature']) {
      this.#authFailures.inc({ mode: guard, status: 401 }, 0)
    }
  }

  /** @param route the pattern: `/v1/banks/:bank_id`; never the URL */
  request (method: string, route: string, status: number, seconds: number): void {
    this.#requests.observe({ method, route, status }, seconds)
  }

  authFailed (mode: Guard, status: number): void {
    this.#authFailures.inc({ mode, status })
  }

  stage (stage: string, durationMs: number): void {
    this.#stages.observe({ stage }, durationMs / 1000)
  }

  modelCall (record: ModelCallRecord): void {
    const { kind, provider, model, purpose, outcome, durationMs, inputTokens, outputTokens, cost } = record
    const labels = { kind, provider, model, purpose }
    this.#calls.inc({ ...labels, outcome })
    this.#callDurations.observe(labels, durationMs / 1000)
    if (inputTokens !== undefined) this.#tokens.inc({ ...labels, direction: 'input' }, inputTokens)
    if (outputTokens !== undefined) this.#tokens.inc({ ...labels, direction: 'output' }, outputTokens)
    if (cost !== undefined) this.#cost.inc(labels, cost)
  }

  refused (kind: 'access' | 'rate_limited' | 'quota_exceeded'): void {
    if (kind === 'access') this.#denied.inc()
    else this.#limited.inc({ kind })
  }

  extracted (outcome: ExtractionOutcome, memories: number): void {
    this.#extracted.inc({ outcome }, memories)
  }
}

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
