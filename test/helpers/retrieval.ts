import type { AnalyzedQuery } from '../../lib/retrieval/query.js'
import { rankingInputs as inputsOf, type Scorable, type RankingInput } from '../../lib/retrieval/scoring/scorers.js'
import type { SignalReader } from '../../lib/retrieval/scoring/signals.js'

export { analyzeQuery } from '../../lib/retrieval/query.js'

export function rankingInputs (
  candidates: readonly Scorable[], query: AnalyzedQuery, reader: SignalReader,
): RankingInput[] {
  return inputsOf(candidates, candidates.map(({ memory }) => reader.read(memory)), query)
}
