import { runSync } from '../../lib/concurrency/steps.js'
import { analyzeQuerySteps, type AnalyzedQuery } from '../../lib/retrieval/query.js'
import { rankingInputSteps, signalsSteps, type Scorable } from '../../lib/retrieval/scoring/inputs.js'
import type { RankingInput } from '../../lib/retrieval/scoring/scorers.js'
import type { SignalReader } from '../../lib/retrieval/scoring/signal-reader.js'

/** @param now the instant that relative times are counted from, in a calendar of UTC */
export function analyzeQuery (text: string, now: number): AnalyzedQuery {
  return runSync(analyzeQuerySteps(text, now))
}

export function rankingInputs (
  candidates: readonly Scorable[], query: AnalyzedQuery, reader: SignalReader,
): RankingInput[] {
  return runSync(rankingInputSteps(candidates, runSync(signalsSteps(candidates, reader)), query))
}
