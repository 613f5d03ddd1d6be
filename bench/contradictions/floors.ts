import { figuresOf, HALVES, type PairOutcome } from './pairs.js'

/** The figures of all kinds together that a change of the rules must keep. */
const FLOORS = { precision: 0.9, recall: 0.5 }

/** @returns what is below its floor, a sentence each */
export function missedFloors (outcomes: readonly PairOutcome[]): string[] {
  return HALVES.flatMap((half) => {
    const { pairs, found, proposed, right } = figuresOf(outcomes.filter((one) => one.half === half)).at(-1)!
    const precision = right / proposed
    const recall = found / pairs
    return [
      ...precision >= FLOORS.precision ? [] : [`precision of ${half} is ${precision.toFixed(3)}, floor ${FLOORS.precision}`],
      ...recall >= FLOORS.recall ? [] : [`recall of ${half} is ${recall.toFixed(3)}, floor ${FLOORS.recall}`],
    ]
  })
}
