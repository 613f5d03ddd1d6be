export interface BreakerOptions {
  /** Failures in a row that open the circuit. */
  threshold: number
  /** Milliseconds that it stays open before trials are made. */
  recoveryMs: number
  /** Trials under way at a time. Default 1. */
  halfOpenCalls?: number
}

export type BreakerState = 'closed' | 'open' | 'half_open'

/** What the end of a call says about who was asked; `ignored` when the call was given up before it could tell. */
export type CallOutcome = 'success' | 'failure' | 'ignored'

/** Tells how a call ended; only the first word counts. */
export type CallEnded = (outcome: CallOutcome) => void

/** Trials are decided soon: when one comes back after so long, there is mostly room or an answer. */
const TRIAL_WAIT_MS = 1000

/**
 * The circuit breaker pattern (Nygard, Release It!, 2007): closed → open after failures in a row → half-open once the
 * recovery time is over, with a few trials at a time. One trial that succeeds closes it, one that fails opens it again,
 * and one that is ignored gives its place to another. It is our own because cockatiel's knows one trial only, takes a
 * trial whose caller left for a success, and reads the system's clock (docs/decisions/waiting.md).
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions
  readonly #timer: () => number
  #state: BreakerState = 'closed'
  #failures = 0
  #openedAt = 0
  #trials = 0
  /** Grows with each change of the state: a call that began in an earlier one has no say in it. */
  #generation = 0

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

  /** Allows a call. @returns what has to be told its end; undefined: the call must not be made */
  allow (): CallEnded | undefined {
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
    if (this.#state !== 'closed') this.#become('closed')
  }

  #fail (): void {
    this.#failures++
    if (this.#state === 'closed' && this.#failures < this.#options.threshold) return
    this.#openedAt = this.#timer()
    this.#become('open')
  }

  #become (state: BreakerState): void {
    this.#state = state
    this.#generation++
    this.#trials = 0
  }
}
