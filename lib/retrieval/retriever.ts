import type { RowBudget } from '../byte-budget.js'
import type { Clock } from '../clock.js'
import { ServiceError } from '../errors.js'
import type { BankKey } from '../identity/context.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { Reranker } from '../models/reranker.js'
import { Outranked, ReceiptTaken, type Filters, type LexicalRequest, type SearchRequest, type SearchResult, type VectorStore } from '../stores/vector-store.js'
import type { Telemetry } from '../telemetry.js'
import { sumSteps } from '../text/tokens.js'
import type { Steps } from '../steps.js'
import { turns } from '../turn-budget.js'
import { fuse, STRATEGIES, unite, type FusedCandidate, type FusionMethod, type Strategy, type Weights } from './fusion.js'
import { embed } from './passages.js'
import { interleave } from './interleaving.js'
import { rankSteps } from './ranking.js'
import { rerank, type RerankOptions } from './reranking.js'
import { questionParts } from './scoring/parts.js'
import { questionSteps, type Question } from './scoring/question.js'
import type { ScorerWeights } from './scoring/scorers.js'
import { SignalReader } from './scoring/signals.js'
import { Stages, type Stage } from './stages.js'
import { spanFilters } from './time-search.js'
import { DeadlineExceeded, within } from '../deadline.js'

/** Candidates that each strategy hands to the ranking at least; a deeper list lets one strategy's find rise by the other's. */
export const CANDIDATES = 100

/** How much longer a text may be before it pays for it, when the query asks what an assistant told: that stands in long answers. */
const ANSWER_LENGTH = 4

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
  /** What the store may bring into the process for it. */
  budget?: RowBudget | undefined
}

/** What a recall went without, because a model did not answer in time or at all. */
export type Degradation = 'semantic' | 'rerank'

export interface Retrieved {
  hits: FusedCandidate[]
  total: number
  truncated: boolean
  tokens: number
  degraded: Degradation[]
  stages: Stage[]
  strategies: Array<{ name: Strategy, weight: number, candidates: number }>
}

/** A ranking before it is cut. */
export interface Ranked extends Omit<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  question: Question
  /** What the store was asked for the question itself. */
  search: SearchRequest
  /** Falling score. */
  candidates: FusedCandidate[]
  /** The same as they were before the reranker judged them. */
  scored: readonly FusedCandidate[]
  /** The questions that this one was split into, each with its own ranking; none for a question that is one. */
  parts: ReadonlyArray<{ text: string, candidates: readonly FusedCandidate[] }>
  /** The finds of the question itself, by strategy. */
  result: SearchResult
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

/** Query to hits: analyse and embed, search, fuse and judge, rerank, cut to score, number and budget. */
export class Retriever {
  readonly #options: RetrieverOptions
  readonly #signals = new SignalReader()

  constructor (options: RetrieverOptions) {
    this.#options = options
  }

  async retrieve (request: RetrievalRequest): Promise<Retrieved> {
    const { timer, telemetry } = this.#options
    const { candidates, total, degraded, stages: ranking, strategies } = await this.rank(request)
    const stages = new Stages(timer, telemetry, ranking)
    const { hits, truncated, tokens } = await stages.compute('budget', cutSteps(candidates, request), request.caller)
    return { hits, truncated, tokens, total, degraded, strategies, stages: stages.done }
  }

  /** What the strategies alone make of candidates, in the order of these. */
  fused (candidates: readonly FusedCandidate[], { weights, fusion }: RetrievalSettings): number[] {
    return fuse(candidates, weights, fusion)
  }

