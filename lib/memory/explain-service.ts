import type { RowBudget } from '../concurrency/byte-budget.js'
import { formatInstant } from '../time/clock.js'
import type { RequestContext } from '../identity/context.js'
import { byScore, type ScoredCandidate, type Strategy } from '../retrieval/candidates.js'
import { fuse, mergeCandidates } from '../retrieval/fusion.js'
import { spanFilters, weightsForQuery } from '../retrieval/periods.js'
import { truncate } from '../retrieval/ranking.js'
import type { Ranked, RecallObservation, RetrievalRequest, RetrievalSettings } from '../retrieval/retriever.js'
import { compileFilters } from '../stores/filters.js'
import type { Candidate, CandidateScores, Filters, Memory, SearchResult } from '../stores/vector-store.js'
import { runInTurns } from '../concurrency/steps.js'
import { analyzeSteps } from '../text/analysis.js'
import { sumTokens } from '../text/tokens.js'
import type { Dependencies } from './dependencies.js'
import type { ExplainAnswer, ExplainRequest, ExplainStages } from './schemas.js'
import { commonSettings } from './file-settings.js'
import { readableBanks, retrievalRequest } from './recall-service.js'
import { readFilters, readReference } from './records.js'

/** Number of candidates that the search of a strategy returns for a memory that is not among the usual ones. */
const DEEP_SEARCH_LIMIT = 1000

const FILTER_NAMES = {
  tags: 'tags', metadata: 'metadata', occurredAfter: 'occurred_after', occurredBefore: 'occurred_before', asOf: 'as_of', minTrust: 'min_trust',
} as const satisfies Record<Exclude<keyof Filters, 'metadataText' | 'documentIds'>, string>

const VERDICTS = { min_score: 'below_min_score', max_results: 'cut_by_max_results', max_tokens: 'cut_by_max_tokens' } as const

/** A ranking with the values between its stages. */
type ObservedRanking = Ranked & RecallObservation

type Failed = NonNullable<ExplainStages['filter']>['failed']

/** The ranks of the memory in each strategy, for the whole query. */
interface StrategyPlaces {
  /** From 1; absent when it is not among the DEEP_SEARCH_LIMIT best. */
  ranks: Partial<Record<Strategy, number>>
  /** Undefined when unknown. */
  scores: CandidateScores | undefined
  /** Whether an absent score means that there is none; otherwise it is unknown. */
  isExhaustive: Record<Strategy, boolean>
}

/** Explains why a recall returns one memory or does not. */
export class ExplainService {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @param budget as in RecallService.recall
   * @throws ServiceError as RecallService.recall
   */
  async explain (
    request: ExplainRequest, context: RequestContext, signal?: AbortSignal, budget?: RowBudget,
  ): Promise<ExplainAnswer> {
    const { admission, live, store, clock } = this.#deps
    const banks = await readableBanks(request, context, this.#deps)
    const bank = banks[0]!.key
    const filters = readFilters(request)
    const reference = readReference(request)
    await admission.admit('recall', context, banks)
    const memoryId = request.expect.toLowerCase()
    const memory = await store.get(bank, memoryId, clock())
    if (memory === undefined) return { memory_id: memoryId, found: false, verdict: 'not_in_bank', rank: null, score: null, stages: {} }
    const settings = commonSettings(banks, live.current)
    const retrieval = { ...retrievalRequest(request, banks, filters, settings, context), reference }
    const ranked = await this.#rank({ ...retrieval, explain: true, budget, signal })
    const failed = failedFilters(memory, filters)
    const places = await this.#places(memory, ranked, failed.length > 0)
    const { terms } = await runInTurns(analyzeSteps(memory.text), retrieval.caller)
    const stages: ExplainStages = {
      filter: { passed: failed.length === 0, failed },
      lexical: lexicalStage(memory, terms, ranked, places, failed),
      semantic: semanticStage(memory, ranked, places, failed),
    }
    const answer = {
      memory_id: memoryId, stages, ...(ranked.degraded.length > 0 && { degraded: [...ranked.degraded] }),
    }
    if (failed.length > 0) return { ...answer, found: false, verdict: 'filtered', rank: null, score: null }
    if (ranked.query.spans.length > 0) stages.times = timesStage(memory, ranked, filters)
    if (ranked.parts.length > 0) {
      stages.parts = ranked.parts.map(({ text, candidates }) => (
        { query: text, rank: placeIn(candidates, memory) ?? null }
      ))
    }
    const rank = placeIn(ranked.candidates, memory)
    if (rank === undefined) {
      const foundBySome = [stages.lexical, stages.semantic].some((stage) => stage?.state === 'too_low' || stage?.state === 'candidate')
      return { ...answer, found: false, verdict: foundBySome ? 'not_a_candidate' : 'no_strategy_found_it', rank: null, score: null }
    }
    const candidate = ranked.candidates[rank - 1]!
    this.#addJudgement(stages, memory, candidate, ranked, retrieval.settings)
    const counts = ranked.candidates.slice(0, rank).map(({ memory }) => memory.tokens)
    const tokens = await sumTokens(counts, Infinity, retrieval.caller)
    stages.budget = budgetStage(ranked.candidates, rank, tokens, retrieval)
    const [bound] = stages.budget.cut_by
    return { ...answer, found: bound === undefined, verdict: bound === undefined ? 'returned' : VERDICTS[bound], rank, score: candidate.score }
  }

  async #rank (request: RetrievalRequest): Promise<ObservedRanking> {
    let observation: RecallObservation | undefined
    const ranked = await this.#deps.retriever.rank(request, (seen) => { observation = seen })
    return { ...ranked, ...observation! }
  }

