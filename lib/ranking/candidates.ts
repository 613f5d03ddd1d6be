import { bankKeyString } from '../access/context.js'
import { bySequence, MIN_NOTES, NOTES_QUESTIONS } from '../stores/context.js'
import type { Candidate, SearchResult } from '../stores/vector-store.js'
import type { Signals } from './scoring/signals.js'

export const STRATEGIES = ['lexical', 'semantic'] as const
export type Strategy = typeof STRATEGIES[number]

/** A memory that at least one strategy found, merged over the strategies. It has no score across strategies yet. */
export interface MergedCandidate extends Readonly<Omit<Candidate, 'score'>> {
  /**
   * The rank and score in each strategy. Ranks count from 1; a strategy that scored the memory but did not return it as
   * a candidate has no rank. Present when the recall is observed, or ranks are fused.
   */
  readonly strategies?: Partial<Readonly<Record<Strategy, { readonly rank?: number, readonly score: number }>>> |
    undefined
}

/** A candidate of the ranking of a recall, which has those of the query and of its parts in one order. */
export interface RankedCandidate extends Readonly<Pick<Candidate, 'bank' | 'memory' | 'passageCount' | 'passages'>> {
  /** The cosine of the query and the best passage; absent without the semantic strategy. */
  readonly similarity?: number | undefined
  /** Over all strategies and scorers, within 0–1. */
  readonly rankScore: number
  /** The place of the ranking that it was taken from; absent when that is the only one. */
  readonly ranking?: number | undefined
  /** The rank score and the reranker's together, within 0–1; absent when nothing was reranked. */
  readonly rerankScore?: number
  /** The reranker's result; absent for a candidate that was not sent to it. */
  readonly rerank?: { readonly rank: number, readonly score: number } | undefined
}

/** A candidate that is within the bounds of the request. */
export interface RetrievedHit extends Omit<RankedCandidate, 'rankScore' | 'rerankScore'> {
  /** The score of the last stage, within 0–1. */
  readonly score: number
}

/** The score of the last stage. */
export function finalScore ({ rankScore, rerankScore = rankScore }: RankedCandidate): number {
  return rerankScore
}

/** A key that is unique over banks: two banks may hold the same memory id. */
export function candidateKey ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>): string {
  return `${bankKeyString(bank)} ${memory.memoryId}`
}

/** A key of the candidate's document. A memory without a document counts as a document of its own. */
export function documentKey ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>): string {
  return `${bankKeyString(bank)} ${memory.documentId === null ? `m${memory.memoryId}` : `d${memory.documentId}`}`
}

/**
 * The places of the candidates of each document, in the order of the document. Memories without a document are left
 * out.
 */
export function placesByDocument (
  candidates: ReadonlyArray<Pick<Candidate, 'bank' | 'memory'>>,
): Iterable<readonly number[]> {
  const documents = new Map<string, number[]>()
  for (const [place, candidate] of candidates.entries()) {
    if (candidate.memory.documentId === null) continue
    const key = documentKey(candidate)
    const places = documents.get(key)
    if (places === undefined) documents.set(key, [place])
    else places.push(place)
  }
  for (const places of documents.values()) places.sort((a, b) => bySequence(candidates[a]!, candidates[b]!))
  return documents.values()
}

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
  const all = new Map<string, MergedCandidate>()
  for (const [index, result] of results.entries()) {
    for (const strategy of STRATEGIES) {
      result[strategy]?.forEach((candidate, place) => {
        const key = candidateKey(candidate)
        const merged: MergedCandidate = all.get(key) ?? (hasPlaces ? withPlaces(candidate) : candidate)
        all.set(key, hasPlaces && index === 0
          ? { ...merged, strategies: { ...merged.strategies, [strategy]: { rank: place + 1, score: candidate.score } } }
          : merged)
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

function withPlaces ({ bank, memory, scores, passageCount, passages }: Candidate): MergedCandidate {
  const strategies = Object.fromEntries(STRATEGIES.flatMap((strategy) => {
    const score = scores[strategy]
    return score === undefined ? [] : [[strategy, { score }]]
  }))
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
