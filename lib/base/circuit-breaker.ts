import { LRUCache } from 'lru-cache'

export interface BreakerOptions {
  /** Failures in a row that open the circuit. */
  threshold: number
  /** Milliseconds that it stays open before trials are made. */
  recoveryMs: number
  /** Trials under way at a time. Default 1. */
  halfOpenCalls?: number
}

export type BreakerState = 'closed' | 'open' | 'half_open'

/** How a call ended; `ignored` when it was aborted before it showed whether the other side works. */
export type BreakerOutcome = 'success' | 'failure' | 'ignored'

/** Reports how a call ended; only the first report counts. */
export type ReportOutcome = (outcome: BreakerOutcome) => void

/** The wait reported to a caller while all trials are in progress: most of them have ended by then. */
const TRIAL_WAIT_MS = 1000

/**
 * The circuit breaker pattern (Nygard, Release It!, 2007): closed → open after failures in a row → half-open once the
 * recovery time is over, with a few trials at a time. One trial that succeeds closes it, one that fails opens it again,
 * and one that is ignored makes room for another. It is our own because cockatiel's allows one trial only, counts a
 * trial whose caller left as a success, and reads the system's clock.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions
  readonly #timer: () => number
  #state: BreakerState = 'closed'
  #failures = 0
  #openedAt = 0
  #trials = 0
  /** Grows with each change of the state: the outcome of a call that began in an earlier one does not count. */
  #generation = 0

  /** @param timer milliseconds of a monotonic clock */
  constructor (options: BreakerOptions, timer: () => number) {
    this.#options = options
    this.#timer = timer
  }

  /** `half_open` as soon as a trial may be made. */
  get state (): BreakerState {
    if (this.#state === 'open' && this.#timer() - this.#openedAt >= this.#options.recoveryMs) {
      this.#transitionTo('half_open')
    }
    return this.#state
  }

  /** Whether it is in the state of a new one, so that forgetting it loses nothing. */
  get isInitial (): boolean {
    return this.state === 'closed' && this.#failures === 0
  }

  /** Milliseconds until a call may be made; 0: now. */
  get waitMs (): number {
    const { halfOpenCalls = 1, recoveryMs } = this.#options
    if (this.state === 'closed') return 0
    if (this.#state === 'open') return this.#openedAt + recoveryMs - this.#timer()
    return this.#trials < halfOpenCalls ? 0 : Math.min(TRIAL_WAIT_MS, recoveryMs)
  }

  /** @returns a function to call with the outcome when the call has ended; undefined: the call must not be made */
  tryAcquire (): ReportOutcome | undefined {
    if (this.waitMs > 0) return undefined
    const isTrial = this.#state === 'half_open'
    const generation = this.#generation
    let ended = false
    if (isTrial) this.#trials++
    return (outcome) => {
      if (ended || generation !== this.#generation) return
      ended = true
      if (isTrial) this.#trials--
      if (outcome === 'failure') this.#fail()
      else if (outcome === 'success') this.#succeed()
    }
  }

  #succeed (): void {
    this.#failures = 0
    if (this.#state !== 'closed') this.#transitionTo('closed')
  }

  #fail (): void {
    this.#failures++
    if (this.#state === 'closed' && this.#failures < this.#options.threshold) return
    this.#openedAt = this.#timer()
    this.#transitionTo('open')
  }

  #transitionTo (state: BreakerState): void {
    this.#state = state
    this.#generation++
    this.#trials = 0
  }
}

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
