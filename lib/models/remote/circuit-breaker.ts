export interface BreakerOptions {
  /** Faults in a row that open the circuit. */
  threshold: number
  /** Milliseconds that it stays open before trials are made. */
  recoveryMs: number
  /** Trials under way at a time. Default 1. */
  halfOpenCalls?: number
}

export type BreakerState = 'closed' | 'open' | 'half_open'

/** What the end of a call says about who was asked; `nothing` when the call was given up before it could tell. */
export type Verdict = 'good' | 'fault' | 'nothing'

/** Tells how a call ended; only the first word counts. */
export type Settle = (verdict: Verdict) => void

/** Trials are decided soon: when one comes back after so long, there is mostly room or an answer. */
const TRIAL_WAIT_MS = 1000

/**
 * The circuit breaker pattern (Nygard, Release It!, 2007): closed → open after faults in a row → half-open once the recovery time is
 * over, with a few trials at a time. One good trial closes it, a fault opens it again, and a trial that tells nothing gives its place
 * to another. Cockatiel's knows one trial only and no injected timer.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions
  readonly #timer: () => number
  #state: BreakerState = 'closed'
  #faults = 0
  #openedAt = 0
  #trials = 0
  /** Grows with each change of the state: a call that began in an earlier one has no say in it. */
  #era = 0

  /** @param timer milliseconds of a clock that only rises */
  constructor (options: BreakerOptions, timer: () => number) {
    this.#options = options
    this.#timer = timer
  }

  /** `half_open` from the moment on in which a trial may be made. */
  get state (): BreakerState {
    if (this.#state === 'open' && this.#timer() - this.#openedAt >= this.#options.recoveryMs) this.#become('half_open')
    return this.#state
  }

  /** Whether it is as good as new, so that forgetting it loses nothing. */
  get isSpotless (): boolean {
    return this.state === 'closed' && this.#faults === 0
  }

  /** Milliseconds until a call may be made; 0: now. */
  get waitMs (): number {
    const { halfOpenCalls = 1, recoveryMs } = this.#options
    if (this.state === 'closed') return 0
    if (this.#state === 'open') return this.#openedAt + recoveryMs - this.#timer()
    return this.#trials < halfOpenCalls ? 0 : Math.min(TRIAL_WAIT_MS, recoveryMs)
  }

  /** Begins a call. @returns what has to be told its end; undefined: the call must not be made */
  enter (): Settle | undefined {
    if (this.waitMs > 0) return undefined
    const isTrial = this.#state === 'half_open'
    const era = this.#era
    let settled = false
    if (isTrial) this.#trials++
    return (verdict) => {
      if (settled || era !== this.#era) return
      settled = true
      if (isTrial) this.#trials--
      if (verdict === 'fault') this.#fault()
      else if (verdict === 'good') this.#good()
    }
  }

  #good (): void {
    this.#faults = 0
    if (this.#state !== 'closed') this.#become('closed')
  }

  #fault (): void {
    this.#faults++
    if (this.#state === 'closed' && this.#faults < this.#options.threshold) return
    this.#openedAt = this.#timer()
    this.#become('open')
  }

  #become (state: BreakerState): void {
    this.#state = state
    this.#era++
    this.#trials = 0
  }
}
