import type { ModelStatus } from '../status.js'
import { CircuitBreaker, type BreakerOptions, type Verdict } from './circuit-breaker.js'
import { ModelCallError } from './model-call-error.js'
import { TenantBreakers } from './tenant-breakers.js'

/** Tells how an attempt ended: no error when it was answered, `leaving` when it was given up before it could tell. */
export type SettleAttempt = (end: { error?: unknown, leaving?: boolean }) => void

/** Of these the endpoint itself said nothing. */
const UNASKED: ReadonlySet<string> = new Set(['overloaded', 'circuit_open'])

/** The circuit of a provider and, within it, that of each tenant: one tenant's bad requests do not take the model from the others. */
export class Circuits {
  readonly #what: string
  readonly #threshold: number
  readonly #own: CircuitBreaker
  readonly #tenants: TenantBreakers

  constructor (what: string, options: BreakerOptions, timer: () => number) {
    this.#what = what
    this.#threshold = options.threshold
    this.#own = new CircuitBreaker(options, timer)
    this.#tenants = new TenantBreakers(options, timer)
  }

  get status (): NonNullable<ModelStatus['breaker']> {
    return { state: this.#own.state, tenantsOpen: this.#tenants.notClosed }
  }

  /** @throws ModelCallError circuit_open, when a call would be refused now */
  check (tenantId: string | undefined): void {
    if (this.#own.waitMs > 0) throw this.#refusal(this.#own.waitMs)
    const waitMs = tenantId === undefined ? 0 : this.#tenants.waitMs(tenantId)
    if (waitMs > 0) throw this.#tenantRefusal(waitMs)
  }

  /** Begins an attempt. @throws ModelCallError circuit_open */
  enter (tenantId: string | undefined): SettleAttempt {
    const own = this.#own.enter()
    if (own === undefined) throw this.#refusal(this.#own.waitMs)
    const tenants = tenantId === undefined ? undefined : this.#tenants.enter(tenantId)
    if (tenantId !== undefined && tenants === undefined) {
      own('nothing')
      throw this.#tenantRefusal(this.#tenants.waitMs(tenantId))
    }
    return ({ error, leaving = false }) => {
      const verdict = leaving ? 'nothing' : verdictOn(error)
      tenants?.(verdict)
      // An unusable answer may be the fault of what this tenant asked for, and it shows that the endpoint is up.
      own(tenants !== undefined && verdict === 'fault' && error instanceof ModelCallError && error.kind === 'unusable' ? 'good' : verdict)
    }
  }

  #refusal (retryAfterMs: number): ModelCallError {
    return new ModelCallError('circuit_open', `The ${this.#what} failed ${this.#threshold} times in a row and is not asked for a while`, { retryAfterMs: Math.ceil(retryAfterMs) })
  }

  #tenantRefusal (retryAfterMs: number): ModelCallError {
    return new ModelCallError('circuit_open', `The ${this.#what} failed ${this.#threshold} times in a row for this tenant and is not asked by it for a while`, { retryAfterMs: Math.ceil(retryAfterMs) })
  }
}

/** What no ModelCallError tells of is a fault: a model that somebody else wrote throws what it likes. */
function verdictOn (error: unknown): Verdict {
  if (error === undefined) return 'good'
  if (!(error instanceof ModelCallError)) return 'fault'
  if (error.cutShort === true || UNASKED.has(error.kind)) return 'nothing'
  return error.isFault ? 'fault' : 'good'
}
