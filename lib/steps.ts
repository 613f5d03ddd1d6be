import { turns } from './turn-budget.js'

/** Work that can be left off: it yields where it may go on later, after about a millisecond at most, and returns what came of it. */
export type Steps<T> = Generator<undefined, T, undefined>

/** All steps in one go: for work that is known to be short, and for who cannot wait. */
export function atOnce<T> (steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** All steps, which share the event loop with what else goes on. @param caller as in TurnBudget.next */
export async function inTurns<T> (steps: Steps<T>, caller: string): Promise<T> {
  for (;;) {
    if (turns.isSpent) await turns.next(caller)
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
