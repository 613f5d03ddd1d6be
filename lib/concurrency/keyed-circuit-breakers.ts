import { LRUCache } from 'lru-cache'
import { CircuitBreaker, type BreakerOptions, type ReportOutcome } from './circuit-breaker.js'

/**
 * The most keys that are remembered; beyond that the least recently used one is evicted, even if it has calls under
 * way.
 */
const MAX_KEYS = 10_000

interface Entry {
  breaker: CircuitBreaker
  /** Calls under way. While there are any, the entry is not deleted, because their outcomes belong to this breaker. */
  activeCalls: number
}

/**
 * A circuit breaker for each key. Only keys with calls under way or with failures are kept.
 */
export class KeyedCircuitBreakers {
  readonly #options: BreakerOptions
  readonly #timer: () => number
  readonly #entries: LRUCache<string, Entry>

  constructor (options: BreakerOptions, timer: () => number, maxKeys = MAX_KEYS) {
    this.#options = options
    this.#timer = timer
    this.#entries = new LRUCache({ max: maxKeys })
  }

  /** Keys that are remembered. */
  get size (): number {
    return this.#entries.size
  }

  /** Keys whose circuit is not closed. */
  get notClosed (): number {
    return [...this.#entries.values()].filter(({ breaker }) => breaker.state !== 'closed').length
  }

  /** Milliseconds until a call with the key may be made; 0: now. */
  waitMs (key: string): number {
    return this.#entries.get(key)?.breaker.waitMs ?? 0
  }

  /** As CircuitBreaker.tryAcquire(). */
  tryAcquire (key: string): ReportOutcome | undefined {
    const entry = this.#entries.get(key) ?? { breaker: new CircuitBreaker(this.#options, this.#timer), activeCalls: 0 }
    const callEnded = entry.breaker.tryAcquire()
    if (callEnded === undefined) return undefined
    entry.activeCalls++
    this.#entries.set(key, entry)
    let hasEnded = false
    return (outcome) => {
      callEnded(outcome)
      if (hasEnded) return
      hasEnded = true
      entry.activeCalls--
      if (entry.activeCalls === 0 && entry.breaker.isInitial && this.#entries.peek(key) === entry) {
        this.#entries.delete(key)
      }
    }
  }
}
