import type { Clock } from '../time/clock.js'
import type { BankKey } from '../identity/context.js'
import type { BankConfigStore } from './bank-configs.js'
import type { IdempotencyRecord } from './idempotency.js'
import type {
  BankStatistics, BankSummary, DayCounts, DayRange, ListBanksRequest, ListFilters, ListRequest, Neighbourhood,
  NeighboursRequest, Scan,
} from './readings.js'
import type { EmbeddingSpace, LateVectors, Memory, NewMemory, Unembedded } from './records.js'
import type { SearchRequest, SearchResult } from './searches.js'
import type {
  DocumentReplacement, ImportOptions, ImportOutcome, InsertOutcome, RemovedBank, RemoveOptions, RemoveOutcome,
  StoredMemory, Selector, WriteOptions,
} from './writes.js'

export * from './idempotency.js'
export type * from './readings.js'
export * from './records.js'
export * from './searches.js'
export * from './writes.js'

/** The state of a store. A store may also reject or never settle: both count as down. */
export interface StoreHealth {
  readonly healthy: boolean
  /** For the log; never sent to a client. */
  readonly message?: string
}

/** The state of a bounded pool of database connections. */
export interface PoolStatus {
  /** Maximum number of connections. */
  readonly size: number
  readonly inUse: number
  /** Number of callers that wait for a connection. */
  readonly waiting: number
}

/** What a store receives before its first use. */
export interface StoreStart {
  /** Absent when the semantic strategy is off: the store then receives no vectors. */
  readonly space?: EmbeddingSpace | undefined
  /**
   * Whether nobody has chosen the space: banks with vectors of another one, which somebody did choose, are then
   * searched by words, and do not end the start.
   */
  readonly isDefaultSpace?: boolean
  readonly clock: Clock
  /** For the operator's log, as `info`. Never contains text of a memory. */
  readonly warn: (message: string) => void
  readonly info?: (message: string) => void
}

/** An amount that a bank uses on a UTC day. */
export interface UsageEntry {
  readonly bank: BankKey
  /** Days since the epoch. */
  readonly day: number
  /** Name of the quantity counted. */
  readonly counter: string
  /** An integer; negative only to correct a count. */
  readonly amount: number
}

export interface UsageReservation extends UsageEntry {
  /** Maximum of the count. */
  readonly limit: number
}

export type UsageOutcome =
  | { readonly granted: true }
  /** Nothing was counted. `usedUp` is the index of an entry that would exceed its limit. */
  | { readonly granted: false, readonly usedUp: number }

/**
 * The interface of a vector store. In every method `(tenantId, bankId)` identifies a bank: banks of two tenants share
 * nothing, not even statistics. Memories that have expired at `now` are in no result and no count.
 * A method that writes does all of its work or none, and every later call sees what it acknowledged.
 * test/contract/vector-store.ts tests that an implementation conforms.
 */
