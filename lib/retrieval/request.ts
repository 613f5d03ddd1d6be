import type { RowBudget } from '../concurrency/byte-budget.js'
import type { BankKey } from '../identity/context.js'
import type { Reranker } from '../models/reranker.js'
import type { Filters, LexicalRequest } from '../stores/vector-store.js'
import type { FusionMethod, Weights } from './fusion.js'
import type { RerankOptions } from './reranking.js'
import type { ScorerWeights } from './scoring/scorers.js'

/** How a recall ranks. */
export interface RetrievalSettings {
  weights: Weights
  fusion: FusionMethod
  scorers: ScorerWeights
  /** See RankingOptions. */
  diversity: number
  bm25: Omit<LexicalRequest, 'terms'>
  /**
   * How long the embedding of the query may take, in milliseconds. After that the recall proceeds without the semantic
   * strategy.
   */
  semanticTimeoutMs: number
  rerank: RerankOptions
}

/** An instant in milliseconds, and the offset of its calendar in milliseconds east of UTC. */
export interface ReferenceTime {
  instant: number
  utcOffset: number
}

export interface RetrievalRequest {
  query: string
  banks: readonly BankKey[]
  settings: RetrievalSettings
  filters: Filters
  /** What relative times of the query refer to; default now, in UTC. Expiry always follows the clock. */
  reference?: ReferenceTime | undefined
  limit: number
  minScore?: number | undefined
  /** The most tokens of all hits together. */
  maxTokens?: number | undefined
  /** Other wordings of the query; their rankings are interleaved with its own. */
  rewrites?: readonly string[] | undefined
  /** Replaces the configured reranker for this request. */
  reranker?: { reranker: Reranker, options: RerankOptions } | undefined
  /** As in TurnBudget.next. */
  caller: string
  signal?: AbortSignal | undefined
  /** Limits the bytes of rows that the store may fetch for the request. */
  budget?: RowBudget | undefined
}
