import { bankKeyString } from '../identity/context.js'
import { bySequence } from '../stores/context.js'
import type { Candidate } from '../stores/vector-store.js'

export const STRATEGIES = ['lexical', 'semantic'] as const
export type Strategy = typeof STRATEGIES[number]

/** The rank and score of a candidate in one strategy. */
export interface StrategyPlace {
  readonly rank?: number
  readonly score: number
}

/** A memory that at least one strategy found, merged over the strategies. It has no score across strategies yet. */
export interface MergedCandidate extends Readonly<Omit<Candidate, 'score'>> {
  /**
   * The rank and score in each strategy. Ranks count from 1; a strategy that scored the memory but did not return it as
   * a candidate has no rank. Present when the recall is observed, or ranks are fused.
   */
  readonly strategies?: Readonly<Partial<Record<Strategy, StrategyPlace>>> | undefined
}

/** A candidate of the ranking of a recall, which has those of the query and of its parts in one order. */
export interface RankedCandidate extends Readonly<Pick<Candidate, 'bank' | 'memory' | 'passageCount' | 'passages'>> {
  /** The cosine of the query and the best passage; absent without the semantic strategy. */
  readonly similarity?: number | undefined
  /** Over all strategies and scorers, within 0–1. */
  readonly rankScore: number
  /** The place of the ranking that it was taken from; absent when that is the only one. */
  readonly ranking?: number | undefined
}

export interface RerankedCandidate extends RankedCandidate {
  /** The rank score and the reranker's together, within 0–1. */
  readonly rerankScore: number
  /** The reranker's result; absent for a candidate that was not sent to it. */
  readonly rerank?: { readonly rank: number, readonly score: number } | undefined
}

/** A candidate in the final order of a recall, in which the reranker has had a part or not. */
export type OrderedCandidate = RankedCandidate & Partial<Pick<RerankedCandidate, 'rerankScore' | 'rerank'>>

/** A candidate that is within the bounds of the request. */
export interface RetrievedHit extends Omit<RerankedCandidate, 'rankScore' | 'rerankScore'> {
  /** The score of the last stage, within 0–1. */
  readonly score: number
}

/** The score of the last stage. */
export function finalScore ({ rankScore, rerankScore = rankScore }: OrderedCandidate): number {
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
