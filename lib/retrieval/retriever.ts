import type { Clock } from '../time/clock.js'
import { ServiceError } from '../errors/service-error.js'
import type { BankKey } from '../identity/context.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { Reranker } from '../models/reranker.js'
import type { Filters, LexicalRequest, SearchRequest, SearchResult, VectorStore } from '../stores/vector-store.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { sumSteps } from '../text/tokens.js'
import type { Steps } from '../concurrency/steps.js'
import { turns } from '../concurrency/turn-budget.js'
import { STRATEGIES, type ScoredCandidate, type Strategy } from './candidates.js'
import { mergeCandidates, type FusionMethod, type Weights } from './fusion.js'
import { embed } from './passages.js'
import { interleave } from './interleaving.js'
import { rankSteps } from './ranking.js'
import { rerank, type RerankOptions } from './reranking.js'
import { splitQuery } from './query-parts.js'
import { analyzeQuerySteps, type AnalyzedQuery } from './query.js'
import type { ScorerWeights } from './scoring/scorers.js'
import { SignalReader } from './scoring/signals.js'
import { Stages, type Stage } from './stages.js'
import { spanFilters } from './time-filters.js'
import { DeadlineExceeded, within } from '../concurrency/deadline.js'

/** Candidates that each strategy hands to the ranking at least; a deeper list lets one strategy's find rise by the other's. */
export const CANDIDATES = 100

/** How much longer a text may be before it pays for it, when the query asks what an assistant told: that stands in long answers. */
const ANSWER_LENGTH = 4
const NO_VECTORS: Float32Array[] = []

/** How a recall ranks. */
export interface RetrievalSettings {
  weights: Weights
  fusion: FusionMethod
  scorers: ScorerWeights
  /** See RankingOptions. */
  diversity: number
  bm25: Omit<LexicalRequest, 'terms'>
  /** How long the query's embedding may take, in milliseconds; past it the recall goes on without. */
  semanticTimeoutMs: number
  rerank: RerankOptions
}

export interface RetrievalRequest {
  query: string
  banks: readonly BankKey[]
  settings: RetrievalSettings
  filters: Filters
  /** The instant that relative times of the query are counted from, in milliseconds; default now. What exists is of the clock alone. */
  reference?: number
  limit: number
  minScore?: number
  /** Ceiling of the hits' tokens together. */
  maxTokens?: number
  /** Other wordings of the query, whose finds take turns with its own. */
  rewrites?: readonly string[]
  /** Judges this request in the place of the configured reranker. */
  reranker?: { reranker: Reranker, options: RerankOptions }
  /** Whether hits tell what each scorer added. */
  explain?: boolean
  /** As in TurnBudget.next. */
  caller: string
  signal?: AbortSignal
}

/** What a recall went without, because a model did not answer in time or at all. */
export type Degradation = 'semantic' | 'rerank'

export interface Retrieved {
  hits: readonly ScoredCandidate[]
  total: number
  truncated: boolean
  tokens: number
  degraded: readonly Degradation[]
  stages: readonly Stage[]
  strategies: ReadonlyArray<{ name: Strategy, weight: number, candidates: number }>
}

/** A ranking before it is cut. */
export interface Ranked extends Omit<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  /** Falling score. */
  candidates: readonly ScoredCandidate[]
}

/** What the stages of one recall gave, for whoever explains it. */
export interface RecallObservation {
  query: AnalyzedQuery
  /** What the store was asked for the query itself. */
  search: SearchRequest
  /** What it found for that, by strategy. */
  result: SearchResult
  /** The queries that the query was split into, each with its own ranking; none for a query that is one query. */
  parts: ReadonlyArray<{ text: string, candidates: readonly ScoredCandidate[] }>
  /** The candidates as they were before the reranker judged them. */
  scored: readonly ScoredCandidate[]
}

