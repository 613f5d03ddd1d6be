import type { AnalyzedQuery } from '../../lib/retrieval/query.js'
import { rankingInputs as inputsOf, type Scorable } from '../../lib/retrieval/scoring/inputs.js'
import type { RankingInput } from '../../lib/retrieval/scoring/scorers.js'
import type { SignalReader } from '../../lib/retrieval/scoring/signal-reader.js'

export { analyzeQuery } from '../../lib/retrieval/query.js'

export function rankingInputs (
  candidates: readonly Scorable[], query: AnalyzedQuery, reader: SignalReader,
): RankingInput[] {
  return inputsOf(candidates, candidates.map(({ memory }) => reader.read(memory)), query)
}
