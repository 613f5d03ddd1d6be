import { exponentialBackOff } from './retry.js'

/** Calls back once after so many milliseconds. @returns what cancels it */
export type Schedule = (callback: () => void, ms: number) => () => void

/** What a test puts in place of time and chance. */
export interface BackOffTools {
  /** Default: timers that do not keep the process alive. */
  schedule?: Schedule
  /** Within 0–1. */
  random?: () => number
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/**
 * Counts failures in a row and pauses after each, for a loop that never gives up: from 1 s on twice as long each time,
 * 60 s at most, up to half of it less by chance.
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

  async pause (): Promise<void> {
    const longest = exponentialBackOff(this.#failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
    // Many servers that lost one provider at the same moment should not come back to it at the same moment.
    const ms = longest * (0.5 + this.#random() / 2)
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

function unrefTimer (callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms).unref()
  return () => { clearTimeout(timer) }
}
