import type { Clock } from '../clock.js'
import { ServiceError } from '../errors.js'
import type { BankKey } from '../identity/context.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import { ReceiptTaken, type Filters, type SearchRequest, type VectorStore } from '../stores/vector-store.js'
import { analyzeQuery } from '../text/analysis.js'
import { fuse, STRATEGIES, type FusedCandidate, type Strategy, type Weights } from './fusion.js'
import { embed } from './passages.js'

/** Candidates that each strategy hands to the fusion at least; a deeper list lets one strategy's find rise by the other's. */
const FUSION_DEPTH = 100

export interface RetrievalRequest {
  query: string
  banks: readonly BankKey[]
  filters: Filters
  limit: number
  minScore?: number
  /** Ceiling of the hits' tokens together. */
  maxTokens?: number
  signal?: AbortSignal
}

export interface Retrieved {
  hits: FusedCandidate[]
  total: number
  truncated: boolean
  tokens: number
  stages: Array<{ name: string, durationMs: number }>
  strategies: Array<{ name: Strategy, weight: number, candidates: number }>
}

export interface RetrieverOptions {
  store: VectorStore
  embeddings: EmbeddingProvider
  weights: Weights
  bm25: { k1: number, b: number }
  clock: Clock
  /** Milliseconds of a clock that only rises, for durations. */
  timer: () => number
}

/** Query to hits: analyse and embed, one search call, fuse, cut to score, number and budget. */
export class Retriever {
  readonly #options: RetrieverOptions

  constructor (options: RetrieverOptions) {
    this.#options = options
  }

  async retrieve (request: RetrievalRequest): Promise<Retrieved> {
    const { store, weights, timer } = this.#options
    const stages: Retrieved['stages'] = []
    let last = timer()
    const mark = (name: string) => {
      const now = timer()
      stages.push({ name, durationMs: now - last })
      last = now
    }
    const search = await this.#plan(request)
    mark('analyze')
    const result = await guarded(() => store.search(search))
    mark('search')
    const fused = fuse(result, weights)
    mark('fuse')
    const { hits, truncated, tokens } = cut(fused, request)
    mark('budget')
    return {
      hits,
      total: result.total,
      truncated,
      tokens,
      stages,
      strategies: STRATEGIES.flatMap((name) => {
        const candidates = result[name]
        return candidates === undefined ? [] : [{ name, weight: weights[name], candidates: candidates.length }]
      }),
    }
  }

  async #plan ({ query, banks, filters, limit, signal }: RetrievalRequest): Promise<SearchRequest> {
    const { embeddings, weights, bm25, clock } = this.#options
    const both = weights.lexical > 0 && weights.semantic > 0
    // No store is asked before the model has answered, so no connection is held while one is waited for.
    const vector = weights.semantic > 0 ? (await embed(embeddings, [query], signal))[0]! : undefined
    return {
      banks,
      filters,
      now: clock(),
      limit: both ? Math.max(FUSION_DEPTH, 2 * limit) : limit,
      ...(weights.lexical > 0 && { lexical: { terms: analyzeQuery(query), ...bm25 } }),
      ...(vector !== undefined && { semantic: { vector } }),
    }
  }
}

function cut (fused: FusedCandidate[], { limit, minScore = 0, maxTokens = Infinity }: RetrievalRequest): Pick<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  const hits: FusedCandidate[] = []
  let tokens = 0
  for (const candidate of fused) {
    if (hits.length >= limit || candidate.score < minScore) break
    if (tokens + candidate.memory.tokens > maxTokens) return { hits, truncated: true, tokens }
    tokens += candidate.memory.tokens
    hits.push(candidate)
  }
  return { hits, truncated: false, tokens }
}

/** Turns a store's failure into the one error that a client sees; what the store said is only for the log. */
export async function guarded<T> (ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof ServiceError || cause instanceof ReceiptTaken) throw cause
    throw new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause })
  }
}
