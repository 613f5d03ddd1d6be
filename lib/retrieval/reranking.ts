import type { Reranker } from '../models/reranker.js'
import { byMemoryId } from '../stores/vector-store.js'
import type { RankedCandidate, RerankedCandidate } from './candidates.js'
import { descendingScores, MIN_SCORE_DIFFERENCE } from './descending-scores.js'
import { withTimeLimit } from '../concurrency/deadline.js'

export interface RerankOptions {
  /** How many of the best candidates are sent to the reranker. */
  readonly candidates: number
  readonly timeoutMs: number
  /** The reranker's share in the new score, 0–1; the earlier score has the rest. */
  readonly weight: number
}

/**
 * Reranks the first candidates. The reranker's scores are normalised to their range in this call, because every model
 * has its own scale. The candidates that were not sent to it stay below the others.
 * @throws when the reranker fails, exceeds its time, or does not return one finite number for each text
 */
export async function rerank (
  reranker: Reranker, query: string, candidates: readonly RankedCandidate[],
  options: RerankOptions, signal?: AbortSignal,
): Promise<RerankedCandidate[]> {
  const first = candidates.slice(0, options.candidates)
  if (first.length === 0) return candidates.map((candidate) => ({ ...candidate, rerankScore: candidate.rankScore }))
  const scores = await withTimeLimit(options.timeoutMs, signal, async (signal) => (
    await reranker.rerank(query, first.map(({ memory }) => memory.text), { signal })
  ))
  if (!Array.isArray(scores) || scores.length !== first.length || !scores.every(Number.isFinite)) {
    throw new Error('The reranker gave unusable scores')
  }
  const lowest = Math.min(...scores)
  // Halved, because the difference of two large numbers can be infinite.
  const range = Math.max(...scores) / 2 - lowest / 2
  const order = scores.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score || a.index - b.index)
  const ranks = new Map(order.map(({ index }, place) => [index, place + 1]))
  const reranked = first.map((candidate, index): RerankedCandidate => ({
    ...candidate,
    rerankScore: (1 - options.weight) * candidate.rankScore +
      options.weight * (range === 0 ? 0.5 : (scores[index]! / 2 - lowest / 2) / range),
    rerank: { rank: ranks.get(index)!, score: scores[index]! },
  })).sort((a, b) => b.rerankScore - a.rerankScore || byMemoryId(a, b))
  return [...reranked, ...belowAll(candidates.slice(options.candidates), reranked.at(-1)!.rerankScore)]
}

/** Candidates that were not reranked keep their rank scores, lowered where needed to stay below those that were. */
function belowAll (candidates: readonly RankedCandidate[], lowest: number): RerankedCandidate[] {
  const ceiling = Math.max(0, lowest - MIN_SCORE_DIFFERENCE)
  const scores = descendingScores(candidates.map(({ rankScore }) => rankScore), 0, ceiling)
  return candidates.map((candidate, index) => ({ ...candidate, rerankScore: scores[index]! }))
}
