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

  async run<T> (key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 }
    this.#lines.set(key, line)
    line.length++
    const mine = line.last.then(work)
    line.last = mine.then(() => {}, () => {})
    try {
      return await mine
    } finally {
      if (--line.length === 0) this.#lines.delete(key)
    }
  }
}
