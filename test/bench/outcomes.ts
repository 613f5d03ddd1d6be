import { makeReport, type Report, type RunName } from '../../bench/recall/report.js'
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

export function report (outcomes: Outcome[], name: Partial<RunName> = {}): Report {
  return makeReport(
    { data: 'data.json', pipeline: 'default', embedder: 'none', store: 'in_memory', ...name },
    { outcomes, turns: 7, repeats: 0, retainMs: [1], recallMs: [2, 4], embeddingWaitMs: 0 },
  )
}
