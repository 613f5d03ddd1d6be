import type { Outcome } from '../../bench/recall/measure.js'

/** An outcome whose one piece of evidence is first, but for what `fields` says. */
export function outcome (fields: Partial<Outcome> = {}): Outcome {
  return {
    conversation: 'a',
    question: 0,
    category: 'single-hop',
    ranks: [1],
    roles: [],
    sessionRanks: [1],
    sessionScoreRanks: [1],
    ...fields,
  }
}