  /** All candidates in their order. */
  async rank (request: RetrievalRequest): Promise<Ranked> {
    const { timer, telemetry, clock } = this.#options
    const { rewrites = [], settings, caller } = request
    const { weights } = settings
    const stages = new Stages(timer, telemetry)
    const degraded: Degradation[] = []
    const now = clock()
    const questions = await stages.compute('analyze', readAll([request.query, ...questionParts(request.query), ...rewrites], request.reference ?? now), caller)
    const [question, ...parts] = questions
    const vectors = weights.semantic === 0 ? undefined : await stages.wait('embed', async () => await this.#embedQueries(questions.map(({ text }) => text), request, degraded))
    const results = await stages.wait('search', async () => {
      const found: SearchResult[][] = []
      for (const [index, one] of questions.entries()) {
        // A store in memory answers at once: between the parts of a question others have their turn.
        if (index > 0 || turns.isSpent) await turns.next(caller)
        found.push(await guarded(async () => await this.#search(request, one, now, vectors?.[index])))
      }
      return found
    })
    const { rankings, candidates } = await stages.compute('rank', this.#rankSteps(questions, results, request), caller)
    const judge = request.reranker ?? (this.#options.reranker === undefined ? undefined : { reranker: this.#options.reranker, options: settings.rerank })
    const reranked = judge === undefined ? candidates : await stages.wait('rerank', async () => await this.#rerank(judge, request, candidates, degraded))
    const result = results[0]![0]!
    return {
      question,
      search: this.#searchFor(request, question, now, vectors?.[0]),
      candidates: reranked,
      scored: candidates,
      parts: parts.map(({ text }, index) => ({ text, candidates: rankings[index + 1]! })),
      result,
      total: result.total,
      degraded,
      stages: stages.done,
      strategies: STRATEGIES.flatMap((name) => {
        const found = result[name]
        return found === undefined ? [] : [{ name, weight: weights[name], candidates: found.length }]
      }),
    }
  }

  /** @returns undefined when they could not be had */
  async #embedQueries (texts: readonly string[], { signal, settings: { weights, semanticTimeoutMs } }: RetrievalRequest, degraded: Degradation[]): Promise<Float32Array[] | undefined> {
    const { embeddings } = this.#options
    try {
      return await within(semanticTimeoutMs, signal, async (signal) => await embed(embeddings, texts, { signal, purpose: 'query' }))
    } catch (error) {
      if (signal?.aborted === true || weights.lexical === 0) throw error instanceof DeadlineExceeded ? new ServiceError('dependency_unavailable', 'The embedding provider is unavailable', { cause: error }) : error
      degraded.push('semantic')
      return undefined
    }
  }

  * #rankSteps (questions: readonly Question[], results: readonly SearchResult[][], request: RetrievalRequest): Steps<{ rankings: FusedCandidate[][], candidates: FusedCandidate[] }> {
    const { settings, explain = false, rewrites = [], minScore } = request
    const rankings: FusedCandidate[][] = []
    for (const [index, question] of questions.entries()) {
      if (index > 0) yield
      rankings.push(yield * rankSteps(unite(results[index]!), question, this.#signals, { ...settings, explain }))
    }
    if (questions.length > 1) yield
    // The query in its own words has its turn among the others.
    const lists = rewrites.length > 0 ? [rankings[0]!, ...rankings] : rankings
    return { rankings, candidates: interleave(lists, minScore) }
  }

  #searchFor ({ banks, filters, limit, budget, settings: { weights, bm25 } }: RetrievalRequest, question: Question, now: number, vector: Float32Array | undefined): SearchRequest {
    return {
      banks,
      filters,
      now,
      limit: Math.max(CANDIDATES, limit),
      budget,
      ...(weights.lexical > 0 && { lexical: { terms: question.terms, ...bm25, length: lengthFor(question, bm25.length) } }),
      ...(vector !== undefined && { semantic: { vector } }),
    }
  }

  /** @returns the result of the question itself, then those of the searches within the times that it names */
  async #search (request: RetrievalRequest, question: Question, now: number, vector: Float32Array | undefined): Promise<SearchResult[]> {
    const { store } = this.#options
    const search = this.#searchFor(request, question, now, vector)
    if (question.spans.length === 0) return [await store.search(search)]
    return await Promise.all([
      store.search(search),
      ...spanFilters(request.filters, question.spans).map(async (narrowed) => await store.search({ ...search, filters: narrowed, limit: CANDIDATES / 2 })),
    ])
  }

  async #rerank ({ reranker, options }: NonNullable<RetrievalRequest['reranker']>, { query, signal }: RetrievalRequest, candidates: FusedCandidate[], degraded: Degradation[]): Promise<FusedCandidate[]> {
    try {
      return await rerank(reranker, query, candidates, options, signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      degraded.push('rerank')
      return candidates
    }
  }
}

function lengthFor ({ asksTold }: Question, length: LexicalRequest['length']): LexicalRequest['length'] {
  return asksTold && 'pivot' in length ? { pivot: length.pivot * ANSWER_LENGTH } : length
}

function * readAll ([first, ...others]: [string, ...string[]], reference: number): Steps<[Question, ...Question[]]> {
  const questions: [Question, ...Question[]] = [yield * questionSteps(first, reference)]
  for (const text of others) questions.push(yield * questionSteps(text, reference))
  return questions
}

/** cut, when the tokens that it goes by are counted. */
function * cutSteps (candidates: readonly FusedCandidate[], request: RetrievalRequest): Steps<ReturnType<typeof cut>> {
  yield * sumSteps(candidates.slice(0, request.limit).map(({ memory }) => memory.tokens), request.maxTokens)
  return cut(candidates, request)
}

/** @returns the first of the candidates that pass the bounds of the request */
export function cut (candidates: readonly FusedCandidate[], { limit, minScore = 0, maxTokens = Infinity }: Pick<RetrievalRequest, 'limit' | 'minScore' | 'maxTokens'>): Pick<Retrieved, 'hits' | 'truncated' | 'tokens'> {
  const hits: FusedCandidate[] = []
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

/** Turns a store's failure into the one error that a client sees; what the store said is only for the log. */
export async function guarded<T> (ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof ServiceError || cause instanceof ReceiptTaken || cause instanceof Outranked) throw cause
    throw new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause })
  }
}