export interface RetrieverOptions {
  store: VectorStore
  embeddings: EmbeddingProvider
  reranker?: Reranker
  clock: Clock
  /** Milliseconds of a clock that only rises, for durations. */
  timer: () => number
  telemetry: Telemetry
}

/**
 * A recall, stage by stage: the query is analysed and embedded, the store is searched, what it found is merged and ranked, the best are
 * reranked, and the list is cut to the hits. Each stage makes a new value of the one before it.
 */
export class Retriever {
  readonly #options: RetrieverOptions
  readonly #signals = new SignalReader()

  constructor (options: RetrieverOptions) {
    this.#options = options
  }

  async retrieve (request: RetrievalRequest): Promise<Retrieved> {
    const { timer, telemetry } = this.#options
    const { candidates, stages: ranking, ...ranked } = await this.rank(request)
    const stages = new Stages(timer, telemetry, ranking)
    const { hits, truncated, tokens } = await stages.compute('budget', cutSteps(candidates, request), request.caller)
    return { ...ranked, hits, truncated, tokens, stages: stages.done }
  }

  /**
   * All candidates in their order.
   * @param observe is told once what the stages gave; nothing is made for it when it is absent
   */
  async rank (request: RetrievalRequest, observe?: (observation: RecallObservation) => void): Promise<Ranked> {
    const { timer, telemetry, clock } = this.#options
    const { caller, settings } = request
    const stages = new Stages(timer, telemetry)
    const now = clock()
    const queries = await stages.compute('analyze', analyzeSteps(request, now), caller)
    const vectors = settings.weights.semantic === 0 ? NO_VECTORS : await stages.wait('embed', async () => await this.#embed(queries, request))
    const searches = queries.map((query, index) => searchFor(request, query, now, vectors?.[index]))
    const results = await stages.wait('search', async () => await this.#search(searches, queries, request))
    const { rankings, candidates: scored } = await stages.compute('rank', this.#rankSteps(queries, results, request), caller)
    const reranking = this.#rerankerOf(request)
    const reranked = reranking === undefined ? scored : await stages.wait('rerank', async () => await this.#rerank(reranking, request, scored))
    const [query, ...parts] = queries
    const result = results[0]![0]!
    observe?.({ query, search: searches[0]!, result, parts: parts.map(({ text }, index) => ({ text, candidates: rankings[index + 1]! })), scored })
    return {
      candidates: reranked ?? scored,
      total: result.total,
      degraded: [...(vectors === undefined ? ['semantic' as const] : []), ...(reranked === undefined ? ['rerank' as const] : [])],
      stages: stages.done,
      strategies: STRATEGIES.flatMap((name) => {
        const found = result[name]
        return found === undefined ? [] : [{ name, weight: settings.weights[name], candidates: found.length }]
      }),
    }
  }

  /** @returns undefined when the vectors could not be had */
  async #embed (queries: readonly AnalyzedQuery[], { signal, settings: { weights, semanticTimeoutMs } }: RetrievalRequest): Promise<Float32Array[] | undefined> {
    const texts = queries.map(({ text }) => text)
    try {
      return await within(semanticTimeoutMs, signal, async (signal) => await embed(this.#options.embeddings, texts, { signal, purpose: 'query' }))
    } catch (error) {
      if (signal?.aborted !== true && weights.lexical > 0) return undefined
      throw error instanceof DeadlineExceeded ? new ServiceError('dependency_unavailable', 'The embedding provider is unavailable', { cause: error }) : error
    }
  }

  /** @returns for each query the result of its own search, then those of the searches within the times that it names */
  async #search (searches: readonly SearchRequest[], queries: readonly AnalyzedQuery[], { caller }: RetrievalRequest): Promise<SearchResult[][]> {
    const { store } = this.#options
    const results: SearchResult[][] = []
    for (const [index, search] of searches.entries()) {
      // A store in memory answers at once: between the parts of a query others have their turn.
      if (index > 0 || turns.isSpent) await turns.next(caller)
      const all = [search, ...spanFilters(search.filters, queries[index]!.spans).map((filters) => ({ ...search, filters, limit: CANDIDATES / 2 }))]
      results.push(await Promise.all(all.map(async (one) => await store.search(one))))
    }
    return results
  }

  * #rankSteps (queries: readonly AnalyzedQuery[], results: readonly SearchResult[][], { settings, explain = false, rewrites = [], minScore }: RetrievalRequest): Steps<{ rankings: ScoredCandidate[][], candidates: readonly ScoredCandidate[] }> {
    const rankings: ScoredCandidate[][] = []
    for (const [index, query] of queries.entries()) {
      if (index > 0) yield
      rankings.push(yield * rankSteps(mergeCandidates(results[index]!), query, this.#signals, { ...settings, explain }))
    }
    if (queries.length > 1) yield
    // The query in its own words has its turn among the others.
    const lists = rewrites.length > 0 ? [rankings[0]!, ...rankings] : rankings
    return { rankings, candidates: interleave(lists, minScore) }
  }

  #rerankerOf ({ reranker: own, settings }: RetrievalRequest): RetrievalRequest['reranker'] {
    const { reranker } = this.#options
    return own ?? (reranker === undefined ? undefined : { reranker, options: settings.rerank })
  }

  /** @returns undefined when the reranker failed or was late */
  async #rerank ({ reranker, options }: NonNullable<RetrievalRequest['reranker']>, { query, signal }: RetrievalRequest, candidates: readonly ScoredCandidate[]): Promise<ScoredCandidate[] | undefined> {
    try {
      return await rerank(reranker, query, candidates, options, signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      return undefined
    }
  }
}

/** The query, the queries that it consists of, and its other wordings, in this order. */
function * analyzeSteps ({ query, rewrites = [], reference }: RetrievalRequest, now: number): Steps<[AnalyzedQuery, ...AnalyzedQuery[]]> {
  const queries: [AnalyzedQuery, ...AnalyzedQuery[]] = [yield * analyzeQuerySteps(query, reference ?? now)]
  for (const text of [...splitQuery(query), ...rewrites]) queries.push(yield * analyzeQuerySteps(text, reference ?? now))
  return queries
}

/** @param vector the query's; absent when the semantic strategy is off or its vectors could not be had */
function searchFor ({ banks, filters, limit, settings: { weights, bm25 } }: RetrievalRequest, { asksTold, terms }: AnalyzedQuery, now: number, vector: Float32Array | undefined): SearchRequest {
  const length = asksTold && 'pivot' in bm25.length ? { pivot: bm25.length.pivot * ANSWER_LENGTH } : bm25.length
  return {
    banks,
    filters,
    now,
    limit: Math.max(CANDIDATES, limit),
    ...(weights.lexical > 0 && { lexical: { terms, ...bm25, length } }),
    ...(vector !== undefined && { semantic: { vector } }),
  }
}

/** cut, when the tokens that it goes by are counted. */
function * cutSteps (candidates: readonly ScoredCandidate[], request: RetrievalRequest): Steps<ReturnType<typeof cut>> {
  yield * sumSteps(candidates.slice(0, request.limit).map(({ memory }) => memory.tokens), request.maxTokens)
  return cut(candidates, request)
}

/** @returns the first of the candidates that pass the bounds of the request */
export function cut (candidates: readonly ScoredCandidate[], { limit, minScore = 0, maxTokens = Infinity }: Pick<RetrievalRequest, 'limit' | 'minScore' | 'maxTokens'>): Pick<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  const hits: ScoredCandidate[] = []
  let tokens = 0
  for (const candidate of candidates) {
    if (hits.length >= limit || candidate.score < minScore) break
    const { value } = candidate.memory.tokens
    if (tokens + value > maxTokens) return { hits, truncated: true, tokens }
    tokens += value
    hits.push(candidate)
  }
  return { hits, truncated: false, tokens }
}
