import type { BankKey } from '../access/context.js'
import type { Clock } from '../base/clock.js'
import { DeadlineExceeded, withTimeLimit } from '../base/deadline.js'
import { mapGivingWay } from '../base/event-loop.js'
import { ServiceError } from '../base/service-error.js'
import type { Telemetry } from '../base/telemetry.js'
import { traced } from '../base/tracing.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { Reranker } from '../models/reranker.js'
import type { Filters, LexicalRequest, SearchRequest, SearchResult, VectorStore } from '../stores/vector-store.js'
import { sumTokens } from '../text/tokens.js'
import {
  finalScore, mergeCandidates, STRATEGIES, type QueryResults, type RankedCandidate, type RetrievedHit, type Strategy,
} from './candidates.js'
import { embed } from './passages.js'
import { analyzeQueries, type AnalyzedQuery } from './query.js'
import {
  interleave, rankQuery, rerank, scorersForQuery, weightsForQuery, type QueryRanking, type RankingOptions,
  type RerankOptions,
} from './ranking.js'
import { SignalReader } from './scoring/signals.js'
import { searchAll, searchFor } from './search.js'

/** How a recall searches and ranks. */
export interface RetrievalSettings extends Omit<RankingOptions, 'minScore'> {
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
  /** Those of another search for the same query, which are not computed again. */
  readonly vectors?: readonly Float32Array[] | undefined
  /** Replaces the configured reranker for this request. */
  readonly reranker?: { readonly reranker: Reranker, readonly options: RerankOptions } | undefined
  readonly signal?: AbortSignal | undefined
}

interface Stage {
  readonly name: string
  /** When it began, by the timer. */
  readonly startedAt: number
  readonly durationMs: number
}

const NO_VECTORS: Float32Array[] = []

/** A stage that a recall skipped because its model failed or was late. */
type Degradation = 'semantic' | 'rerank'

export interface Retrieved {
  readonly hits: readonly RetrievedHit[]
  readonly total: number
  readonly truncated: boolean
  readonly tokens: number
  readonly degraded: readonly Degradation[]
  readonly stages: readonly Stage[]
  readonly strategies: ReadonlyArray<Readonly<{ name: Strategy, weight: number, candidates: number }>>
  /** Of the query and its parts; undefined when the embedding failed or was late. */
  readonly vectors: readonly Float32Array[] | undefined
}

/** A ranking before it is cut. */
export interface Ranked extends Omit<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  /** By descending final score. */
  readonly candidates: readonly RankedCandidate[]
}

/** The values between the stages of one recall, for its explanation. */
export interface RecallObservation {
  readonly query: AnalyzedQuery
  /** The search of the query itself. */
  readonly search: Readonly<SearchRequest>
  /** The candidates of that search, by strategy. */
  readonly result: Readonly<SearchResult>
  /** The ranking of the query, then those of its parts and of its other wordings, which are interleaved. */
  readonly rankings: readonly QueryRanking[]
  /** The candidates before reranking. */
  readonly ranked: readonly RankedCandidate[]
}

type ObserveRecall = (observation: RecallObservation) => void

interface RetrieverOptions {
  readonly store: VectorStore
  readonly embeddings: EmbeddingProvider
  readonly reranker?: Reranker | undefined
  readonly clock: Clock
  /** A monotonic clock in milliseconds, for durations. */
  readonly timer: () => number
  readonly telemetry: Telemetry
}

/**
 * A recall is a pipeline of stages, each of which makes a new value from the previous one. Each score has its own name:
 *
 * | Stage | Makes | Score |
 * |---|---|---|
 * | analyzeQueries | AnalyzedQuery, for each part too | |
 * | #embed | vectors | |
 * | searchAll | SearchResult | `score` of a strategy |
 * | mergeCandidates | MergedCandidate | `scores` of all strategies |
 * | rankQuery | QueryRanking | `fusionScores` → `sums` → `scores` |
 * | interleave | RankedCandidate | `rankScore` |
 * | rerank | RankedCandidate | `rerankScore` |
 * | truncate | RetrievedHit | `score`, of the last stage that ran |
 */
export class Retriever {
  readonly #options: RetrieverOptions
  readonly #signals = new SignalReader()

  constructor (options: RetrieverOptions) {
    this.#options = options
  }

