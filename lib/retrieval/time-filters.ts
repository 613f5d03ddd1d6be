import type { Filters } from '../stores/vector-store.js'
import { DAY, type TimeSpan } from './dates.js'

/** A memory about an event may be written some days after it. */
const REPORTING_DELAY = 10 * DAY
/** The most periods that are searched separately; a month without a year has more. */
const MAX_SPANS = 2

/**
 * Narrows the filters to each period that a query names, so that a memory of that time is found even if others match
 * the words better.
 */
export function spanFilters (filters: Filters, spans: readonly TimeSpan[]): Filters[] {
  if (spans.length > MAX_SPANS) return []
  return spans.map(({ from, to }): Filters => ({
    ...filters,
    occurredAfter: Math.max(from - DAY, filters.occurredAfter ?? -Infinity),
    occurredBefore: Math.min(to + REPORTING_DELAY, filters.occurredBefore ?? Infinity),
  })).filter(({ occurredAfter, occurredBefore }) => occurredAfter! < occurredBefore!)
}