  /** The query's own search covers only its candidates; for other memories a deeper search follows. */
  async #places (memory: Memory, { result, search }: ObservedRanking, filtered: boolean): Promise<StrategyPlaces> {
    const { store } = this.#deps
    const isMissed = (found: SearchResult) => [found.lexical, found.semantic].some((list) => (
      list !== undefined && placeIn(list, memory) === undefined
    ))
    const searched = [result]
    if (!filtered && isMissed(result) && search.limit < DEEP_SEARCH_LIMIT) {
      searched.unshift(await store.search({ ...search, limit: DEEP_SEARCH_LIMIT }))
    }
    const deepest = searched[0]!
    // Scores do not depend on filters: among the few memories that pass the narrowest ones, this memory ranks high
    // enough to be found.
    if (searched.every((found) => candidateIn(found, memory) === undefined)) {
      searched.push(await store.search({ ...search, filters: narrowest(memory), limit: DEEP_SEARCH_LIMIT }))
    }
    const last = searched.at(-1)!
    const ranks: StrategyPlaces['ranks'] = {}
    for (const name of ['lexical', 'semantic'] as const) {
      const rank = placeIn(deepest[name] ?? [], memory)
      if (rank !== undefined) ranks[name] = rank
    }
    const scores = searched.map((found) => candidateIn(found, memory)?.scores).find((found) => found !== undefined)
    const isCertain = (name: Strategy) => scores !== undefined || (last[name]?.length ?? 0) < DEEP_SEARCH_LIMIT
    return { ranks, scores, isExhaustive: { lexical: isCertain('lexical'), semantic: isCertain('semantic') } }
  }

  #addJudgement (
    stages: ExplainStages, memory: Memory, { signals = {}, rerank }: ScoredCandidate,
    { query, result, scored, degraded }: ObservedRanking, settings: RetrievalSettings,
  ): void {
    const merged = mergeCandidates([result])
    const sums = fuse(merged, weightsForQuery(settings.weights, query), settings.fusion)
    const byStrategies = merged.map((candidate, index) => ({ ...candidate, score: sums[index]! })).sort(byScore)
    const fused = placeIn(byStrategies, memory)
    if (fused !== undefined) stages.fusion = { rank: fused, score: byStrategies[fused - 1]!.score }
    const rank = placeIn(scored, memory)!
    stages.scorers = { rank, score: scored[rank - 1]!.score, signals: signals as Record<string, number> }
    const state = this.#deps.reranker === undefined ? 'off' : degraded.includes('rerank') ? 'degraded' : rerank === undefined ? 'not_judged' : 'judged'
    stages.rerank = { state, rank: rerank?.rank ?? null, score: rerank?.score ?? null }
  }
}

function failedFilters (memory: Memory, filters: Filters): Failed {
  const names = Object.keys(FILTER_NAMES) as Array<keyof typeof FILTER_NAMES>
  return names
    .filter((name) => filters[name] !== undefined && compileFilters({ [name]: filters[name] })?.(memory) === false)
    .map((name) => FILTER_NAMES[name])
}

