import type { BankKey } from '../identity/context.js'
import type {
  SearchRequest, Candidate, CandidateScores, Filters, ListFilters, Memory, VectorStore,
} from '../stores/vector-store.js'
import { DAY_MS } from '../time/days.js'
import type { Weights } from './candidates.js'
import type { TimeSpan } from './dates.js'
import type { AnalyzedQuery } from './query.js'
import type { RetrievalRequest } from './retriever.js'
import type { ScorerWeights } from './scoring/scorers.js'

/**
 * The least number of candidates that each strategy returns. The longer the lists, the more memories have the scores of
 * both strategies.
 */
export const MIN_CANDIDATES = 100

/** The factor on the BM25 length pivot when the query asks for what an assistant said: its answers are long. */
const ASSISTANT_LENGTH_FACTOR = 4
/** The same for notes and articles, where a long text is no answer that contains every word somewhere. */
const NOTES_LENGTH_FACTOR = 3

/**
 * The search of one query. Written out without a spread, which takes microseconds.
 * @param vector absent when the semantic strategy is off or the query could not be embedded
 */
export function searchFor (
  { banks, filters, limit, settings: { weights, bm25 } }: RetrievalRequest,
  { asksForAssistantTurn, terms }: AnalyzedQuery, now: number, vector: Float32Array | undefined,
): SearchRequest {
  const { k1, context, length: form } = bm25
  let length = form
  if ('pivot' in form) {
    const { pivot } = form
    if (asksForAssistantTurn) length = { pivot: pivot * ASSISTANT_LENGTH_FACTOR }
    else if (vector === undefined) length = { pivot, notesPivot: pivot * NOTES_LENGTH_FACTOR }
  }
  return {
    banks,
    filters,
    now,
    limit: Math.max(MIN_CANDIDATES, limit),
    lexical: weights.lexical > 0 ? { terms, k1, length, context } : undefined,
    semantic: vector && { vector },
  }
}

/** A memory about an event may be written some days after it. */
const REPORTING_DELAY_MS = 10 * DAY_MS
/** The most periods that are searched separately; a month without a year has more. */
const MAX_FILTERED_SPANS = 2
/** The most memories that are listed for one period, over all banks, unless there are more than ten. */
const MAX_LISTED = 100
const MIN_LISTED = 10
/**
 * The share of the weights of words and meaning that remains in a query which names only times: so little that a memory
 * with all of its words does not rank before one of the time if it is a day away from it.
 */
const CONTENT_SHARE = 0.1
/** The share of its weight that the semantic strategy has in questions about an earlier answer of the assistant. */
const EARLIER_ANSWER_SHARE = 0.5
/** The scorers that compare words or meaning. */
const CONTENT_SCORERS = [
  'match', 'phrase', 'document', 'document_best', 'document_meaning', 'question_meaning',
] as const

/**
 * Narrows the filters to each period that a query names, so that a memory of that time is found even if others match
 * the words better.
 */
export function spanFilters (filters: Filters, spans: readonly TimeSpan[]): Filters[] {
  if (spans.length > MAX_FILTERED_SPANS) return []
  return spans.map(({ from, to }): Filters => ({
    ...filters,
    occurredAfter: Math.max(from - DAY_MS, filters.occurredAfter ?? -Infinity),
    occurredBefore: Math.min(to + REPORTING_DELAY_MS, filters.occurredBefore ?? Infinity),
  })).filter(({ occurredAfter, occurredBefore }) => occurredAfter! < occurredBefore!)
}

/**
 * The weights for a query. If it names only times, its words and their meaning say little: a memory that has the word
 * `yesterday` means the day before it was written. A question about an earlier answer is closer in meaning to the
 * question that was asked then than to the answer.
 */
export function weightsForQuery (
  weights: Weights, query: Pick<AnalyzedQuery, 'soughtPeriods' | 'asksForAssistantTurn' | 'asksForMethod'>,
): Weights {
  const { lexical, semantic } = weights
  if (query.soughtPeriods.length > 0) return { lexical: lexical * CONTENT_SHARE, semantic: semantic * CONTENT_SHARE }
  if (!query.asksForAssistantTurn && !query.asksForMethod) return weights
  return { lexical, semantic: semantic * EARLIER_ANSWER_SHARE }
}

/** The weights of the scorers, lower for those of the content when the query asks for the memories of a period. */
export function scorersForQuery (
  scorers: ScorerWeights, { soughtPeriods }: Pick<AnalyzedQuery, 'soughtPeriods'>,
): ScorerWeights {
  if (soughtPeriods.length === 0) return scorers
  const scaled = CONTENT_SCORERS.map((name) => [name, scorers[name] * CONTENT_SHARE] as const)
  return { ...scorers, ...Object.fromEntries(scaled) }
}

/**
 * The newest memories of each period: those that occurred in it, and those without a time of their own that were
 * retained in it. Their words do not count. The banks share MAX_LISTED.
 */
export async function memoriesOfPeriods (
  store: VectorStore, { banks, filters, now, lexical }: SearchRequest, periods: readonly TimeSpan[],
): Promise<Candidate[]> {
  const limit = Math.max(MIN_LISTED, Math.floor(MAX_LISTED / banks.length))
  const scores = lexical === undefined ? {} : { lexical: 0, own: 0 }
  const found: Candidate[] = []
  for (const bank of banks) {
    const list = async (narrowed: ListFilters) => await store.list(bank, { now, limit, filters: narrowed })
    const lists = await Promise.all(periods.flatMap(({ from, to }) => [
      list({
        ...filters,
        occurredAfter: Math.max(from, filters.occurredAfter ?? from),
        occurredBefore: Math.min(to, filters.occurredBefore ?? to),
      }),
      // Only a store that counts memories takes the filters that only lists have.
      store.countMemories === undefined
        ? []
        : list({ ...filters, undated: true, retainedAfter: from, retainedBefore: to }),
    ]))
    for (const memory of lists.flat()) found.push(toCandidate(bank, memory, scores))
  }
  return found
}

function toCandidate (bank: BankKey, memory: Memory, scores: CandidateScores): Candidate {
  return { bank, memory, score: 0, scores, passageCount: 1, passages: [] }
}