  /**
   * Ranks all candidates and cuts the list to the hits.
   * @param observe as in `rank`
   */
  async retrieve (request: RetrievalRequest, observe?: ObserveRecall): Promise<Retrieved> {
    const { candidates, stages: ranking, ...ranked } = await this.rank(request, observe)
    const stages = [...ranking]
    const cut = await this.#run(stages, 'budget', async () => {
      await sumTokens(candidates.slice(0, request.limit).map(({ memory }) => memory.tokens), request.maxTokens)
      return truncate(candidates, request)
    })
    return { ...ranked, ...cut, stages }
  }

  /**
   * Ranks all candidates, without cutting the list.
   * @param observe receives the values of the stages once; without it they are not collected
   */
  async rank (request: RetrievalRequest, observe?: ObserveRecall): Promise<Ranked> {
    const { store, clock, reranker: configured } = this.#options
    const { query, settings, signal, minScore } = request
    const stages: Stage[] = []
    const now = clock()
    const queries = await this.#run(stages, 'analyze', () => analyzeQueries(request, now))
    const vectors = settings.weights.semantic === 0
      ? NO_VECTORS
      : request.vectors ?? await this.#run(stages, 'embed', async () => await this.#embed(queries, request))
    const searches = queries.map((query, index) => searchFor(request, query, now, vectors?.[index]))
    const results = await this.#run(stages, 'search', async () => await searchAll(store, searches, queries, settings))
    const { rankings, ranked } = await this.#run(stages, 'rank', async () => {
      const rankings = await this.#rankQueries(queries, results, request, observe !== undefined)
      return { rankings, ranked: interleave(rankings, minScore) }
    })
    const reranking = request.reranker ?? (configured && { reranker: configured, options: settings.rerank })
    const reranked = reranking === undefined
      ? ranked
      : await this.#run(stages, 'rerank', async () => (
        await rerank(reranking.reranker, query, ranked, reranking.options, signal).catch((error: unknown) => {
          if (signal?.aborted === true) throw error
          return undefined
        })
      ))
    const [result] = results[0]!
    observe?.({ query: queries[0], search: searches[0]!, result, rankings, ranked })
    const strategies: Array<Ranked['strategies'][number]> = []
    for (const name of STRATEGIES) {
      const found = result[name]
      if (found !== undefined) strategies.push({ name, weight: rankings[0]!.weights[name], candidates: found.length })
    }
    const degraded: Degradation[] = []
    if (vectors === undefined) degraded.push('semantic')
    if (reranked === undefined) degraded.push('rerank')
    const total = Math.max(result.total, ranked.length)
    return { candidates: reranked ?? ranked, total, degraded, stages, strategies, vectors }
  }

  /** Runs a stage, which is timed, reported to telemetry and has its own span `recall.<name>`. */
  async #run<T> (done: Stage[], name: string, work: () => T | Promise<T>): Promise<T> {
    const { timer, telemetry } = this.#options
    const startedAt = timer()
    try {
      return await traced(`recall.${name}`, {}, async () => await work())
    } finally {
      const durationMs = timer() - startedAt
      done.push({ name, startedAt, durationMs })
      telemetry.stage(name, durationMs)
    }
  }

  /** @returns undefined when the provider failed or was late and the lexical strategy can answer alone */
  async #embed (
    queries: readonly AnalyzedQuery[], { signal, settings: { weights, semanticTimeoutMs } }: RetrievalRequest,
  ): Promise<Float32Array[] | undefined> {
    const texts = queries.map(({ text }) => text)
    try {
      return await withTimeLimit(semanticTimeoutMs, signal, async (signal) => (
        await embed(this.#options.embeddings, texts, { signal, purpose: 'query' })
      ))
    } catch (error) {
      if (signal?.aborted !== true && weights.lexical > 0) return undefined
      throw error instanceof DeadlineExceeded
        ? new ServiceError('dependency_unavailable', 'The embedding provider is unavailable', { cause: error })
        : error
    }
  }

  async #rankQueries (
    queries: readonly AnalyzedQuery[], results: readonly QueryResults[],
    { settings: { weights, scorers, fusion, diversity }, minScore }: RetrievalRequest, isObserved: boolean,
  ): Promise<QueryRanking[]> {
    const rankings: QueryRanking[] = []
    for (const [index, query] of queries.entries()) {
      const merged = mergeCandidates(results[index]!, isObserved || fusion === 'rrf')
      const signals = await mapGivingWay(merged, ({ memory }) => this.#signals.read(memory))
      rankings.push(rankQuery(merged, query, signals, {
        weights: weightsForQuery(weights, query), scorers: scorersForQuery(scorers, query), fusion, diversity, minScore,
      }))
    }
    return rankings
  }
}

/** Takes the first candidates that are within the bounds of the request. `truncated` tells that `maxTokens` cut it. */
export function truncate (
  candidates: readonly RankedCandidate[],
  { limit, minScore, sufficientCosine = Infinity, maxTokens = Infinity }:
  Pick<RetrievalRequest, 'limit' | 'minScore' | 'sufficientCosine' | 'maxTokens'>,
): Pick<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  const hits: RetrievedHit[] = []
  let tokens = 0
  for (const candidate of candidates) {
    const score = finalScore(candidate)
    const { bank, memory, passageCount, passages, similarity, ranking, rerank } = candidate
    if (hits.length >= limit || (score < minScore && (similarity ?? -1) < sufficientCosine)) break
    const { value } = memory.tokens
    if (tokens + value > maxTokens) return { hits, truncated: true, tokens }
    tokens += value
    hits.push({ bank, memory, passageCount, passages, similarity, score, ranking, rerank })
  }
  return { hits, truncated: false, tokens }
}