/** Filters that match the memory and hardly any other. */
function narrowest ({ tags, metadata, occurredAt, retainedAt }: Memory): Filters {
  return {
    ...(tags.length > 0 && { tags: { values: tags, match: 'all' } }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(occurredAt !== null && { occurredAfter: occurredAt, occurredBefore: occurredAt + 1 }),
    asOf: retainedAt,
  }
}

/** @returns the memory's rank, from 1 */
function placeIn (list: ReadonlyArray<Pick<Candidate, 'memory'>>, { memoryId }: Memory): number | undefined {
  const index = list.findIndex(({ memory }) => memory.memoryId === memoryId)
  return index < 0 ? undefined : index + 1
}

function candidateIn ({ lexical = [], semantic = [] }: SearchResult, { memoryId }: Memory): Candidate | undefined {
  return [...lexical, ...semantic].find(({ memory }) => memory.memoryId === memoryId)
}

/** The stage data common to both strategies. */
function strategyStage<None extends 'no_match' | 'no_vector'> (name: Strategy, memory: Memory, { result }: ObservedRanking, { ranks, scores, isExhaustive }: StrategyPlaces, failed: Failed, none: None) {
  const candidates = result[name] ?? []
  const score = scores?.[name]
  // A lexical score of 0 means no match; a cosine of 0 is a score.
  const isScored = score === undefined ? !isExhaustive[name] : name === 'semantic' || score > 0
  const state = placeIn(candidates, memory) !== undefined ? 'candidate' as const : !isScored ? none : failed.length > 0 ? 'filtered' as const : 'too_low' as const
  return {
    state,
    rank: ranks[name] ?? null,
    score: isScored ? score ?? null : null,
    candidates: candidates.length,
    ...(state === 'too_low' && ranks[name] === undefined && { beyond: DEEP_SEARCH_LIMIT }),
  }
}

function lexicalStage (memory: Memory, terms: ReadonlyMap<string, number>, ranked: ObservedRanking, places: StrategyPlaces, failed: Failed): NonNullable<ExplainStages['lexical']> {
  const queryTerms = [...ranked.query.terms]
  const stage = strategyStage('lexical', memory, ranked, places, failed, 'no_match')
  const own = places.scores?.own
  return {
    ...stage,
    state: ranked.search.lexical === undefined ? 'off' : stage.state,
    own_score: stage.score === null ? null : own ?? null,
    terms: {
      asked: queryTerms,
      in_memory: queryTerms.filter((term) => terms.has(term)),
      from_neighbours: stage.score === null ? (stage.state === 'no_match' ? false : null) : own === undefined ? null : own < stage.score,
    },
  }
}

function semanticStage (memory: Memory, ranked: ObservedRanking, places: StrategyPlaces, failed: Failed): NonNullable<ExplainStages['semantic']> {
  const stage = strategyStage('semantic', memory, ranked, places, failed, 'no_vector')
  const off = ranked.degraded.includes('semantic') ? 'degraded' as const : 'off' as const
  return { ...stage, state: ranked.search.semantic === undefined ? off : stage.state }
}

function timesStage (memory: Memory, { query: { spans } }: ObservedRanking, filters: Filters): NonNullable<ExplainStages['times']> {
  return {
    spans: spans.map(({ from, to }) => ({ from: formatInstant(from), to: formatInstant(to) })),
    searched: spanFilters(filters, spans).some((narrowed) => compileFilters(narrowed)!(memory)),
  }
}

/**
 * Tests each bound separately, so that a caller learns of every bound that excludes the memory.
 * @param tokens of the candidates up to this rank
 */
function budgetStage (candidates: readonly ScoredCandidate[], rank: number, tokens: number, { limit, minScore = 0, maxTokens }: RetrievalRequest): NonNullable<ExplainStages['budget']> {
  const first = candidates.slice(0, rank)
  const bounds = {
    min_score: { limit: Infinity, minScore },
    max_results: { limit },
    max_tokens: { limit: Infinity, maxTokens: maxTokens ?? Infinity },
  }
  const names = Object.keys(bounds) as Array<keyof typeof bounds>
  return {
    cut_by: names.filter((name) => truncate(first, bounds[name]).hits.length < rank),
    min_score: minScore,
    max_results: limit,
    max_tokens: maxTokens ?? null,
    tokens_needed: tokens,
  }
}
