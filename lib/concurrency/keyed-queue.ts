import { unlessAborted } from './aborting.js'
import { Deadline } from './deadline.js'

interface Tail {
  last: Promise<void>
  length: number
}

/** A limit on the wait of a task, not on the task itself. */
export interface WaitLimit {
  waitMs: number
  /** The error of a task that waits longer. */
  expired: () => Error
}

/** Runs tasks of the same key one after the other, in the order of their arrival. */
export class KeyedQueue {
  readonly #tails = new Map<string, Tail>()

  /** The number of tasks of the key that run or wait. */
  length (key: string): number {
    return this.#tails.get(key)?.length ?? 0
  }

  /** @param signal ends the wait, which rejects at once with the signal's reason. A task that has started continues */
  async run<T> (key: string, work: () => Promise<T>, signal?: AbortSignal, limit?: WaitLimit): Promise<T> {
    if (limit === undefined) return await this.#run(key, work, signal)
    const wait = new Deadline(limit.waitMs, signal, undefined, limit.expired)
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
