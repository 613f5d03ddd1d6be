import { CircuitBreaker, type BreakerOptions, type BreakerOutcome } from '../../concurrency/circuit-breaker.js'
import { KeyedCircuitBreakers } from '../../concurrency/keyed-circuit-breakers.js'
import type { ModelStatus } from '../status.js'
import { ModelCallError } from './model-call-error.js'

/** Reports the end of an attempt: without an error when it was answered, `abandoned` when it was cancelled. */
export type ReportAttempt = (end: { error?: unknown, abandoned?: boolean }) => void

/** Failures without a call of the endpoint. */
const NOT_SENT: ReadonlySet<string> = new Set(['overloaded', 'circuit_open'])

/**
 * The circuit breakers of a model and of each tenant, so that one tenant's bad requests do not block the others.
 */
export class ModelCircuitBreakers {
  readonly #service: string
  readonly #threshold: number
  readonly #model: CircuitBreaker
  readonly #tenants: KeyedCircuitBreakers

  constructor (service: string, options: BreakerOptions, timer: () => number) {
    this.#service = service
    this.#threshold = options.threshold
    this.#model = new CircuitBreaker(options, timer)
    this.#tenants = new KeyedCircuitBreakers(options, timer)
  }

  get status (): NonNullable<ModelStatus['breaker']> {
    return { state: this.#model.state, tenantsOpen: this.#tenants.notClosed }
  }

  /** @throws ModelCallError circuit_open, when a call would be refused now */
  check (tenantId: string | undefined): void {
    if (this.#model.waitMs > 0) throw this.#refusal(this.#model.waitMs)
    const waitMs = tenantId === undefined ? 0 : this.#tenants.waitMs(tenantId)
    if (waitMs > 0) throw this.#tenantRefusal(waitMs)
  }

  /** Allows an attempt. @throws ModelCallError circuit_open */
  tryAcquire (tenantId: string | undefined): ReportAttempt {
    const endedForModel = this.#model.tryAcquire()
    if (endedForModel === undefined) throw this.#refusal(this.#model.waitMs)
    const endedForTenant = tenantId === undefined ? undefined : this.#tenants.tryAcquire(tenantId)
    if (tenantId !== undefined && endedForTenant === undefined) {
      endedForModel('ignored')
      throw this.#tenantRefusal(this.#tenants.waitMs(tenantId))
    }
    return ({ error, abandoned = false }) => {
      const outcome = abandoned ? 'ignored' : outcomeOf(error)
      endedForTenant?.(outcome)
      // An unusable answer may be the fault of what this tenant asked for, and it shows that the endpoint is up.
      const isTenants = endedForTenant !== undefined && error instanceof ModelCallError && error.kind === 'unusable'
      endedForModel(isTenants && outcome === 'failure' ? 'success' : outcome)
    }
  }

  #refusal (retryAfterMs: number): ModelCallError {
    const message = `The ${this.#service} failed ${this.#threshold} times in a row and is not asked for a while`
    return new ModelCallError('circuit_open', message, { retryAfterMs: Math.ceil(retryAfterMs) })
  }

  #tenantRefusal (retryAfterMs: number): ModelCallError {
    const message = `The ${this.#service} failed ${this.#threshold} times in a row for this tenant and is not asked ` +
      'by it for a while'
    return new ModelCallError('circuit_open', message, { retryAfterMs: Math.ceil(retryAfterMs) })
  }
}

/** An error other than ModelCallError is a failure; a model of an operator's own class may throw any. */
function outcomeOf (error: unknown): BreakerOutcome {
  if (error === undefined) return 'success'
  if (!(error instanceof ModelCallError)) return 'failure'
  if (error.cutShort === true || NOT_SENT.has(error.kind)) return 'ignored'
  return error.isFault ? 'failure' : 'success'
}
