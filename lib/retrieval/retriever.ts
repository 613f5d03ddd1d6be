import { DeadlineExceeded, withTimeLimit } from '../concurrency/deadline.js'
import { giveWay, isDue } from '../concurrency/event-loop.js'
import { ServiceError } from '../errors/service-error.js'
import type { BankKey } from '../identity/context.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { Reranker } from '../models/reranker.js'
import type { Filters, LexicalRequest, SearchRequest, SearchResult, VectorStore } from '../stores/vector-store.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { traced } from '../telemetry/tracing.js'
import { sumTokens } from '../text/tokens.js'
import type { Clock } from '../time/clock.js'
import {
  STRATEGIES, mergeCandidates, finalScore, type FusionMethod, type Weights, type OrderedCandidate, type RankedCandidate,
  type RerankedCandidate, type RetrievedHit, type Strategy, type QueryResults,
} from './candidates.js'
import { embed } from './passages.js'
import { analyzeQueries, type AnalyzedQuery } from './query.js'
import {
  interleave, rankQuery, rerank, type RerankOptions, type QueryRanking, type RankingObservation,
} from './ranking.js'
import { readSignals, type ScorerWeights } from './scoring/scorers.js'
import { SignalReader } from './scoring/signals.js'
import {
  memoriesOfPeriods, scorersForQuery, spanFilters, weightsForQuery, MIN_CANDIDATES, searchFor,
} from './search.js'

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

interface Stage {
  readonly name: string
  /** When it began, by the timer. */
  readonly startedAt: number
  readonly durationMs: number
}

/** Runs the stages of one recall. Each is timed, reported to telemetry, and has its own span `recall.<name>`. */
class Stages {
  /** In the order in which they ended. */
  readonly done: Stage[]
  readonly #timer: () => number
  readonly #telemetry: Pick<Telemetry, 'stage'>

  /** @param done earlier stages of the same recall */
  constructor (timer: () => number, telemetry: Pick<Telemetry, 'stage'>, done: readonly Stage[] = []) {
    this.#timer = timer
    this.#telemetry = telemetry
    this.done = [...done]
  }

  async run<T> (name: string, work: () => T | Promise<T>): Promise<T> {
    const startedAt = this.#timer()
    try {
      return await traced(`recall.${name}`, {}, async () => await work())
    } finally {
      this.#end(name, startedAt)
    }
  }

  #end (name: string, startedAt: number): void {
    const durationMs = this.#timer() - startedAt
    this.done.push({ name, startedAt, durationMs })
    this.#telemetry.stage(name, durationMs)
  }
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
}

/** A ranking before it is cut. */
export interface Ranked extends Omit<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  /** By descending final score. */
  readonly candidates: readonly OrderedCandidate[]
}

