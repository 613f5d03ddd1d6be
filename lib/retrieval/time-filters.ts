import type { Filters } from '../stores/vector-store.js'
import { DAY, type TimeSpan } from './dates.js'

/** What happened is told some days later. */
const REPORTING_DELAY = 10 * DAY
/** Spans that are searched by themselves: a month without a year is too many to be. */
const MAX_SPANS = 2

/** The filters narrowed to each of the times that a question names, so that what occurred then is found though others say its words more often. */
export function spanFilters (filters: Filters, spans: readonly TimeSpan[]): Filters[] {
  if (spans.length > MAX_SPANS) return []
  return spans.map(({ from, to }): Filters => ({
    ...filters,
    occurredAfter: Math.max(from - DAY, filters.occurredAfter ?? -Infinity),
    occurredBefore: Math.min(to + REPORTING_DELAY, filters.occurredBefore ?? Infinity),
  })).filter(({ occurredAfter, occurredBefore }) => occurredAfter! < occurredBefore!)
}
