import type { Reranker } from '../models/reranker.js'
import { byScore, type ScoredCandidate } from './candidates.js'
import { appendBelow } from './ranking.js'
import { within } from '../concurrency/deadline.js'

export interface RerankOptions {
  /** How many of the first are judged anew. */
  candidates: number
  timeoutMs: number
  /** Share of the reranker in the new score, 0–1; the rest is the score that was. */
  weight: number
}

/**
 * Ranks the first candidates anew. What the reranker says is taken as a share of its own range in this call, for models have scales of
 * their own. The candidates behind stay behind.
 * @throws when the reranker fails, is late, or gives anything but one finite number a text
 */
export async function rerank (reranker: Reranker, query: string, candidates: readonly ScoredCandidate[], options: RerankOptions, signal?: AbortSignal): Promise<ScoredCandidate[]> {
  const first = candidates.slice(0, options.candidates)
  if (first.length === 0) return [...candidates]
  const given = await within(options.timeoutMs, signal, async (signal) => await reranker.rerank(query, first.map(({ memory }) => memory.text), { signal }))
  if (!Array.isArray(given) || given.length !== first.length || !given.every(Number.isFinite)) throw new Error('The reranker gave unusable scores')
  const least = Math.min(...given)
  // In halves, because a range can be too big for a number.
  const range = Math.max(...given) / 2 - least / 2
  const order = given.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score || a.index - b.index)
  const ranks = new Map(order.map(({ index }, place) => [index, place + 1]))
  const judged = first.map((candidate, index): ScoredCandidate => ({
    ...candidate,
    score: (1 - options.weight) * candidate.score + options.weight * (range === 0 ? 0.5 : (given[index]! / 2 - least / 2) / range),
    rerank: { rank: ranks.get(index)!, score: given[index]! },
  })).sort(byScore)
  return appendBelow(judged, candidates.slice(options.candidates))
}
