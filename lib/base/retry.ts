import { setTimeout as delay } from 'node:timers/promises'

interface RetryOptions {
  /**
   * Milliseconds to pause before the next attempt; undefined: there is none, and the error is thrown.
   * @param failures attempts that have failed, at least 1
   */
  delayMs: (error: unknown, failures: number) => number | undefined
  /** Resolves after the pause; the reason of a rejection is thrown. Default: a timer. */
  sleep?: (milliseconds: number) => Promise<void>
}

/**
 * Makes attempts until one succeeds or no other may be made. It is our own because the pauses of cockatiel's retry
 * policy, which has many other parts, cannot be aborted.
 */
export async function retry<T> (attempt: () => Promise<T>, { delayMs, sleep = delay }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const milliseconds = delayMs(error, failures)
      if (milliseconds === undefined) throw error
      await sleep(milliseconds)
    }
  }
}

/**
 * The longest delay after so many failures: `baseMs` after the first, and twice as long each time. Callers add
 * jitter.
 */
export function exponentialBackOff (failures: number, baseMs: number, maxMs = Infinity): number {
  return Math.min(maxMs, baseMs * 2 ** (failures - 1))
}

/** Calls back once after `ms` milliseconds. @returns a function that cancels it */
export type Schedule = (callback: () => void, ms: number) => () => void

/** The sources of time and chance, which a test replaces. */
export interface BackOffTools {
  /** Default: timers that do not keep the process alive. */
  schedule?: Schedule | undefined
  /** Within 0–1. */
  random?: (() => number) | undefined
}

const BASE_DELAY_MS = 1000
const MAX_DELAY_MS = 60_000
/** The longest pause that a dependency may ask for; a wrong one does not stop the loop for a day. */
const MAX_REQUESTED_MS = 60 * 60 * 1000

/**
 * Counts failures in a row and pauses after each, for a loop that retries for ever. The pause is 1 s at first and
 * doubles with each failure to at most 60 s; jitter takes up to half off. A dependency may ask for a longer pause.
 * It is our own because the retry policy of cockatiel has no injected clock, and its pauses cannot be aborted.
 */
export class BackOff {
  readonly #schedule: Schedule
  readonly #random: () => number
  #failures = 0
  #end: (() => void) | undefined

  constructor ({ schedule = unrefTimer, random = Math.random }: BackOffTools) {
    this.#schedule = schedule
    this.#random = random
  }

  get isFailing (): boolean {
    return this.#failures > 0
  }

  /** @returns whether it is the first failure since the last success */
  fail (): boolean {
    return ++this.#failures === 1
  }

  /** @returns whether something failed before */
  succeed (): boolean {
    const failed = this.isFailing
    this.#failures = 0
    return failed
  }

  /** @param requestedMs how long the dependency asks not to be called; jitter is added to it */
  async pause (requestedMs = 0): Promise<void> {
    const maxMs = exponentialBackOff(this.#failures, BASE_DELAY_MS, MAX_DELAY_MS)
    // Jitter keeps many servers that lost one provider at the same moment from retrying at the same moment.
    const ownMs = maxMs * (0.5 + this.#random() / 2)
    const ms = requestedMs > 0 ? Math.min(requestedMs, MAX_REQUESTED_MS) + ownMs : ownMs
    await new Promise<void>((resolve) => {
      const cancel = this.#schedule(resolve, ms)
      this.#end = () => {
        cancel()
        resolve()
      }
    })
    this.#end = undefined
  }

  endPause (): void {
    this.#end?.()
  }
}

/** A timer that does not keep the process alive. */
export function unrefTimer (callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms).unref()
  return () => { clearTimeout(timer) }
}
