import { DAY_MS } from '../base/days.js'
import { giveWay, isDue } from '../base/event-loop.js'
import type { Candidate, Filters, ListFilters, SearchRequest, VectorStore } from '../stores/vector-store.js'
import type { QueryResults } from './candidates.js'
import type { TimeSpan } from './dates.js'
import type { AnalyzedQuery } from './query.js'
import type { RetrievalRequest } from './retriever.js'

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

/**
 * @returns the results of each query: those of its searches, and then the memories of the times that it names if it
 *   asks for nothing else
 */
export async function searchAll (
  store: VectorStore, searches: readonly SearchRequest[], queries: readonly AnalyzedQuery[],
  { scorers }: RetrievalRequest['settings'],
): Promise<QueryResults[]> {
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
    if (soughtPeriods.length > 0 && scorers.date > 0) {
      const lexical = await memoriesOfPeriods(store, search, soughtPeriods)
      found.push({ lexical, total: lexical.length })
    }
    results.push(found)
  }
  return results
}

/** A memory about an event may be written some days after it. */
const REPORTING_DELAY_MS = 10 * DAY_MS
/** The most periods that are searched separately; a month without a year has more. */
const MAX_FILTERED_SPANS = 2
/** The most memories that are listed for one period, over all banks, unless there are more than ten. */
const MAX_LISTED = 100
const MIN_LISTED = 10
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
 * The newest memories of each period: those that occurred in it, and those without a time of their own that were
 * retained in it. Their words do not count. The banks share MAX_LISTED.
 */
async function memoriesOfPeriods (
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
    for (const memory of lists.flat()) found.push({ bank, memory, score: 0, scores, passageCount: 1, passages: [] })
  }
  return found
}
