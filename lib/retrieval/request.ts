import type { BankKey } from '../identity/context.js'
import type { Reranker } from '../models/reranker.js'
import type { Filters, LexicalRequest } from '../stores/vector-store.js'
import type { FusionMethod, Weights } from './fusion.js'
import type { RerankOptions } from './reranking.js'
import type { ScorerWeights } from './scoring/scorers.js'

/** How a recall ranks. */
export interface RetrievalSettings {
  readonly weights: Weights
  readonly fusion: FusionMethod
  readonly scorers: ScorerWeights
  /** See RankingOptions. */
  readonly diversity: number
  readonly bm25: Readonly<Omit<LexicalRequest, 'terms'>>
  /**
   * How long the embedding of the query may take, in milliseconds. After that the recall proceeds without the semantic
   * strategy.
   */
  readonly semanticTimeoutMs: number
  readonly rerank: RerankOptions
}

/** An instant in milliseconds, and the offset of its calendar in milliseconds east of UTC. */
export interface ReferenceTime {
  readonly instant: number
  readonly utcOffset: number
}

export interface RetrievalRequest {
  readonly query: string
  readonly banks: readonly BankKey[]
  readonly settings: RetrievalSettings
  readonly filters: Readonly<Filters>
  /** What relative times of the query refer to; default now, in UTC. Expiry always follows the clock. */
  readonly reference?: ReferenceTime | undefined
  readonly limit: number
  /** Hits with a lower score are left out. */
  readonly minScore: number
  /** A hit with at least this cosine need not reach `minScore`. */
  readonly sufficientCosine?: number | undefined
  /** The most tokens of all hits together. */
  readonly maxTokens?: number | undefined
  /** Other wordings of the query; their rankings are interleaved with its own. */
  readonly rewrites?: readonly string[] | undefined
  /** Replaces the configured reranker for this request. */
  readonly reranker?: { readonly reranker: Reranker, readonly options: RerankOptions } | undefined
  readonly signal?: AbortSignal | undefined
}
