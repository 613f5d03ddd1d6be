import { turns, type Turns } from './turn-budget.js'

export type { Turns } from './turn-budget.js'

/**
 * Work as a generator that can be suspended: it yields at least once a millisecond or so, and returns its result.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps synchronously: for work that is known to be short, and for callers that cannot await. */
export function runSync<T> (steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * As runInTurns, for work that is mostly short: returns the result itself when all steps fit into the current time
 * slice, which spares the caller a promise.
 */
export function runSyncOrInTurns<T> (steps: Steps<T>, caller: string, budget: Turns = turns): T | Promise<T> {
  while (!budget.isExhausted) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
  return runInTurns(steps, caller, budget)
}

/**
 * Runs all steps and yields to the event loop whenever the time slice is used up.
 * @param caller as in TurnBudget.next
 * @param budget a test may have its own
 */
export async function runInTurns<T> (steps: Steps<T>, caller: string, budget: Turns = turns): Promise<T> {
  for (;;) {
    if (budget.isExhausted) await budget.next(caller)
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
