import { unlessAborted } from './aborting.js'
import { Deadline } from './deadline.js'

interface Tail {
  last: Promise<void>
  length: number
}

/** Bounds on the tasks of a key that wait, and the errors of those that exceed them. */
interface WaitLimits {
  /** Tasks of one key that may wait. */
  maxWaiting: number
  /** Milliseconds that a task waits at most. The task itself has no limit. */
  waitMs: number
  /** The error for a task that arrives while `maxWaiting` others wait. */
  queueFullError: () => Error
  /** The error for a task that did not start within its time. */
  timeoutError: () => Error
}

/**
 * Runs tasks of the same key one after the other, in the order of their arrival. It is our own because no library that
 * was compared has a bound on the wait of a task before it starts.
 */
export class KeyedQueue {
  readonly #limits: WaitLimits | undefined
  readonly #tails = new Map<string, Tail>()

  /** @param limits Default: none */
  constructor (limits?: WaitLimits) {
    this.#limits = limits
  }

  /** The number of tasks of the key that run or wait. */
  length (key: string): number {
    return this.#tails.get(key)?.length ?? 0
  }

  /**
   * @param signal ends the wait, which rejects at once with the signal's reason. A task that has started continues
   * @throws `queueFullError` and `timeoutError` of the limits
   */
  async run<T> (key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#limits === undefined) return await this.#run(key, work, signal)
    const { maxWaiting, waitMs, queueFullError, timeoutError } = this.#limits
    // The first of the queue runs.
    if (this.length(key) > maxWaiting) throw queueFullError()
    const wait = new Deadline(waitMs, { signal, expired: timeoutError })
    try {
      return await this.#run(key, async () => {
        wait.end()
        return await work()
      }, wait.signal)
    } finally {
      wait.end()
    }
  }

  async #run<T> (key: string, work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const tail = this.#tails.get(key) ?? { last: Promise.resolve(), length: 0 }
    this.#tails.set(key, tail)
    tail.length++
    const before = tail.last
    const result = signal === undefined ? before.then(work) : unlessAborted(before, signal).then(work)
    // When a waiting task is aborted, later ones still wait for the ones before it.
    tail.last = result.then(() => {}, async () => { await before })
    try {
      return await result
    } finally {
      if (--tail.length === 0) this.#tails.delete(key)
    }
  }
}
