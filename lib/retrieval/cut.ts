import type { Steps } from '../concurrency/steps.js'
import { sumSteps } from '../text/tokens.js'
import type { ScoredCandidate } from './candidates.js'

/** The bounds that cut a ranking to the hits. */
export interface CutBounds {
  limit: number
  minScore?: number
  /** The most tokens of all hits together. */
  maxTokens?: number
}

export interface CutRanking {
  hits: ScoredCandidate[]
  /** Whether `maxTokens` ended the list. */
  truncated: boolean
  tokens: number
}

/** Counts the tokens that `cut` needs, then cuts. */
export function * cutSteps (candidates: readonly ScoredCandidate[], bounds: CutBounds): Steps<CutRanking> {
  yield * sumSteps(candidates.slice(0, bounds.limit).map(({ memory }) => memory.tokens), bounds.maxTokens)
  return cut(candidates, bounds)
}

/** Takes the first candidates that are within the bounds of the request. */
export function cut (
  candidates: readonly ScoredCandidate[], { limit, minScore = 0, maxTokens = Infinity }: CutBounds,
): CutRanking {
  const hits: ScoredCandidate[] = []
  let tokens = 0
  for (const candidate of candidates) {
    if (hits.length >= limit || candidate.score < minScore) break
    const { value } = candidate.memory.tokens
    if (tokens + value > maxTokens) return { hits, truncated: true, tokens }
    tokens += value
    hits.push(candidate)
  }
  return { hits, truncated: false, tokens }
}
