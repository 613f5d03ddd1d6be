import type { RowBudget } from '../concurrency/byte-budget.js'
import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { Memory } from './records.js'
import type { Filters } from './searches.js'

/** What a memory of a list must satisfy, beside the filters of a search. */
export interface ListFilters extends Filters {
  /** Exactly this level. */
  trust?: Trust
  /** Inclusive bound on `retainedAt`. */
  retainedAfter?: number
  /** Exclusive bound on `retainedAt`. */
  retainedBefore?: number
}

export interface ListRequest {
  now: number
  limit: number
  /** Those that only lists have come to a store with `countMemories`. */
  filters: ListFilters
  /** Default newest first; `oldest` comes only to a store with `countMemories`. */
  order?: 'newest' | 'oldest'
  /** Memories to pass over before the page begins; only to a store with `countMemories`. */
  offset?: number
  /** Where the last page ended; the page begins behind it. */
  after?: { retainedAt: number, memoryId: string } | undefined
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

export interface NeighboursRequest {
  now: number
  /** Neighbours at most on this side. */
  before: number
  after: number
  /** As in SearchRequest. */
  budget?: RowBudget | undefined
}

/** A memory among its neighbours in the document, in its order (lib/stores/context.ts). */
export interface Neighbourhood {
  memory: Memory
  /** The last is next to the memory. */
  before: Memory[]
  /** The first is next to the memory. */
  after: Memory[]
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
  after?: BankKey | undefined
  /** Who the work is for: as in TurnBudget.next. */
  caller?: string
}

export interface Scan {
  count: number
  /**
   * To be read once. Whoever does not read it to its end calls `return`, where the store has one, also before the first
   * memory: it lets go what is held for the reader.
   */
  memories: AsyncIterable<Memory> & { return?: (value?: undefined) => Promise<unknown> }
}
