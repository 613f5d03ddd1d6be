/** Those who write to the same bank, one after the other. */
export class WriterQueue {
  readonly #last = new Map<string, Promise<void>>()

  /** Whether somebody writes, or waits to. */
  isBusy (bank: string): boolean {
    return this.#last.has(bank)
  }

  async run<T> (bank: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(bank)
    let done = () => {}
    const own = new Promise<void>((resolve) => { done = resolve })
    this.#last.set(bank, own)
    try {
      await before
      return await write()
    } finally {
      if (this.#last.get(bank) === own) this.#last.delete(bank)
      done()
    }
  }
}
