import type { Clock } from '../time/clock.js'
import { DurationBuckets } from './duration-buckets.js'

export const STEP_MS = 10_000
/** Steps that are kept: an hour. */
const STEPS = 360

export interface MemoryUse {
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

export interface RequestHistoryOptions {
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
  observe (status: number, ms: number): void {
    this.advance()
    this.#requests++
    if (status >= 500) this.#serverErrors++
    else if (status >= 400) this.#clientErrors++
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
