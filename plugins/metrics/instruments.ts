import { Counter, Histogram, Registry } from 'prom-client'
import type { AuthMode } from '../../lib/config/config.js'
import type { ModelCallRecord, Telemetry } from '../../lib/telemetry/telemetry.js'
import { PREFIX } from './collected-metrics.js'

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
export class Instruments implements Telemetry {
  readonly registry = new Registry()
  readonly #requests: Histogram<'method' | 'route' | 'status'>
  readonly #stages: Histogram<'stage'>
  readonly #calls: Counter<typeof MODEL_LABELS[number] | 'outcome'>
  readonly #callDurations: Histogram<typeof MODEL_LABELS[number]>
  readonly #tokens: Counter<typeof MODEL_LABELS[number] | 'direction'>
  readonly #cost: Counter<typeof MODEL_LABELS[number]>
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
    this.#denied = counter('access_denied_total', 'Operations that access control refused.')
    this.#limited = counter('rate_limited_total', 'Operations that a rate limit or a quota refused.', ['kind'])
    this.#authFailures = counter(
      'auth_failures_total', 'Requests that failed authentication, by auth mode or guard and by status.',
      ['mode', 'status'],
    )
    // The rate of a counter misses its first event unless the counter begins at zero.
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
}
