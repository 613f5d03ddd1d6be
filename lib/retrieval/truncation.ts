import { sumTokens } from '../text/tokens.js'
import { finalScore, type OrderedCandidate, type RetrievedHit } from './candidates.js'

/** The bounds that cut a ranking to the hits. */
interface TruncationBounds {
  readonly limit: number
  readonly minScore: number
  /** A candidate with at least this cosine need not reach `minScore`. */
  readonly sufficientCosine?: number | undefined
  /** The most tokens of all hits together. */
  readonly maxTokens?: number | undefined
}

interface TruncatedRanking {
  readonly hits: readonly RetrievedHit[]
  /** Whether `maxTokens` ended the list. */
  readonly truncated: boolean
  readonly tokens: number
}

/** Counts the tokens that `truncate` needs, then truncates. */
export async function truncateRanking (
  candidates: readonly OrderedCandidate[], bounds: TruncationBounds,
): Promise<TruncatedRanking> {
  await sumTokens(candidates.slice(0, bounds.limit).map(({ memory }) => memory.tokens), bounds.maxTokens)
  return truncate(candidates, bounds)
}

/** Takes the first candidates that are within the bounds of the request. */
export function truncate (
  candidates: readonly OrderedCandidate[],
  { limit, minScore, sufficientCosine = Infinity, maxTokens = Infinity }: TruncationBounds,
): TruncatedRanking {
  const hits: RetrievedHit[] = []
  let tokens = 0
  for (const candidate of candidates) {
    const score = finalScore(candidate)
    const { bank, memory, passageCount, passages, similarity, ranking, rerank } = candidate
    if (hits.length >= limit || (score < minScore && (similarity ?? -1) < sufficientCosine)) break
    const { value } = memory.tokens
    if (tokens + value > maxTokens) return { hits, truncated: true, tokens }
    tokens += value
    hits.push({ bank, memory, passageCount, passages, similarity, score, ranking, rerank })
  }
  return { hits, truncated: false, tokens }
}
