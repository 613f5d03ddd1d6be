import type { BankKey } from '../access/context.js'
import { formatInstant } from '../base/clock.js'
import type { Mutable } from '../base/members.js'
import { finalScore, type RankedCandidate, type Strategy } from '../ranking/candidates.js'
import { explainHits, type Explanation } from '../ranking/ranking.js'
import { truncate, type Ranked, type RecallObservation, type RetrievalRequest } from '../ranking/retriever.js'
import { spanFilters } from '../ranking/search.js'
import { compileFilters } from '../stores/filters.js'
import {
  byScore, memoryOf, type Memory, type SearchResult, type Candidate, type CandidateScores, type Filters,
  type VectorStore,
} from '../stores/vector-store.js'
import { analyzeText } from '../text/analysis.js'
import { sumTokens } from '../text/tokens.js'
import type { Dependencies, Call } from './dependencies.js'
import { operation } from './operation.js'
import { RECALL_ERRORS } from './recall.js'
import { ExplainAnswer, ExplainRequest, type ExplainStages } from './schemas.js'
import { openSearch, retrievalOf } from './search.js'

export const explainRecall = operation({
  name: 'explainRecall',
  tag: 'memory',
  permission: 'read',
  summary: 'Explain why a recall returns or excludes a memory',
  description: 'Runs the recall and reports, for one memory, its rank at each stage and what excluded it. Counts ' +
    'as a recall.',
  request: ExplainRequest,
  answer: ExplainAnswer,
  errors: RECALL_ERRORS,
  run: explain,
})

const VERDICTS = {
  min_score: 'below_min_score', max_results: 'cut_by_max_results', max_tokens: 'cut_by_max_tokens',
} as const

const NOT_RANKED = { found: false, rank: null, score: null } as const

/** Explains why a recall returns one memory or does not. @throws ServiceError as `recall` */
async function explain (
  deps: Dependencies, request: ExplainRequest, call: Call,
): Promise<ExplainAnswer> {
  const { context } = call
  const { admission, store, clock } = deps
  const search = await openSearch(request, context, deps)
  const { banks, filters } = search
  const bank = banks[0]!.key
  await admission.admit('recall', call, banks)
  const memoryId = request.expect.toLowerCase()
  const memory = await memoryAt(store, bank, memoryId, filters.asOf, clock())
  if (memory === undefined) return { memory_id: memoryId, ...NOT_RANKED, verdict: 'not_in_bank', stages: {} }
  const retrieval = retrievalOf(request, search)
  const ranked = await ranking(deps, retrieval)
  const failed = failedFilters(memory, filters)
  const places = await placesOf(deps, memory, ranked, failed.length > 0)
  const { terms } = analyzeText(memory.text)
  const stages: ExplainStages = {
    filter: { passed: failed.length === 0, failed },
    lexical: lexicalStage(memory, terms, ranked, places, failed),
    semantic: semanticStage(memory, ranked, places, failed),
  }
  const answer = {
    memory_id: memoryId, stages, degraded: ranked.degraded.length > 0 ? [...ranked.degraded] : undefined,
  }
  if (failed.length > 0) return { ...answer, ...NOT_RANKED, verdict: 'filtered' }
  if (ranked.query.namedPeriods.length > 0) stages.times = timesStage(memory, ranked, filters)
  const [, ...parts] = ranked.rankings
  if (parts.length > 0) {
    stages.parts = parts.map(({ query: { text }, candidates, order }) => (
      { query: text, rank: placeIn(order.map((index) => candidates[index]!), memory) ?? null }
    ))
  }
  const rank = placeIn(ranked.candidates, memory)
  if (rank === undefined) {
    const foundBySome = [stages.lexical, stages.semantic]
      .some((stage) => stage?.state === 'too_low' || stage?.state === 'candidate')
    return { ...answer, ...NOT_RANKED, verdict: foundBySome ? 'not_a_candidate' : 'no_strategy_found_it' }
  }
  const candidate = ranked.candidates[rank - 1]!
  const [explanation] = explainHits([candidate], ranked.rankings)
  addRanking(deps, stages, candidate, explanation!, ranked)
  const counts = ranked.candidates.slice(0, rank).map(({ memory }) => memory.tokens)
  const tokens = await sumTokens(counts)
  stages.budget = budgetStage(ranked.candidates, rank, tokens, retrieval)
  const [bound] = stages.budget.cut_by
  const verdict = bound === undefined ? 'returned' : VERDICTS[bound]
  return { ...answer, found: bound === undefined, verdict, rank, score: finalScore(candidate) }
}

