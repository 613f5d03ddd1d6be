import type { BankKey } from '../access/context.js'
import type { Trust } from '../access/trust.js'
import { compareText } from '../text/normal-form.js'
import type { Memory, Metadata } from './vector-store.js'

/** Maximum number of passages of a candidate. */
export const MAX_PASSAGES = 3

/** The conditions on a memory. All must hold; an absent condition always holds. */
export interface Filters {
  /** A memory without tags does not match, not even `all` of an empty list. */
  readonly tags?: Readonly<{ values: readonly string[], match: 'any' | 'all' }>
  /** Every listed key is present with an equal value. */
  readonly metadata?: Readonly<Metadata>
  /** One of these is its speaker, compared as `foldCase` folds them. */
  readonly speakers?: readonly string[]
  /** The memory belongs to one of these documents; null stands for memories without a document. */
  readonly documentIds?: ReadonlyArray<string | null>
  /** Inclusive. A memory without `occurredAt` never matches an occurred bound. */
  readonly occurredAfter?: number
  /** Exclusive. */
  readonly occurredBefore?: number
  /**
   * The bank as it was stored at this instant, inclusive: each memory in its version of then, with the state of then.
   * Versions that were redacted are not found.
   */
  readonly asOf?: number
  /** Default current. history: superseded and retired. */
  readonly state?: StateFilter
  /** What is told of its validity in the world, if anything, contains this instant. */
  readonly validAt?: number
  /** Inclusive lower bound on `trust`; `suspect` admits every memory. */
  readonly minTrust?: Trust
}

export const STATE_FILTERS = ['current', 'history', 'all'] as const
export type StateFilter = typeof STATE_FILTERS[number]

/**
 * A part of a bank. current: the memories whose state is that now. past: superseded and retired memories, and the
 * earlier versions of all. What is past is kept apart, so that a read of what is current never meets it.
 */
export type Part = 'current' | 'past'

/** The parts in which memories may pass the filters. */
export function partsOf ({ state = 'current', asOf }: Pick<Filters, 'state' | 'asOf'>): Part[] {
  const parts: Part[] = []
  if (state !== 'history') parts.push('current')
  if (state !== 'current' || asOf !== undefined) parts.push('past')
  return parts
}

/** The lexical part of a search; lib/stores/context.ts defines its result. */
export interface LexicalRequest {
  /** Distinct. */
  readonly terms: readonly string[]
  /** Term frequency saturation of BM25, >= 0: the smaller, the less repetitions of a term count. */
  readonly k1: number
  /**
   * Length normalization. pivot: none for passages of up to so many terms, proportional above. notesPivot: the pivot
   * for notes and articles, at least `pivot`; only with `context` and without the semantic strategy. b: as in BM25,
   * relative to the bank's average, from 0 (none) to 1 (proportional).
   */
  readonly length: Readonly<{ pivot: number, notesPivot?: number }> | Readonly<{ b: number }>
  /** Whether memories are also found by the words of their neighbours in the document. */
  readonly context: boolean
}

/** A read that may be late: from a copy that lacks the newest writes of other processes. */
export interface PossiblyLate {
  /** Whether it must see every acknowledged write. Default false. */
  readonly current?: boolean | undefined
}

export interface SearchRequest extends PossiblyLate {
  /** At least one; candidates of all banks are ranked together. */
  readonly banks: readonly BankKey[]
  /** Memories that have expired by this instant are not found. */
  readonly now: number
  readonly filters: Filters
  /** Absent: the strategy is not used. */
  readonly lexical?: LexicalRequest | undefined
  /** The semantic strategy: the query's embedding. Absent: the strategy is not used. */
  readonly semantic?: Readonly<{ vector: Float32Array }> | undefined
  /** Maximum number of candidates that each strategy returns, over all banks. */
  readonly limit: number
}

/** How well a memory matches a query, by its best passage; each score is within 0–1. */
export interface CandidateScores {
  /**
   * The share of the highest BM25 score that the query could reach in the bank, by the terms of the memory and of its
   * neighbours; 0 when none of them is a query term.
   */
  readonly lexical?: number
  /** The same for the memory's own terms alone, at most `lexical`; equal to it without `context`. */
  readonly own?: number
  /** The cosine, with negative values as 0. Absent for a memory without vectors. */
  readonly semantic?: number
}

export interface Candidate {
  readonly bank: BankKey
  readonly memory: Memory
  /** The score of the strategy that returned the candidate: `scores.lexical` or `scores.semantic`. */
  readonly score: number
  /** By every requested strategy, even one that did not return the memory. */
  readonly scores: CandidateScores
  /** The number of passages of the memory. */
  readonly passageCount: number
  /**
   * For a memory of several passages, those that matched, best first, ties in order; at most three. A lexical candidate
   * has each with its own score; one found only by its neighbours' terms has its first passage with the lexical score
   * of the memory. Empty for a memory of one passage.
   */
  readonly passages: ReadonlyArray<Readonly<{ start: number, end: number, score: number }>>
}

export interface SearchResult {
  /** Descending by score, ties by memory id. Absent when the strategy was not requested. */
  readonly lexical?: Candidate[]
  readonly semantic?: Candidate[]
  /**
   * Memories that pass the filters and match in a strategy, regardless of `limit`; memories that match only by their
   * neighbours' terms count if they are in a window of the pool.
   */
  readonly total: number
}

/** What is ordered by the memory that it belongs to. */
interface OfMemory {
  readonly memory: Pick<Memory, 'memoryId'>
}

export function byMemoryId (a: OfMemory, b: OfMemory): number {
  return compareText(a.memory.memoryId, b.memory.memoryId)
}

/** Descending by score, ties by memory id. */
export function byScore (a: OfMemory & { score: number }, b: OfMemory & { score: number }): number {
  return b.score - a.score || byMemoryId(a, b)
}
