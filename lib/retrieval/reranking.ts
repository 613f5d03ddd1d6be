import type { Reranker } from '../models/reranker.js'
import { byScore } from '../stores/vector-store.js'
import type { ScoredCandidate } from './candidates.js'
import { appendBelow } from './ranking.js'
import { withTimeLimit } from '../concurrency/deadline.js'

export interface RerankOptions {
  /** How many of the best candidates are sent to the reranker. */
  candidates: number
  timeoutMs: number
  /** The reranker's share in the new score, 0–1; the earlier score has the rest. */
  weight: number
}

/**
 * Reranks the first candidates. The reranker's scores are normalised to their range in this call, because every model
 * has its own scale. The candidates that were not sent to it stay below the others.
 * @throws when the reranker fails, exceeds its time, or does not return one finite number for each text
 */
export async function rerank (
  reranker: Reranker, query: string, candidates: readonly ScoredCandidate[],
  options: RerankOptions, signal?: AbortSignal,
): Promise<ScoredCandidate[]> {
  const first = candidates.slice(0, options.candidates)
  if (first.length === 0) return [...candidates]
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
  const reranked = first.map((candidate, index): ScoredCandidate => ({
    ...candidate,
    score: (1 - options.weight) * candidate.score +
      options.weight * (range === 0 ? 0.5 : (scores[index]! / 2 - lowest / 2) / range),
    rerank: { rank: ranks.get(index)!, score: scores[index]! },
  })).sort(byScore)
  return appendBelow(reranked, candidates.slice(options.candidates))
}
