import type { RowBudget } from '../concurrency/byte-budget.js'
import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { Memory, Metadata } from './records.js'

/** What a memory must satisfy. All conditions hold together; an absent one holds always. */
export interface Filters {
  /**
   * exact: the memory has these tags and no other, none at all for no values. A memory without tags matches no other
   * tag filter, unless `orUntagged` lets it through.
   */
  tags?: { values: readonly string[], match: 'any' | 'all' | 'exact', orUntagged?: boolean }
  /** Every listed key is there with an equal value. */
  metadata?: Readonly<Metadata>
  /** The key has one of these texts, or none of them, which a memory without the key passes too. */
  metadataText?: { key: string, is: 'one of' | 'none of', values: readonly string[] }
  /** The memory belongs to one of these documents. */
  documentIds?: readonly string[]
  /** Inclusive. A memory without `occurredAt` never matches an occurred bound. */
  occurredAfter?: number
  /** Exclusive. */
  occurredBefore?: number
  /** Inclusive bound on `retainedAt`. */
  asOf?: number
  /** Inclusive lower bound on `trust`; `suspect` lets all through. */
  minTrust?: Trust
}

/** The lexical strategy as a search asks for it; lib/stores/context.ts tells what comes of it. */
export interface LexicalRequest {
  /** Distinct. */
  terms: readonly string[]
  /** How soon more of the same term stops counting, >= 0. */
  k1: number
  /**
   * What a passage pays for its length. pivot: nothing up to so many terms, in proportion above it. b: of its length
   * beside the bank's average, 0 (nothing) to 1 (in proportion).
   */
  length: { pivot: number } | { b: number }
  /** Whether memories are found by the words of their neighbours in the document too. */
  context: boolean
}

export interface SearchRequest {
  /** At least one; candidates of all banks compete in one ranking. */
  banks: readonly BankKey[]
  /** Memories that have expired by then are gone. */
  now: number
  filters: Filters
  /** Absent: not asked for. */
  lexical?: LexicalRequest
  /** The semantic strategy: the query's embedding. Absent: not asked for. */
  semantic?: { vector: Float32Array } | undefined
  /** Candidates that each strategy returns at most, over all banks. */
  limit: number
  /** Asked by a store whose memories are copies, before they are made. Absent: nothing is counted. */
  budget?: RowBudget | undefined
}

/** How a memory answers a query, by its best passage; each within 0–1. */
export interface CandidateScores {
  /**
   * The share of the best BM25 score that the query could reach in the bank, by the words of the memory and of its
   * neighbours; 0 when none is a query term.
   */
  lexical?: number
  /** The same by the memory's own words alone, at most `lexical`; equal to it without `context`. */
  own?: number
  /** The cosine, negative ones as 0. Absent for a memory without vectors. */
  semantic?: number
}

export interface Candidate {
  bank: BankKey
  memory: Memory
  /** Of the strategy that found it: `scores.lexical` or `scores.semantic`. */
  score: number
  /** By every strategy that was asked for, also one that did not have it among its best. */
  scores: CandidateScores
  /** The memory's number of passages. */
  passageCount: number
  /**
   * The passages that matched, best first, ties in order; at most three. Of a lexical find each with its own score; of
   * one that only its neighbours' words found, its first with the lexical score of the memory.
   */
  passages: ReadonlyArray<{ start: number, end: number, score: number }>
}

export interface SearchResult {
  /** Falling score, ties by memory id. Absent when the strategy was not asked for. */
  lexical?: Candidate[]
  semantic?: Candidate[]
  /**
   * Memories that pass the filters and that a strategy finds, whatever `limit` is; of those that only neighbours find,
   * the ones in a window of the pool.
   */
  total: number
}
