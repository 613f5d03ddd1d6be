import { figuresOf, HALVES, type PairOutcome } from './pairs.js'

/** The figures of all kinds together that a change of the rules must keep. */
const FLOORS = { precision: 0.95, recall: 0.8 }

/** @returns what is below its floor, a sentence each */
export function missedFloors (outcomes: readonly PairOutcome[]): string[] {
  return HALVES.flatMap((half) => {
    const { pairs, found, proposed, right } = figuresOf(outcomes.filter((one) => one.half === half)).at(-1)!
    const figures = { precision: right / proposed, recall: found / pairs }
    return (['precision', 'recall'] as const).filter((name) => !(figures[name] >= FLOORS[name])).map((name) => (
      `${name} of the half ${half} is ${figures[name].toFixed(3)}, floor ${FLOORS[name]}`
    ))
  })
}
