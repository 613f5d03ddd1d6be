import type { Clock } from '../time/clock.js'
import type { BankKey } from '../identity/context.js'
import type { BankConfigChange, BankConfigStore } from './bank-configs.js'
import type { IdempotencyRecord, IdempotentWrite } from './idempotency.js'
import type {
  BankStatistics, BankSummary, DayCounts, DayRange, ListBanksRequest, ListFilters, ListRequest, Neighbourhood,
  NeighboursRequest, Scan,
} from './readings.js'
import type { EmbeddingSpace, LateVectors, Memory, NewMemory, Unembedded } from './records.js'
import type { SearchRequest, SearchResult } from './searches.js'
import type { UsageEntry, UsageOutcome, UsageReservation } from './usage-counts.js'
import type {
  DocumentReplacement, ImportOutcome, InsertOutcome, OnConflict, RemovedBank, RemoveOptions, RemoveOutcome, Selector,
} from './writes.js'

export { IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, type IdempotencyRecord, type IdempotentWrite } from './idempotency.js'
export type * from './readings.js'
export type * from './records.js'
export type * from './searches.js'
export type * from './usage-counts.js'
export * from './writes.js'

/** What a store says of itself. A store may also reject or never settle: both count as down. */
export interface StoreHealth {
  healthy: boolean
  /** For the log; never sent to a client. */
  message?: string
}

/** A bounded pool of database connections at a moment. */
export interface PoolStatus {
  /** Connections at most. */
  size: number
  inUse: number
  /** Callers that wait for one. */
  waiting: number
}

/** What a store is told before it is used. */
export interface StoreStart {
  /** Absent when the semantic strategy is off: then no vectors come. */
  space?: EmbeddingSpace | undefined
  clock: Clock
  /**
   * Bytes of temporary files that scans may have together (`bounds.spool_bytes`); beyond them a scan rejects with
   * server_busy.
   */
  spoolBytes?: number
  /** For the operator's log, as `info`. Never with content of a memory. */
  warn: (message: string) => void
  info?: (message: string) => void
}

/**
 * What a vector store must do. `(tenantId, bankId)` is the identity of a bank in every method: banks of two tenants
 * share nothing, not even statistics. Memories that have expired at `now` are in no answer and no count.
 * A method that writes is all or nothing, and what it acknowledged is seen by every later call.
 * test/contract/vector-store.ts is the proof that an implementation has to pass.
 */