/** The memory as it is or, if it has versions, as it was at an instant. */
async function memoryAt (
  store: VectorStore, bank: BankKey, memoryId: string, asOf: number | undefined, now: number,
): Promise<Memory | undefined> {
  const memory = await store.get(bank, memoryId, now)
  if (memory === undefined || asOf === undefined || memory.changedAt <= asOf) return memory
  const versions = await store.versions?.(bank, memoryId, now) ?? []
  const then = versions.find(({ changedAt, endedAt }) => changedAt <= asOf && (endedAt === null || endedAt > asOf))
  return then === undefined ? memory : memoryOf(then)
}

async function ranking (deps: Dependencies, request: RetrievalRequest): Promise<ObservedRecall> {
  let observation: RecallObservation | undefined
  const ranked = await deps.retriever.rank(request, (seen) => { observation = seen })
  return { ...ranked, ...observation! }
}

/** The query's own search covers only its candidates; for other memories a deeper search follows. */
async function placesOf (
  deps: Dependencies, memory: Memory, { result, search }: ObservedRecall, filtered: boolean,
): Promise<StrategyPlaces> {
  const { store } = deps
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

function addRanking (
  deps: Dependencies, stages: ExplainStages, { memory, rerank }: RankedCandidate, { scorerContributions }: Explanation,
  { rankings, ranked, degraded }: ObservedRecall,
): void {
  const { candidates, fusionScores } = rankings[0]!
  const byStrategies = candidates.map(({ memory }, index) => ({ memory, score: fusionScores[index]! })).sort(byScore)
  const fusedRank = placeIn(byStrategies, memory)
  if (fusedRank !== undefined) stages.fusion = { rank: fusedRank, score: byStrategies[fusedRank - 1]!.score }
  const rank = placeIn(ranked, memory)!
  stages.scorers = { rank, score: ranked[rank - 1]!.rankScore, signals: { ...scorerContributions } }
  const completed = rerank === undefined ? 'not_judged' : 'judged'
  const called = degraded.includes('rerank') ? 'degraded' : completed
  const state = deps.reranker === undefined ? 'off' : called
  stages.rerank = { state, rank: rerank?.rank ?? null, score: rerank?.score ?? null }
}

/** Number of candidates that the search of a strategy returns for a memory that is not among the usual ones. */
const DEEP_SEARCH_LIMIT = 1000

const FILTER_NAMES = {
  tags: 'tags',
  documentIds: 'document_ids',
  metadata: 'metadata',
  speakers: 'speakers',
  occurredAfter: 'occurred_after',
  occurredBefore: 'occurred_before',
  asOf: 'as_of',
  state: 'state',
  validAt: 'valid_at',
  minTrust: 'min_trust',
} as const satisfies Record<keyof Filters, string>

/** The ranking of a recall with the values between its stages. */
type ObservedRecall = Ranked & RecallObservation

type Failed = NonNullable<ExplainStages['filter']>['failed']

/** The ranks of the memory in each strategy, for the whole query. */
interface StrategyPlaces {
  /** From 1; absent when it is not among the DEEP_SEARCH_LIMIT best. */
  readonly ranks: Partial<Record<Strategy, number>>
  /** Undefined when unknown. */
  readonly scores: CandidateScores | undefined
  /** Whether an absent score means that there is none; otherwise it is unknown. */
  readonly isExhaustive: Record<Strategy, boolean>
}

function failedFilters (memory: Memory, filters: Filters): Failed {
  const names = Object.keys(FILTER_NAMES) as Array<keyof typeof FILTER_NAMES>
  const { state = 'current' } = filters
  const hasState = state === 'all' || (memory.state === 'current') === (state === 'current')
  return names
    .filter((name) => name === 'state'
      ? !hasState
      : filters[name] !== undefined && compileFilters({ [name]: filters[name] })?.(memory) === false)
    .map((name) => FILTER_NAMES[name])
}

/** Filters that match the memory and hardly any other. */
function narrowest ({ tags, metadata, occurredAt, changedAt, state }: Memory): Filters {
  const filters: Mutable<Filters> = { asOf: changedAt }
  if (state !== 'current') filters.state = 'history'
  if (tags.length > 0) filters.tags = { values: tags, match: 'all' }
  if (Object.keys(metadata).length > 0) filters.metadata = metadata
  return occurredAt === null ? filters : { ...filters, occurredAfter: occurredAt, occurredBefore: occurredAt + 1 }
}

/** @returns the memory's rank, from 1 */
export function placeIn (list: ReadonlyArray<Pick<Candidate, 'memory'>>, { memoryId }: Memory): number | undefined {
  const index = list.findIndex(({ memory }) => memory.memoryId === memoryId)
  return index < 0 ? undefined : index + 1
}

function candidateIn (
  { lexical = [], semantic = [] }: SearchResult, { memoryId }: Memory,
): Candidate | undefined {
  return [...lexical, ...semantic].find(({ memory }) => memory.memoryId === memoryId)
}

/** The stage data common to both strategies. */
function strategyStage<None extends 'no_match' | 'no_vector'> (
  name: Strategy, memory: Memory, { result }: ObservedRecall, { ranks, scores, isExhaustive }: StrategyPlaces,
  failed: Failed, none: None,
) {
  const candidates = result[name] ?? []
  const score = scores?.[name]
  // A lexical score of 0 means no match; a cosine of 0 is a score.
  const isScored = score === undefined ? !isExhaustive[name] : name === 'semantic' || score > 0
  const missed = failed.length > 0 ? 'filtered' as const : 'too_low' as const
  const state = placeIn(candidates, memory) !== undefined ? 'candidate' as const : isScored ? missed : none
  return {
    state,
    rank: ranks[name] ?? null,
    score: isScored ? score ?? null : null,
    candidates: candidates.length,
    beyond: state === 'too_low' && ranks[name] === undefined ? DEEP_SEARCH_LIMIT : undefined,
  }
}

function lexicalStage (
  memory: Memory, terms: ReadonlyMap<string, number>, ranked: ObservedRecall, places: StrategyPlaces, failed: Failed,
): NonNullable<ExplainStages['lexical']> {
  const queryTerms = [...ranked.query.terms]
  const stage = strategyStage('lexical', memory, ranked, places, failed, 'no_match')
  const own = places.scores?.own
  const isFromNeighbours = stage.score === null || own === undefined ? null : own < stage.score
  return {
    ...stage,
    state: ranked.search.lexical === undefined ? 'off' : stage.state,
    own_score: stage.score === null ? null : own ?? null,
    terms: {
      asked: queryTerms,
      in_memory: queryTerms.filter((term) => terms.has(term)),
      from_neighbours: stage.score === null && stage.state === 'no_match' ? false : isFromNeighbours,
    },
  }
}

function semanticStage (
  memory: Memory, ranked: ObservedRecall, places: StrategyPlaces, failed: Failed,
): NonNullable<ExplainStages['semantic']> {
  const stage = strategyStage('semantic', memory, ranked, places, failed, 'no_vector')
  const off = ranked.degraded.includes('semantic') ? 'degraded' as const : 'off' as const
  return { ...stage, state: ranked.search.semantic === undefined ? off : stage.state }
}

/** A query that names times and nothing else also finds memories by the time at which they were retained. */
function timesStage (
  memory: Memory, { query: { namedPeriods, soughtPeriods } }: ObservedRecall, filters: Filters,
): NonNullable<ExplainStages['times']> {
  const time = memory.occurredAt ?? memory.retainedAt
  return {
    spans: namedPeriods.map(({ from, to }) => ({ from: formatInstant(from), to: formatInstant(to) })),
    searched: spanFilters(filters, namedPeriods).some((narrowed) => compileFilters(narrowed)!(memory)) ||
      soughtPeriods.some(({ from, to }) => from <= time && time < to),
  }
}

/**
 * Tests each bound separately, so that a caller learns of every bound that excludes the memory.
 * @param tokens of the candidates up to this rank
 */
function budgetStage (
  candidates: readonly RankedCandidate[], rank: number, tokens: number,
  { limit, minScore, maxTokens }: RetrievalRequest,
): NonNullable<ExplainStages['budget']> {
  const first = candidates.slice(0, rank)
  const bounds = {
    min_score: { limit: Infinity, minScore },
    max_results: { limit, minScore: 0 },
    max_tokens: { limit: Infinity, minScore: 0, maxTokens },
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
