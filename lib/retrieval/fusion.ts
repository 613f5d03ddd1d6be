import type { ScorerName } from './scoring/scorers.js'
import { bankKeyString } from '../identity/context.js'
import type { Candidate, SearchResult } from '../stores/vector-store.js'

export const STRATEGIES = ['lexical', 'semantic'] as const
export type Strategy = typeof STRATEGIES[number]
/** 0 switches a strategy off. */
export type Weights = Readonly<Record<Strategy, number>>
export type FusionMethod = 'linear' | 'rrf'

/** The constant of reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009). */
const RRF_K = 60
/** What a candidate of no special worth has of the best cosine: cosines lie close together. */
export const USUAL_COSINE = 0.8

export interface FusedCandidate extends Candidate {
  /** Where each strategy has it; ranks from 1, absent for a memory that a strategy scored and did not have among its best. */
  strategies: Partial<Record<Strategy, { rank?: number, score: number }>>
  /** What each scorer added to the sum that the score is made of; only when it was asked for. */
  signals?: Partial<Record<ScorerName, number>>
  rerank?: { rank: number, score: number }
}

/**
 * The finds of several searches and strategies, each memory once.
 * @param results the first is that of the question itself: ranks are those of its lists
 */
export function mergeCandidates (results: readonly SearchResult[]): FusedCandidate[] {
  const [only] = results
  // One list repeats nothing.
  if (results.length === 1 && (only!.lexical === undefined || only!.semantic === undefined)) {
    const strategy = only!.lexical === undefined ? 'semantic' : 'lexical'
    return (only![strategy] ?? []).map((candidate, place) => {
      const fused = toFused(candidate)
      fused.strategies[strategy] = { rank: place + 1, score: candidate.score }
      return fused
    })
  }
  const united = new Map<string, FusedCandidate>()
  for (const [index, result] of results.entries()) {
    for (const strategy of STRATEGIES) {
      result[strategy]?.forEach((candidate, place) => {
        const key = candidateKey(candidate)
        let known = united.get(key)
        if (known === undefined) united.set(key, known = toFused(candidate))
        if (index === 0) known.strategies[strategy] = { rank: place + 1, score: candidate.score }
      })
    }
  }
  return [...united.values()]
}

/** What tells a candidate from all others: one id can be in several banks. */
export function candidateKey ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>): string {
  return `${bankKeyString(bank)} ${memory.memoryId}`
}

/** Written out, not spread: this runs for every candidate of every recall. */
function toFused ({ bank, memory, score, scores, passageCount, passages }: Candidate): FusedCandidate {
  const strategies: FusedCandidate['strategies'] = {}
  if (scores.lexical !== undefined) strategies.lexical = { score: scores.lexical }
  if (scores.semantic !== undefined) strategies.semantic = { score: scores.semantic }
  return { bank, memory, score, scores, passageCount, passages, strategies }
}

/**
 * What the strategies say of each candidate together.
 *
 * `linear` adds up their scores by weight, each as a share of the best one found. `rrf`, reciprocal-rank fusion, looks at ranks alone: it needs no
 * comparable scores, and lets a weak strategy drag a strong one down.
 * @returns in the order of the candidates
 */
export function fuse (candidates: readonly FusedCandidate[], weights: Weights, method: FusionMethod): number[] {
  const sums = candidates.map(() => 0)
  for (const strategy of STRATEGIES) {
    const weight = weights[strategy]
    if (weight === 0) continue
    if (method === 'rrf') {
      candidates.forEach(({ strategies }, index) => {
        const rank = strategies[strategy]?.rank
        if (rank !== undefined) sums[index]! += weight * (RRF_K + 1) / (RRF_K + rank)
      })
    } else {
      let best = Number.MIN_VALUE
      for (const { scores } of candidates) best = Math.max(best, scores[strategy] ?? 0)
      if (best === Number.MIN_VALUE) continue
      // What has no vector yet is neither near nor far.
      const unknown = strategy === 'semantic' ? USUAL_COSINE * best : 0
      candidates.forEach(({ scores }, index) => { sums[index]! += weight * (scores[strategy] ?? unknown) / best })
    }
  }
  return sums
}