export interface VectorStore {
  /**
   * Called once, before anything else, if the store has it.
   * @throws ProviderError for what an operator has to put right: it ends the start
   */
  start? (start: StoreStart): Promise<void>
  /**
   * What was kept of a write under this key within IDEMPOTENCY_LIFETIME_MS, on whichever bank of the tenant. A store
   * that has this method is given `idempotency` with its writes: it keeps `recordText(idempotency, outcome)` in the
   * transaction of the write, also of one that changes nothing, and rejects with IdempotencyKeyTaken when the key was
   * used meanwhile, on another bank too. A store without it is never given any.
   */
  findIdempotencyRecord? (tenantId: string | null, key: string, now: number): Promise<IdempotencyRecord | undefined>
  health (): Promise<StoreHealth>
  /**
   * Stores what is new, in one transaction. Repeats (equal fingerprint, also within the call) are not stored again; but
   * one that is of higher trust than the memory that stood before the call takes its place, as a new memory with its
   * own id, and the other is gone.
   * @param signal gives up a call that has not begun to write: it rejects with the signal's reason, and nothing is done
   * @returns outcomes in order
   */
  insert (
    bank: BankKey, memories: readonly NewMemory[], now: number, idempotency?: IdempotentWrite, signal?: AbortSignal,
  ): Promise<InsertOutcome[]>
  /**
   * Stores memories as `insert` does and removes, in the same transaction, all others of the documents but those to
   * keep. Calls for one document are one after the other, in whichever processes: of two only the memories of one are
   * left. Without it documents are not replaced: 501.
   */
  replaceDocuments? (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], now: number,
    idempotency?: IdempotentWrite, signal?: AbortSignal,
  ): Promise<InsertOutcome[]>
  search (request: SearchRequest): Promise<SearchResult>
  /**
   * Gives memories the vectors that they were stored without. Those that are gone, that have vectors, or whose passages
   * are not as many, are passed over. A store that has this and `listUnembedded` is written to before the vectors are
   * made.
   * @returns how many memories took theirs
   */
  attachVectors? (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number>
  /**
   * Memories of all banks without vectors of the store's space, by tenant, bank and id; banks of another space are left
   * out.
   */
  listUnembedded? (
    request: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]>
  get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined>
  /** Newest first: falling `retainedAt`, then falling `memoryId`. */
  list (bank: BankKey, request: ListRequest): Promise<Memory[]>
  /**
   * Counts the memories that pass the filters, up to `limit`. A store that has this takes all that a ListRequest may
   * have; with another a list that needs more is answered 501.
   */
  countMemories? (bank: BankKey, request: { now: number, filters: ListFilters, limit: number }): Promise<number>
  /** Undefined when there is no such memory; one without a document has no neighbours. Without it: 501. */
  neighbours? (bank: BankKey, memoryId: string, request: NeighboursRequest): Promise<Neighbourhood | undefined>
  /**
   * Removes for good what the selector names; with `dryRun` only counts.
   * @returns the number and up to `idLimit` ids
   */
  remove (
    bank: BankKey, selector: Selector, options: RemoveOptions, idempotency?: IdempotentWrite,
  ): Promise<RemoveOutcome>
  /** Banks that hold at least one memory, by tenant (none first), then by bank id in code-unit order. */
  listBanks (request: ListBanksRequest): Promise<BankSummary[]>
  statistics (bank: BankKey, now: number): Promise<BankStatistics>
  /** Counts the memories of a bank by `retainedAt`. Without it the growth of a bank is answered 501. */
  countByDay? (bank: BankKey, range: DayRange): Promise<DayCounts>
  /**
   * The bank as it stood when the call was made, oldest first, however long the reading takes.
   * @param signal ends a call that has not been answered: it rejects with the signal's reason soon
   */
  scan (bank: BankKey, now: number, signal?: AbortSignal): Promise<Scan>
  /**
   * Adds memories with their ids. A conflict is an equal id or an equal fingerprint, within the call too. All or
   * nothing, and with it the configuration of the bank when one is given, which is then without `expected`.
   * @param signal gives up a call that has not begun to write: it rejects with the signal's reason, and nothing is done
   */
  import (
    bank: BankKey, memories: readonly NewMemory[], onConflict: OnConflict, now: number,
    idempotency?: IdempotentWrite, config?: BankConfigChange, signal?: AbortSignal,
  ): Promise<ImportOutcome>
  /** Where the configuration of banks is kept. A store without it takes none: `import` is never given one then. */
  readonly bankConfigs?: BankConfigStore
  /**
   * Removes all memories of a bank, its configuration and its history, in one transaction; a store with `bankConfigs`
   * has it. Replicas learn of it by `bankConfigs.changedSince`.
   * @returns the number of memories, and whether there was a configuration
   */
  removeBank? (bank: BankKey, now: number): Promise<RemovedBank>
  /**
   * Counts what is to be used, all of it or nothing: however many calls there are at the same moment, none brings a
   * count above the limit that it came with. Counts outlive what is removed from the bank; those of past days may be
   * given up a day later. A store that has this and `adjustUsage` keeps quotas over restarts and for all processes that
   * share it; with another each process counts for itself.
   */
  reserveUsage? (entries: readonly UsageReservation[]): Promise<UsageOutcome>
  /** Adds amounts to counts, without a limit and never below 0. A count that is not there is passed over. */
  adjustUsage? (entries: readonly UsageEntry[]): Promise<void>
  /** How its connections stand, for metrics; asks no database. */
  poolStatus? (): PoolStatus | undefined
  close (): Promise<void>
}

/** The methods that a class named in the configuration must have. */
export const VECTOR_STORE_METHODS = [
  'health', 'insert', 'search', 'get', 'list', 'remove', 'listBanks', 'statistics', 'scan', 'import', 'close',
] as const satisfies ReadonlyArray<keyof VectorStore>
