import { MIN_NOTES, NOTES_QUESTIONS } from '../stores/context.js'
import type { Candidate, SearchResult } from '../stores/vector-store.js'
import type { Signals } from './scoring/signals.js'
import { candidateKey, STRATEGIES, type MergedCandidate, type Strategy, type StrategyPlace } from './candidates.js'

/** 0 switches a strategy off. */
export type Weights = Readonly<Record<Strategy, number>>
export type FusionMethod = 'linear' | 'rrf'

/** The constant of reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009). */
const RRF_K = 60
/** The cosine of a typical candidate, as a share of the best one: cosines lie close together. */
export const TYPICAL_COSINE = 0.8

/**
 * What the searches for one query found. The first is of the query itself, and only it determines ranks; the others are
 * narrowed to the times that the query names.
 */
export type QueryResults = readonly [SearchResult, ...SearchResult[]]

/** A candidate whose places are not complete yet. */
interface MergingCandidate extends MergedCandidate {
  readonly strategies?: Partial<Record<Strategy, StrategyPlace>> | undefined
}

/**
 * Merges the candidates of several searches and strategies, so that each memory occurs once.
 * @param hasPlaces whether the candidates carry `strategies`, which few recalls need
 */
export function mergeCandidates (results: QueryResults, hasPlaces: boolean): MergedCandidate[] {
  const [only] = results
  // A single list has no duplicates.
  if (!hasPlaces && results.length === 1 && (only.lexical === undefined || only.semantic === undefined)) {
    return only.lexical ?? only.semantic ?? []
  }
  const all = new Map<string, MergingCandidate>()
  for (const [index, result] of results.entries()) {
    for (const strategy of STRATEGIES) {
      result[strategy]?.forEach((candidate, place) => {
        const key = candidateKey(candidate)
        let merged = all.get(key)
        if (merged === undefined) all.set(key, merged = hasPlaces ? withPlaces(candidate) : candidate)
        if (index === 0 && merged.strategies !== undefined) {
          merged.strategies[strategy] = { rank: place + 1, score: candidate.score }
        }
      })
    }
  }
  return [...all.values()]
}

/** How much the words of neighbours count in documents that are not conversations. */
const CONTEXT_OF_TEXTS = 0.1

/**
 * Whether the documents of the candidates are conversations, and not notes or articles, which ask nothing. Also true
 * where the candidates do not show it. In every search of the conversations in docs/recall-quality.md the share of
 * candidates that contain a question is above .06.
 */
export function areConversations (candidates: readonly MergedCandidate[], signals: readonly Signals[]): boolean {
  let [inDocuments, questions] = [0, 0]
  for (let index = 0; index < candidates.length; index++) {
    if (signals[index]!.role !== undefined) return true
    if (candidates[index]!.memory.documentId === null) continue
    inDocuments++
    if (signals[index]!.asksQuestion) questions++
  }
  return inDocuments < MIN_NOTES || questions >= NOTES_QUESTIONS / 100 * inDocuments
}

/** A candidate in a document that is not a conversation, where the words of neighbours say less about it. */
export function withLessContext (candidate: MergedCandidate): MergedCandidate {
  const { memory, scores } = candidate
  const { lexical, own } = scores
  if (memory.documentId === null || lexical === undefined || own === undefined) return candidate
  return { ...candidate, scores: { ...scores, lexical: own + CONTEXT_OF_TEXTS * (lexical - own) } }
}

function withPlaces ({ bank, memory, scores, passageCount, passages }: Candidate): MergingCandidate {
  const strategies: NonNullable<MergingCandidate['strategies']> = {}
  if (scores.lexical !== undefined) strategies.lexical = { score: scores.lexical }
  if (scores.semantic !== undefined) strategies.semantic = { score: scores.semantic }
  return { bank, memory, scores, passageCount, passages, strategies }
}

/**
 * Combines the strategies into one sum for each candidate.
 *
 * `linear` adds their weighted scores, each as a share of the best score of its strategy. `rrf` (reciprocal-rank
 * fusion) uses ranks only: it needs no comparable scores, but lets a weak strategy pull down the results of a strong
 * one.
 * @param candidates with `strategies` for `rrf`
 * @returns the sums, in the order of the candidates
 */
export function fuse (candidates: readonly MergedCandidate[], weights: Weights, method: FusionMethod): number[] {
  const sums = candidates.map(() => 0)
  for (const strategy of STRATEGIES) {
    const weight = weights[strategy]
    if (weight === 0) continue
    if (method === 'rrf') {
      candidates.forEach(({ strategies }, index) => {
        const rank = strategies?.[strategy]?.rank
        if (rank !== undefined) sums[index]! += weight * (RRF_K + 1) / (RRF_K + rank)
      })
    } else {
      let best = Number.MIN_VALUE
      for (const { scores } of candidates) best = Math.max(best, scores[strategy] ?? 0)
      if (best === Number.MIN_VALUE) continue
      // A memory without a vector yet counts as a typical candidate.
      const unknown = strategy === 'semantic' ? TYPICAL_COSINE * best : 0
      candidates.forEach(({ scores }, index) => { sums[index]! += weight * (scores[strategy] ?? unknown) / best })
    }
  }
  return sums
}
