import { spanFilters } from '../retrieval/search.js'
import type { RankedCandidate, Strategy } from '../retrieval/candidates.js'
import { truncate, type Ranked, type RecallObservation, type RetrievalRequest } from '../retrieval/retriever.js'
import { compileFilters } from '../stores/filters.js'
import type { Candidate, CandidateScores, Filters, Memory, SearchResult } from '../stores/vector-store.js'
import { formatInstant } from '../time/clock.js'
import type { ExplainStages } from './schemas.js'
import type { Mutable } from '../validation/members.js'

/** Number of candidates that the search of a strategy returns for a memory that is not among the usual ones. */
export const DEEP_SEARCH_LIMIT = 1000

const FILTER_NAMES = {
  tags: 'tags',
  documentIds: 'document_ids',
  metadata: 'metadata',
  speakers: 'speakers',
  occurredAfter: 'occurred_after',
  occurredBefore: 'occurred_before',
  asOf: 'as_of',
  minTrust: 'min_trust',
} as const satisfies Record<keyof Filters, string>

/** The ranking of a recall with the values between its stages. */
export type ObservedRecall = Ranked & RecallObservation

type Failed = NonNullable<ExplainStages['filter']>['failed']

/** The ranks of the memory in each strategy, for the whole query. */
export interface StrategyPlaces {
  /** From 1; absent when it is not among the DEEP_SEARCH_LIMIT best. */
  readonly ranks: Partial<Record<Strategy, number>>
  /** Undefined when unknown. */
  readonly scores: CandidateScores | undefined
  /** Whether an absent score means that there is none; otherwise it is unknown. */
  readonly isExhaustive: Record<Strategy, boolean>
}

export function failedFilters (memory: Memory, filters: Filters): Failed {
  const names = Object.keys(FILTER_NAMES) as Array<keyof typeof FILTER_NAMES>
  return names
    .filter((name) => filters[name] !== undefined && compileFilters({ [name]: filters[name] })?.(memory) === false)
    .map((name) => FILTER_NAMES[name])
}

/** Filters that match the memory and hardly any other. */
export function narrowest ({ tags, metadata, occurredAt, retainedAt }: Memory): Filters {
  const filters: Mutable<Filters> = { asOf: retainedAt }
  if (tags.length > 0) filters.tags = { values: tags, match: 'all' }
  if (Object.keys(metadata).length > 0) filters.metadata = metadata
  return occurredAt === null ? filters : { ...filters, occurredAfter: occurredAt, occurredBefore: occurredAt + 1 }
}

/** @returns the memory's rank, from 1 */
export function placeIn (list: ReadonlyArray<Pick<Candidate, 'memory'>>, { memoryId }: Memory): number | undefined {
  const index = list.findIndex(({ memory }) => memory.memoryId === memoryId)
  return index < 0 ? undefined : index + 1
}

export function candidateIn (
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

export function lexicalStage (
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

export function semanticStage (
  memory: Memory, ranked: ObservedRecall, places: StrategyPlaces, failed: Failed,
): NonNullable<ExplainStages['semantic']> {
  const stage = strategyStage('semantic', memory, ranked, places, failed, 'no_vector')
  const off = ranked.degraded.includes('semantic') ? 'degraded' as const : 'off' as const
  return { ...stage, state: ranked.search.semantic === undefined ? off : stage.state }
}

/** A query that names times and nothing else also finds memories by the time at which they were retained. */
export function timesStage (
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
export function budgetStage (
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
