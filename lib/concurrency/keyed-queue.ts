import { unlessAborted } from './aborting.js'

interface Line {
  last: Promise<void>
  length: number
}

/** Lets one piece of work after the other at each key, in the order in which they came. */
export class KeyedQueue {
  readonly #lines = new Map<string, Line>()

  /** How many work on the key or wait for it. */
  length (key: string): number {
    return this.#lines.get(key)?.length ?? 0
  }

  /**
   * @param signal gives the wait up: it rejects with the signal's reason at once. Work that has begun is not touched by
   * it
   */
  async run<T> (key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 }
    this.#lines.set(key, line)
    line.length++
    const before = line.last
    const mine = signal === undefined ? before.then(work) : unlessAborted(before, signal).then(work)
    // Those behind one who gives up still wait for those ahead of it.
    line.last = mine.then(() => {}, async () => { await before })
    try {
      return await mine
    } finally {
      if (--line.length === 0) this.#lines.delete(key)
    }
  }
}
