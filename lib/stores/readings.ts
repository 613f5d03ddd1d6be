import type { RowBudget } from '../concurrency/byte-budget.js'
import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { Memory } from './records.js'
import type { Filters } from './searches.js'

/** The conditions on a memory of a list, in addition to the filters of a search. */
export interface ListFilters extends Filters {
  /** Exactly this level. */
  trust?: Trust
  /** Whether it has no `occurredAt`. */
  undated?: true
  /** Inclusive bound on `retainedAt`. */
  retainedAfter?: number
  /** Exclusive bound on `retainedAt`. */
  retainedBefore?: number
}

export interface ListRequest {
  now: number
  limit: number
  /** A store without `countMemories` never receives the filters that only lists have. */
  filters: ListFilters
  /** Default newest first; only a store with `countMemories` receives `oldest`. */
  order?: 'newest' | 'oldest' | undefined
  /** Number of memories to skip before the page; only a store with `countMemories` receives it. */
  offset?: number | undefined
  /** The last memory of the previous page; this page begins after it. */
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
  /** Memories without vectors, counted by a store that accepts late vectors. */
  unembeddedCount?: number
  tokens: number
  /**
   * The number of memories by tag, in any order: of the 100 most used tags (`MAX_TAG_COUNTS` of tag-counts.ts). Which
   * of equally used ones it leaves out at the limit is not defined, but a store always leaves out the same ones. A bank
   * may have any number of tags, so a store does not read more than these; what else it returns is left out of the
   * answer.
   */
  tagCounts: ReadonlyMap<string, number>
  firstRetainedAt: number | null
  firstOccurredAt: number | null
  lastOccurredAt: number | null
}

export interface NeighboursRequest {
  now: number
  /** Maximum number of neighbours on this side. */
  before: number
  after: number
  /** As in SearchRequest. */
  budget?: RowBudget | undefined
}

/**
 * A memory with its neighbours, in the order of its document (lib/stores/context.ts). A memory without a document has
 * none.
 */
export interface Neighbourhood {
  memory: Memory
  /** The last is adjacent to the memory. */
  before: Memory[]
  /** The first is adjacent to the memory. */
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
  /** Only banks of this tenant, null for no tenant; undefined for all tenants. */
  tenantId?: string | null
  /** Only banks with this name. */
  bankId?: string
  limit: number
  after?: BankKey | undefined
  /** The caller for whom the work is done, as in TurnBudget.next. */
  caller?: string
}

export interface Scan {
  count: number
  /**
   * To be iterated once. A reader that stops before the end calls `return`, where the store provides it, even before
   * the first memory: it releases the resources held for the reader.
   */
  memories: AsyncIterable<Memory> & { return?: (value?: undefined) => Promise<unknown> }
}
