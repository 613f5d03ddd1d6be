import type { Clock } from './clock.js'
import { roundedMs } from './rounded-ms.js'

export const STEP_MS = 10_000
/** Steps that are kept: an hour. */
const STEPS = 360

/** The upper bound of the first bucket of durations, in milliseconds. */
const FIRST_BOUND = 0.1
/** The ratio of the bounds of neighbouring buckets: quantiles are exact to half of it, which is 12 percent. */
const BOUND_RATIO = 1.25
/** The bound of the last bucket is more than two minutes. */
const BUCKETS = 64
const LOG_RATIO = Math.log(BOUND_RATIO)

/** Whether a request succeeded, or whose fault it was that it did not. */
export type RequestOutcome = 'ok' | 'client_error' | 'server_error'

interface MemoryUse {
  rss: number
  heapUsed: number
}

/** What happened in one step. */
export interface HistorySample {
  /** When the step began. */
  at: number
  requests: number
  clientErrors: number
  serverErrors: number
  /** In milliseconds; null without requests. */
  p50: number | null
  p90: number | null
  p99: number | null
  longest: number | null
  memory: MemoryUse
}

interface RequestHistoryOptions {
  clock: Clock
  memory: () => MemoryUse
}

/** Requests, their durations and the memory of the process over the last hour, in steps of ten seconds. */
export class RequestHistory {
  readonly #options: RequestHistoryOptions
  readonly #durations = new DurationBuckets()
  readonly #closed: HistorySample[] = []
  #step: number
  #requests = 0
  #clientErrors = 0
  #serverErrors = 0

  constructor (options: RequestHistoryOptions) {
    this.#options = options
    this.#step = stepAt(options.clock())
  }

  /** Counts a request that has ended. */
  observe (outcome: RequestOutcome, ms: number): void {
    this.advance()
    this.#requests++
    if (outcome === 'server_error') this.#serverErrors++
    else if (outcome === 'client_error') this.#clientErrors++
    this.#durations.add(ms)
  }

  /**
   * Closes the steps that are over. Called once per step, so that each step records the memory usage of its own time.
   */
  advance (): void {
    const now = stepAt(this.#options.clock())
    if (now <= this.#step) return
    const memory = this.#options.memory()
    this.#closed.push(this.#open(memory))
    this.#requests = this.#clientErrors = this.#serverErrors = 0
    this.#durations.clear()
    for (let step = Math.max(this.#step + 1, now - STEPS); step < now; step++) {
      this.#step = step
      this.#closed.push(this.#open(memory))
    }
    this.#step = now
    this.#closed.splice(0, this.#closed.findIndex(({ at }) => at >= (now - STEPS) * STEP_MS))
  }

  /** Oldest first; the last step is still open. @param since steps that began before are left out */
  samples (since = -Infinity): HistorySample[] {
    this.advance()
    return [...this.#closed, this.#open(this.#options.memory())].filter(({ at }) => at >= since)
  }

  #open (memory: MemoryUse): HistorySample {
    return {
      at: this.#step * STEP_MS,
      requests: this.#requests,
      clientErrors: this.#clientErrors,
      serverErrors: this.#serverErrors,
      p50: this.#durations.quantile(0.5),
      p90: this.#durations.quantile(0.9),
      p99: this.#durations.quantile(0.99),
      longest: this.#durations.longest,
      memory,
    }
  }
}

function stepAt (instant: number): number {
  return Math.floor(instant / STEP_MS)
}

/** Counts durations in buckets of growing width, so that quantiles cost the same however many durations there are. */
class DurationBuckets {
  readonly #counts = new Uint32Array(BUCKETS)
  #count = 0
  #longest = 0

  add (ms: number): void {
    const bucket = ms <= FIRST_BOUND ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / FIRST_BOUND) / LOG_RATIO))
    this.#counts[bucket]!++
    this.#count++
    if (ms > this.#longest) this.#longest = ms
  }

  get longest (): number | null {
    return this.#count === 0 ? null : roundedMs(this.#longest)
  }

  /** @returns the middle of the bucket in which the quantile lies; null without durations */
  quantile (share: number): number | null {
    if (this.#count === 0) return null
    let left = Math.ceil(share * this.#count)
    let bucket = 0
    while (bucket < BUCKETS - 1 && left > this.#counts[bucket]!) left -= this.#counts[bucket++]!
    return roundedMs(Math.min(this.#longest, FIRST_BOUND * BOUND_RATIO ** (bucket - 0.5)))
  }

  clear (): void {
    this.#counts.fill(0)
    this.#count = 0
    this.#longest = 0
  }
}