export interface VectorStore {
  /**
   * Called once, before any other method, if the store has it.
   * @throws ProviderError for a fault that an operator has to correct; the server then does not start
   */
  start? (start: StoreStart): Promise<void>
  /**
   * The record of a write under this key of the bank within IDEMPOTENCY_LIFETIME_MS. A store with this method receives
   * `idempotency` with its writes. It keeps `recordText(idempotency, outcome)` in the transaction of the write, even if
   * that changes nothing, and rejects with IdempotencyKeyTaken when the key was used meanwhile. A store without it
   * never receives `idempotency`.
   */
  findIdempotencyRecord? (bank: BankKey, key: string, now: number): Promise<IdempotencyRecord | undefined>
  health (): Promise<StoreHealth>
  /**
   * Stores new memories in one transaction. Exact repeats (equal fingerprint, also within the call) are not stored
   * again; but a repeat of higher trust than the memory that was in the bank before the call replaces it, as a new
   * memory with its own id.
   * @returns outcomes in order
   */
  insert (bank: BankKey, memories: readonly NewMemory[], options: WriteOptions): Promise<InsertOutcome[]>
  /**
   * Stores memories as `insert` does and removes, in the same transaction, all other memories of the documents except
   * those to keep; it rejects with MemoryChangedError when one of these does not exist any more. Calls for one document
   * are serialized, across processes too: after two calls only the memories of one remain. Without this method,
   * replacing documents is `not_supported`.
   */
  replaceDocuments? (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]>
  search (request: SearchRequest): Promise<SearchResult>
  /**
   * Adds vectors to memories that were stored without. Memories that no longer exist, that have vectors, or whose
   * fingerprint or number of passages differs are skipped. For a store that has this and `listUnembedded`, memories are
   * written before their vectors are computed.
   * @returns the number of memories that received vectors
   */
  attachVectors? (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number>
  /**
   * Memories of all banks that lack vectors of the store's space, ordered by tenant, bank and id; banks of another
   * space are left out. A page of long memories may have fewer than `limit`; only after the last one is it empty.
   */
  listUnembedded? (
    request: Readonly<{ now: number, limit: number, after?: BankKey & Readonly<{ memoryId: string }> }>,
  ): Promise<Unembedded[]>
  get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined>
  /**
   * The memory with this fingerprint. Without this method, deduplication recognises only exact repeats of the memories
   * that its search returns.
   */
  findRepeated? (bank: BankKey, fingerprint: string, now: number): Promise<StoredMemory | undefined>
  /** Newest first: descending by `retainedAt`, then by `memoryId`. */
  list (bank: BankKey, request: ListRequest): Promise<Memory[]>
  /**
   * Counts the memories that pass the filters, up to `limit`. A store with this method accepts every field of a
   * ListRequest; with any other store, a list that needs more is `not_supported`.
   */
  countMemories? (
    bank: BankKey, request: Readonly<{ now: number, filters: ListFilters, limit: number }>,
  ): Promise<number>
  /**
   * Undefined when there is no such memory; one without a document is returned alone. Without this method:
   * `not_supported`.
   */
  neighbours? (bank: BankKey, memoryId: string, request: NeighboursRequest): Promise<Neighbourhood | undefined>
  /**
   * Removes the selected memories permanently; with `dryRun` only counts them.
   * @returns the number and up to `idLimit` ids
   */
  remove (bank: BankKey, selector: Selector, options: RemoveOptions): Promise<RemoveOutcome>
  /** Banks that hold at least one memory, ordered by tenant (no tenant first), then by bank id in code-unit order. */
  listBanks (request: ListBanksRequest): Promise<BankSummary[]>
  statistics (bank: BankKey, now: number): Promise<BankStatistics>
  /**
   * Counts the memories of a bank by `retainedAt`. Without this method, the growth of a bank is `not_supported`.
   */
  countByDay? (bank: BankKey, range: DayRange): Promise<DayCounts>
  /**
   * The bank as of the call, oldest first, however long the reading takes.
   * @param signal cancels a call that has not settled: it soon rejects with the signal's reason
   */
  scan (bank: BankKey, now: number, signal?: AbortSignal): Promise<Scan>
  /**
   * Adds memories with their ids, all or none. A conflict is an equal id or an equal fingerprint, also within the call.
   */
  import (bank: BankKey, memories: readonly NewMemory[], options: ImportOptions): Promise<ImportOutcome>
  /** Stores the configuration of banks. Without it, banks have no configuration and `import` never receives one. */
  readonly bankConfigs?: BankConfigStore
  /**
   * Removes all memories of a bank, its configuration and its history, in one transaction; a store with `bankConfigs`
   * has this method. Replicas observe the removal by `bankConfigs.changedSince`.
   * @param signal cancels a call that has not begun to write: it rejects with the signal's reason, and nothing is
   * removed
   * @returns the number of memories, and whether there was a configuration
   */
  removeBank? (bank: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank>
  /**
   * Counts an intended use, all entries or none: however many calls are concurrent, none raises a count above the limit
   * that it passed. Counts outlive the removal of memories; those of past days may be dropped a day later. A store with
   * this method and `adjustUsage` keeps quotas across restarts and for all processes that share it; with any other
   * store each process counts for itself.
   */
  reserveUsage? (entries: readonly UsageReservation[]): Promise<UsageOutcome>
  /** Adds amounts to counts, without a limit but never below 0. Counts that do not exist are skipped. */
  adjustUsage? (entries: readonly UsageEntry[]): Promise<void>
  /** The state of the connection pool, for metrics; does not query the database. */
  poolStatus? (): PoolStatus | undefined
  close (): Promise<void>
}

/** The methods that a class named in the configuration must have. */
export const VECTOR_STORE_METHODS = [
  'health', 'insert', 'search', 'get', 'list', 'remove', 'listBanks', 'statistics', 'scan', 'import', 'close',
] as const satisfies ReadonlyArray<keyof VectorStore>