/** The values between the stages of one recall, for its explanation. */
export interface RecallObservation {
  readonly query: AnalyzedQuery
  /** The search of the query itself. */
  readonly search: Readonly<SearchRequest>
  /** The candidates of that search, by strategy. */
  readonly result: Readonly<SearchResult>
  /** The ranking of the query, then those of its parts and of its other wordings, which are interleaved. */
  readonly rankings: readonly RankingObservation[]
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
 * | #search | SearchResult | `score` of a strategy |
 * | mergeCandidates | MergedCandidate | `scores` of all strategies |
 * | rankQuery | QueryRanking | `fusionScores` → `sums` → `scores` |
 * | interleave | RankedCandidate | `rankScore` |
 * | #rerank | RerankedCandidate | `rerankScore` |
 * | truncateRanking | RetrievedHit | `score`, of the last stage that ran |
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
    const { timer, telemetry } = this.#options
    const { candidates, total, degraded, strategies, stages: ranking } = await this.rank(request, observe)
    const stages = new Stages(timer, telemetry, ranking)
    const { hits, truncated, tokens } = await stages.run('budget', async () => (
      await truncateRanking(candidates, request)
    ))
    return { hits, total, truncated, tokens, degraded, strategies, stages: stages.done }
  }

  /**
   * Ranks all candidates, without cutting the list.
   * @param observe receives the values of the stages once; without it they are not collected
   */
  async rank (request: RetrievalRequest, observe?: ObserveRecall): Promise<Ranked> {
    const { timer, telemetry, clock } = this.#options
    const { settings } = request
    const stages = new Stages(timer, telemetry)
    const now = clock()
    const queries = await stages.run('analyze', () => analyzeQueries(request, now))
    const vectors = settings.weights.semantic === 0
      ? NO_VECTORS
      : await stages.run('embed', async () => await this.#embed(queries, request))
    const searches = queries.map((query, index) => searchFor(request, query, now, vectors?.[index]))
    const results = await stages.run('search', async () => await this.#search(searches, queries, request))
    const weights = queries.map((query) => weightsForQuery(settings.weights, query))
    const rankings: RankingObservation[] | undefined = observe && []
    const ranked = await stages.run('rank', async () => (
      await this.#rankQueries(queries, weights, results, request, rankings)
    ))
    const reranking = this.#rerankerOf(request)
    const reranked = reranking === undefined
      ? ranked
      : await stages.run('rerank', async () => await this.#rerank(reranking, request, ranked))
    const [result] = results[0]!
    if (rankings !== undefined) observe?.({ query: queries[0], search: searches[0]!, result, rankings, ranked })
    const strategies: Array<Ranked['strategies'][number]> = []
    for (const name of STRATEGIES) {
      const found = result[name]
      if (found !== undefined) strategies.push({ name, weight: weights[0]![name], candidates: found.length })
    }
    const degraded: Degradation[] = []
    if (vectors === undefined) degraded.push('semantic')
    if (reranked === undefined) degraded.push('rerank')
    return {
      candidates: reranked ?? ranked,
      total: Math.max(result.total, ranked.length),
      degraded,
      stages: stages.done,
      strategies,
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

  /**
   * @returns the results of each query: those of its searches, and then the memories of the times that it names if it
   *   asks for nothing else
   */
  async #search (
    searches: readonly SearchRequest[], queries: readonly AnalyzedQuery[], { settings }: RetrievalRequest,
  ): Promise<QueryResults[]> {
    const { store } = this.#options
    const results: QueryResults[] = []
    for (const [index, search] of searches.entries()) {
      // The in-memory store answers without waiting, so the event loop is yielded between the parts of a query.
      if (isDue()) await giveWay()
      const { namedPeriods, soughtPeriods } = queries[index]!
      const found = await Promise.all([
        store.search(search),
        ...spanFilters(search.filters, namedPeriods).map(async (filters) => (
          await store.search({ ...search, filters, limit: MIN_CANDIDATES / 2 })
        )),
      ])
      // No strategy finds memories by the time at which they were retained.
      if (soughtPeriods.length > 0 && settings.scorers.date > 0) {
        const lexical = await memoriesOfPeriods(store, search, soughtPeriods)
        found.push({ lexical, total: lexical.length })
      }
      results.push(found)
    }
    return results
  }

  async #rankQueries (
    queries: readonly AnalyzedQuery[], weights: readonly Weights[], results: readonly QueryResults[],
    { settings, minScore }: RetrievalRequest, observed: RankingObservation[] | undefined,
  ): Promise<RankedCandidate[]> {
    const { fusion, diversity } = settings
    const rankings: QueryRanking[] = []
    for (const [index, query] of queries.entries()) {
      const scorers = scorersForQuery(settings.scorers, query)
      const merged = mergeCandidates(results[index]!, observed !== undefined || fusion === 'rrf')
      const options = { weights: weights[index]!, fusion, scorers, diversity, minScore }
      const observe = observed && ((ranking: RankingObservation) => { observed.push(ranking) })
      rankings.push(rankQuery(merged, query, await readSignals(merged, this.#signals), options, observe))
    }
    return interleave(rankings, minScore)
  }

  #rerankerOf ({ reranker: own, settings }: RetrievalRequest): RetrievalRequest['reranker'] {
    const { reranker } = this.#options
    return own ?? (reranker === undefined ? undefined : { reranker, options: settings.rerank })
  }

  /** @returns undefined when the reranker fails or is late */
  async #rerank (
    { reranker, options }: NonNullable<RetrievalRequest['reranker']>, { query, signal }: RetrievalRequest,
    candidates: readonly RankedCandidate[],
  ): Promise<RerankedCandidate[] | undefined> {
    try {
      return await rerank(reranker, query, candidates, options, signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      return undefined
    }
  }
}

/** The bounds that cut a ranking to the hits. */
interface TruncationBounds {
  readonly limit: number
  readonly minScore: number
  /** A candidate with at least this cosine need not reach `minScore`. */
  readonly sufficientCosine?: number | undefined
  /** The most tokens of all hits together. */
  readonly maxTokens?: number | undefined
}

interface TruncatedRanking {
  readonly hits: readonly RetrievedHit[]
  /** Whether `maxTokens` ended the list. */
  readonly truncated: boolean
  readonly tokens: number
}

/** Counts the tokens that `truncate` needs, then truncates. */
async function truncateRanking (
  candidates: readonly OrderedCandidate[], bounds: TruncationBounds,
): Promise<TruncatedRanking> {
  await sumTokens(candidates.slice(0, bounds.limit).map(({ memory }) => memory.tokens), bounds.maxTokens)
  return truncate(candidates, bounds)
}

/** Takes the first candidates that are within the bounds of the request. */
export function truncate (
  candidates: readonly OrderedCandidate[],
  { limit, minScore, sufficientCosine = Infinity, maxTokens = Infinity }: TruncationBounds,
): TruncatedRanking {
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
