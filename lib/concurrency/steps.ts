import { turns, type TurnBudget } from './turn-budget.js'

/**
 * Work that can be left off: it yields where it may go on later, after about a millisecond at most, and returns what
 * came of it.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** What shares the event loop out. */
export type Turns = Pick<TurnBudget, 'isSpent' | 'next'>

/** All steps in one go: for work that is known to be short, and for who cannot wait. */
export function atOnce<T> (steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * inTurns for work that is short as a rule: done at once while there is room in this turn, and only else a promise.
 */
export function soon<T> (steps: Steps<T>, caller: string, budget: Turns = turns): T | Promise<T> {
  while (!budget.isSpent) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
  return inTurns(steps, caller, budget)
}

/**
 * All steps, which share the event loop with what else goes on.
 * @param caller as in TurnBudget.next
 * @param budget what shares it out; a test may have its own
 */
export async function inTurns<T> (steps: Steps<T>, caller: string, budget: Turns = turns): Promise<T> {
  for (;;) {
    if (budget.isSpent) await budget.next(caller)
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
