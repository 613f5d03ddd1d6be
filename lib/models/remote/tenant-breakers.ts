import { LRUCache } from 'lru-cache'
import { CircuitBreaker, type BreakerOptions, type Settle } from './circuit-breaker.js'

/** Tenants with faults that are remembered at most; beyond it the one that was not heard of for longest is forgotten. */
const MAX_TENANTS = 10_000

interface Entry {
  breaker: CircuitBreaker
  /** Calls under way: while there are any, what they find out must come to this breaker. */
  underWay: number
}

/** A breaker for each tenant. Kept are those that are in use or have faults; a tenant without trouble costs nothing. */
export class TenantBreakers {
  readonly #options: BreakerOptions
  readonly #timer: () => number
  readonly #entries: LRUCache<string, Entry>

  constructor (options: BreakerOptions, timer: () => number, maxTenants = MAX_TENANTS) {
    this.#options = options
    this.#timer = timer
    this.#entries = new LRUCache({ max: maxTenants })
  }

  /** Tenants that are remembered. */
  get size (): number {
    return this.#entries.size
  }

  /** Tenants whose circuit is not closed. */
  get notClosed (): number {
    return [...this.#entries.values()].filter(({ breaker }) => breaker.state !== 'closed').length
  }

  /** Milliseconds until the tenant may call; 0: now. */
  waitMs (tenantId: string): number {
    return this.#entries.get(tenantId)?.breaker.waitMs ?? 0
  }

  /** As CircuitBreaker.enter(). */
  enter (tenantId: string): Settle | undefined {
    const entry = this.#entries.get(tenantId) ?? { breaker: new CircuitBreaker(this.#options, this.#timer), underWay: 0 }
    const settle = entry.breaker.enter()
    if (settle === undefined) return undefined
    entry.underWay++
    this.#entries.set(tenantId, entry)
    let left = false
    return (verdict) => {
      settle(verdict)
      if (left) return
      left = true
      entry.underWay--
      if (entry.underWay === 0 && entry.breaker.isSpotless && this.#entries.peek(tenantId) === entry) this.#entries.delete(tenantId)
    }
  }
}
