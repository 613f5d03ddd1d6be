import type { RowBudget } from '../concurrency/byte-budget.js'
import type { BankKey } from '../identity/context.js'
import type { Memory } from './records.js'
import type { Filters } from './searches.js'

export interface ListRequest {
  now: number
  limit: number
  filters: Filters
  /** Where the last page ended; the page begins behind it. */
  after?: { retainedAt: number, memoryId: string }
  /** As in SearchRequest. */
  budget?: RowBudget | undefined
}

export interface BankSummary extends BankKey {
  memoryCount: number
  lastRetainedAt: number | null
}

export interface BankStatistics extends BankSummary {
  passageCount: number
  /** Memories without vectors; a store that takes late vectors counts them. */
  unembeddedCount?: number
  tokens: number
  tagCounts: ReadonlyMap<string, number>
  firstRetainedAt: number | null
  firstOccurredAt: number | null
  lastOccurredAt: number | null
}

/** Days are counted from the epoch, in UTC. */
export interface DayRange {
  now: number
  /** The first day, inclusive. */
  from: number
  /** The last day, inclusive. */
  until: number
}

export interface DayCounts {
  /** Memories that were retained on days before `from`. */
  before: number
  /** Memories by the day on which they were retained; a day without any is absent. */
  byDay: ReadonlyMap<number, number>
}

export interface ListBanksRequest {
  now: number
  /** One tenant's banks; undefined for those of all tenants. */
  tenantId?: string | null
  /** Only banks of this name. */
  bankId?: string
  limit: number
  after?: BankKey
}

export interface Scan {
  count: number
  /**
   * To be read once. Whoever does not read it to its end calls `return`, where the store has one, also before the first
   * memory: it lets go what is held for the reader.
   */
  memories: AsyncIterable<Memory> & { return?: (value?: undefined) => Promise<unknown> }
}
