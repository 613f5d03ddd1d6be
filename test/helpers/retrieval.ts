import type { AnalyzedQuery } from '../../lib/ranking/query.js'
import { rankingInputs as inputsOf, type Scorable, type RankingInput } from '../../lib/ranking/scoring/scorers.js'
import type { SignalReader } from '../../lib/ranking/scoring/signals.js'

export { analyzeQuery } from '../../lib/ranking/query.js'

export function rankingInputs (
  candidates: readonly Scorable[], query: AnalyzedQuery, reader: SignalReader,
): RankingInput[] {
  return inputsOf(candidates, candidates.map(({ memory }) => reader.read(memory)), query)
}
