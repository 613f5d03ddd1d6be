import type { BankKey } from '../identity/context.js'
import type { Memory } from './records.js'
import type { Filters } from './searches.js'

export interface ListRequest {
  now: number
  limit: number
  filters: Filters
  /** Where the last page ended; the page begins behind it. */
  after?: { retainedAt: number, memoryId: string }
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
