import { Counter, Histogram, Registry } from 'prom-client'
import type { ModelCallRecord, Telemetry } from '../../lib/telemetry.js'

/** What stands before every name but those of the process itself. */
export const PREFIX = 'memory_gateway_'

/** From an answer out of memory to a model that takes its time, in seconds. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const STAGE_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const MODEL_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

const MODEL_LABELS = ['kind', 'provider', 'model', 'purpose'] as const

export interface HttpExchange {
  method: string
  /** The pattern: `/v1/banks/:bank_id`; never the URL. */
  route: string
  status: number
  seconds: number
}

/**
 * What happens, counted as it happens. Labels have few values: words of the code, and what the configuration names. None holds a
 * bank, a tenant or a principal.
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

  constructor () {
    const registers = [this.registry]
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => new Counter({ name: `${PREFIX}${name}`, help, labelNames, registers })
    const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) => new Histogram({ name: `${PREFIX}${name}`, help, labelNames, buckets, registers })
    this.#requests = histogram('http_request_duration_seconds', 'Requests by method, route pattern and status, until the answer was sent; status 499: the client left before.', ['method', 'route', 'status'], REQUEST_BUCKETS)
    this.#stages = histogram('recall_stage_duration_seconds', 'Stages of recalls, those of reflect and explain too.', ['stage'], STAGE_BUCKETS)
    this.#calls = counter('model_calls_total', 'Calls to models, retries within one counted once, and what became of them.', [...MODEL_LABELS, 'outcome'])
    this.#callDurations = histogram('model_call_duration_seconds', 'The same calls, waiting and retries included.', MODEL_LABELS, MODEL_BUCKETS)
    this.#tokens = counter('model_tokens_total', 'Tokens of these calls, as the models count them.', [...MODEL_LABELS, 'direction'])
    this.#cost = counter('model_cost_total', 'Cost of these calls in the currency of the price table.', MODEL_LABELS)
    this.#denied = counter('access_denied_total', 'Operations that access control refused.')
    this.#limited = counter('rate_limited_total', 'Operations that a rate limit or a quota refused.', ['kind'])
    this.#authFailures = counter('auth_failures_total', 'Requests that were refused before anything of them was looked at, by what guards them and by status.', ['mode', 'status'])
    // A rate needs the zero that was before the first.
    for (const kind of ['rate_limited', 'quota_exceeded']) this.#limited.inc({ kind }, 0)
  }

  request ({ seconds, ...labels }: HttpExchange): void {
    this.#requests.observe(labels, seconds)
  }

  /** @param mode the auth mode, `admin_token` or `source_signature` */
  authFailed (mode: string, status: number): void {
    this.#authFailures.inc({ mode, status })
  }

  stage (stage: string, durationMs: number): void {
    this.#stages.observe({ stage }, durationMs / 1000)
  }

  modelCall ({ kind, provider, model, purpose, outcome, durationMs, inputTokens, outputTokens, cost }: ModelCallRecord): void {
    const labels = { kind, provider, model, purpose }
    this.#calls.inc({ ...labels, outcome })
    this.#callDurations.observe(labels, durationMs / 1000)
    if (inputTokens !== undefined) this.#tokens.inc({ ...labels, direction: 'input' }, inputTokens)
    if (outputTokens !== undefined) this.#tokens.inc({ ...labels, direction: 'output' }, outputTokens)
    if (cost !== undefined) this.#cost.inc(labels, cost)
  }

  refused (what: 'access' | 'rate_limited' | 'quota_exceeded'): void {
    if (what === 'access') this.#denied.inc()
    else this.#limited.inc({ kind: what })
  }
}
