import type { TurnBudget } from '../turn-budget.js'

/** Work in pieces of less than a millisecond: it yields wherever it may be interrupted. */
export type Work<T> = Generator<undefined, T>

/** What shares the event loop out. */
export type Turns = Pick<TurnBudget, 'isSpent' | 'next'>

/** Does all of it at once. */
export function atOnce<T> (work: Work<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Does it piece by piece, in as many turns of the event loop as it takes. @param caller as in TurnBudget.next */
export async function inPieces<T> (work: Work<T>, turns: Turns, caller: string): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (turns.isSpent) await turns.next(caller)
  }
}

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
