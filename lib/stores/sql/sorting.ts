import { turns } from '../../concurrency/turn-budget.js'

/** Number of elements that are sorted or merged in one step. */
const RUN_LENGTH = 1000

/**
 * Sorts in steps that yield to other work; a merge sort, so equal elements keep their order.
 * @param caller as in TurnBudget.next
 */
export async function sortInTurns<T> (
  items: readonly T[], compare: (a: T, b: T) => number, caller: string,
): Promise<T[]> {
  let runs: T[][] = []
  for (let start = 0; start < items.length; start += RUN_LENGTH) {
    if (turns.isExhausted) await turns.next(caller)
    runs.push(items.slice(start, start + RUN_LENGTH).sort(compare))
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await merge(runs[index]!, runs[index + 1] ?? [], compare, caller))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<T> (
  left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number, caller: string,
): Promise<T[]> {
  const merged: T[] = []
  let [l, r] = [0, 0]
  while (l < left.length || r < right.length) {
    if (merged.length % RUN_LENGTH === 0 && turns.isExhausted) await turns.next(caller)
    if (r === right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0)) merged.push(left[l++]!)
    else merged.push(right[r++]!)
  }
  return merged
}
