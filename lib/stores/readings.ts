import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { Memory } from './records.js'
import type { Filters } from './searches.js'

/** The conditions on a memory of a list, in addition to the filters of a search. */
export interface ListFilters extends Filters {
  /** Exactly this level. */
  readonly trust?: Trust
  /** Whether it has no `occurredAt`. */
  readonly undated?: true
  /** Inclusive bound on `retainedAt`. */
  readonly retainedAfter?: number
  /** Exclusive bound on `retainedAt`. */
  readonly retainedBefore?: number
}

export interface ListRequest {
  readonly now: number
  readonly limit: number
  /** A store without `countMemories` never receives the filters that only lists have. */
  readonly filters: ListFilters
  /** Default newest first; only a store with `countMemories` receives `oldest`. */
  readonly order?: 'newest' | 'oldest' | undefined
  /** Number of memories to skip before the page; only a store with `countMemories` receives it. */
  readonly offset?: number | undefined
  /** The last memory of the previous page; this page begins after it. */
  readonly after?: Readonly<{ retainedAt: number, memoryId: string }> | undefined
}

export interface BankSummary extends BankKey {
  readonly memoryCount: number
  readonly lastRetainedAt: number | null
}

export interface BankStatistics extends BankSummary {
  readonly passageCount: number
  /** Memories without vectors, counted by a store that accepts late vectors. */
  readonly unembeddedCount?: number
  readonly tokens: number
  /**
   * The number of memories by tag, in any order: of the 100 most used tags (`MAX_COUNTED_VALUES` of most-
   * frequent.ts). Which of equally used ones it leaves out at the limit is not defined, but a store always leaves
   * out the same ones. A bank may have any number of tags, so a store does not read more than these; what else it
   * returns is left out of the answer.
   */
  readonly tagCounts: ReadonlyMap<string, number>
  /** The number of memories by speaker (speaker.ts), as it is written; of as many speakers as there are of tags. */
  readonly speakerCounts: ReadonlyMap<string, number>
  readonly firstRetainedAt: number | null
  readonly firstOccurredAt: number | null
  readonly lastOccurredAt: number | null
}

export interface NeighboursRequest {
  readonly now: number
  /** Maximum number of neighbours on this side. */
  readonly before: number
  readonly after: number
}

/**
 * A memory with its neighbours, in the order of its document (lib/stores/context.ts). A memory without a document has
 * none.
 */
export interface Neighbourhood {
  readonly memory: Memory
  /** The last is adjacent to the memory. */
  readonly before: readonly Memory[]
  /** The first is adjacent to the memory. */
  readonly after: readonly Memory[]
}

/** Days are counted from the epoch, in UTC. */
export interface DayRange {
  readonly now: number
  /** The first day, inclusive. */
  readonly from: number
  /** The last day, inclusive. */
  readonly until: number
}

export interface DayCounts {
  /** Memories that were retained on days before `from`. */
  readonly before: number
  /** Memories by the day on which they were retained; a day without any is absent. */
  readonly byDay: ReadonlyMap<number, number>
}

export interface ListBanksRequest {
  readonly now: number
  /** Only banks of this tenant, null for no tenant; undefined for all tenants. */
  readonly tenantId?: string | null
  /** Only banks with this name. */
  readonly bankId?: string
  readonly limit: number
  readonly after?: BankKey | undefined
}

export interface Scan {
  readonly count: number
  /**
   * To be iterated once. A reader that stops before the end calls `return`, where the store provides it, even before
   * the first memory: it releases the resources held for the reader.
   */
  readonly memories: AsyncIterable<Memory> & { return?: (value?: undefined) => Promise<unknown> }
}
