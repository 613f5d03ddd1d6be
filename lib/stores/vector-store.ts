import type { BankKey } from '../access/context.js'
import type { Trust } from '../access/trust.js'
import type { Clock } from '../base/clock.js'
import { DAY_MS } from '../base/days.js'
import type { BankConfigStore, NewBankConfig } from './bank-configs.js'
import type { ExtractionQueue, HeldExtractions } from './extraction-queue.js'
import { type MemoryValues, memoryValues } from './memory-fields.js'
import type { ProposalStore } from './proposals.js'
import type { Filters, PossiblyLate, SearchRequest, SearchResult } from './searches.js'

export type { MessageFields, Metadata } from './memory-fields.js'
export * from './searches.js'

/** A part of a memory's text that is searched as a unit. A short memory has one passage, which is its whole text. */
export interface Passage {
  /** UTF-16 offsets into the memory's text, half-open. */
  readonly start: number
  readonly end: number
  /** Index terms (lib/text) with their weights, 1 for each occurrence. Packed before the memory is stored. */
  terms: ReadonlyMap<string, number>
  /** Length for the lexical score: the number of terms that are not stop words. */
  readonly length: number
  /**
   * Whether the text ends in a question, so that what follows it in its document is likely to answer it. Default false.
   */
  readonly question?: boolean
  /**
   * Embedding of the passage; absent when the semantic strategy is off, or when it is added later (`attachVectors`).
   */
  readonly vector?: Float32Array
}

/** One memory: the fields of the table in memory-fields.ts. */
export type Memory = MemoryValues

/** The fields of a memory alone. */
export function memoryOf (source: Memory): Memory {
  return memoryValues(({ name }) => source[name])
}

/** A version of a memory. */
export interface Version extends Memory {
  /** When the next version was made; null for the last. */
  readonly endedAt: number | null
  /** Whether it was emptied; its other fields are those of an empty memory then. */
  readonly redacted: boolean
}

/**
 * The next version of a memory. A memory that was not told anew keeps its passages and vectors, whether or not it
 * changes its state.
 */
export interface Revision {
  /** Its `version` is one more than that of the version which it follows. */
  readonly memory: Memory
  readonly fingerprint: string
  /** Of a text or speaker that differs from that of the version before; only of a memory that is to be current. */
  readonly passages?: readonly Passage[] | undefined
}

/** A memory that has changed since an instant. */
export interface ChangedMemory {
  readonly memory: Memory
  /** As it was at the instant; undefined when it did not exist. */
  readonly then: Version | undefined
}

/** A memory to be stored, with the data that search needs. */
export interface NewMemory extends Memory {
  /** Equal for exact repeats within a bank; no two stored memories of a bank share one. */
  readonly fingerprint: string
  /**
   * Of an import with `revise`: the fingerprint of the stored memory of the same id whose next version this is. Absent:
   * it is not meant to be one.
   */
  readonly revises?: string | undefined
  /** Of an import: its versions before this one. */
  readonly earlier?: ReadonlyArray<NewMemory & Version> | undefined
  readonly passages: readonly Passage[]
}

/** The embedding model of the vectors that a store receives. */
export interface EmbeddingSpace {
  /** Only vectors of the same model are comparable; it differs for other dimensions (`embeddingSpace`). */
  readonly model: string
  readonly dimensions: number
}

/** Vectors computed after the write, one for each passage of the memory, in order. */
export interface LateVectors {
  readonly memoryId: string
  /** Of the memory whose text the vectors are computed from; another write may have replaced it since. */
  readonly fingerprint: string
  readonly vectors: readonly Float32Array[]
}

export interface Unembedded {
  readonly bank: BankKey
  readonly memory: Memory
  readonly fingerprint: string
  readonly passages: ReadonlyArray<Readonly<{ start: number, end: number }>>
}

/** The conditions on a memory of a list, in addition to the filters of a search. */
export interface ListFilters extends Filters {
  /** Exactly this level. */
  readonly trust?: Trust
  /** Whether it has no `occurredAt`. */
  readonly undated?: true
  /** Whether it is a message of a conversation. */
  readonly messages?: true
  /** Inclusive bound on `retainedAt`. */
  readonly retainedAfter?: number
  /** Exclusive bound on `retainedAt`. */
  readonly retainedBefore?: number
}

export interface ListRequest extends PossiblyLate {
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
   * The number of memories by tag, in any order: of the 100 most used tags (`MAX_COUNTED_VALUES` of
   * most-frequent.ts). Which of equally used ones it leaves out at the limit is not defined, but a store always leaves
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

export interface ConversationSummary {
  readonly conversationId: string
  readonly messageCount: number
  /** The `retainedAt` of its newest message. */
  readonly lastRetainedAt: number
}

export interface ListConversationsRequest {
  readonly now: number
  readonly limit: number
  /** The last conversation of the previous page. */
  readonly after?: string | undefined
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
  /** The number of memories, and of the versions that follow. */
  readonly count: number
  /**
   * To be iterated once. A reader that stops before the end calls `return`, where the store provides it, even before
   * the first memory: it releases the resources held for the reader.
   */
  readonly memories: AsyncIterable<Memory | Version> & { return?: (value?: undefined) => Promise<unknown> }
}

/** What every write receives in addition to its memories or its selection of them. */
export interface WriteOptions {
  /** Memories that have expired by this instant do not exist for the write. */
  readonly now: number
  /** Only a store with `findIdempotencyRecord` receives it. */
  readonly idempotency?: IdempotentWrite | undefined
  /** Notes the current memories that it stores for `takeExtractions`. Only a store with that method receives it. */
  readonly extract?: boolean | undefined
  /** Ends these extractions; the write rejects with MemoryChangedError when one of them is not held any more. */
  readonly extracted?: HeldExtractions | undefined
  /** Cancels a call that has not begun to write: it rejects with the signal's reason, and nothing is written. */
  readonly signal?: AbortSignal | undefined
}

export interface InsertOptions extends WriteOptions {
  /** The call rejects with MemoryChangedError when one of the memories is a repeat of one in the bank. */
  readonly expectNew?: true | undefined
}

export type Selector =
  | { readonly kind: 'ids', readonly memoryIds: readonly string[] }
  /** Filters that hold for every memory, such as `{}`, select none. */
  | { readonly kind: 'filters', readonly filters: ListFilters }
  | { readonly kind: 'all' }

/** A memory of the bank: what the answer of a retain says about it. */
export interface StoredMemory {
  readonly memoryId: string
  readonly passageCount: number
  readonly trust: Trust
}

export type InsertOutcome =
  /** `superseded`: the memories whose place it took; absent when there are none. */
  | { readonly stored: true, readonly memoryId: string, readonly superseded?: readonly string[] }
  /** An exact repeat of this memory. */
  | { readonly stored: false } & StoredMemory

export interface ImportOutcome {
  readonly imported: number
  readonly skipped: number
  readonly overwritten: number
}

/**
 * How an import resolves a conflict. skip: the existing memory stays. overwrite: the new memory replaces it, with its
 * versions. revise: the new memory becomes its next version, but the call rejects with LowerTrustError if an existing
 * memory is of higher trust than the new one, and with MemoryChangedError if a memory to be replaced is not the one
 * that `revises` of the new one names, or if a memory with the same fingerprint but another id is of the same trust, or
 * the new memory has `revises`: that one is then repeated, and would be lost beside the memory to be replaced.
 */
export type OnConflict = 'skip' | 'overwrite' | 'revise'

export interface ImportOptions extends WriteOptions {
  readonly onConflict: OnConflict
  /** Set in the same transaction. Only a store with `bankConfigs` receives it. */
  readonly config?: NewBankConfig | undefined
}

/** An existing memory is of higher trust than its replacement. Nothing was written. */
export class LowerTrustError extends Error {
  constructor () {
    super('A memory of higher trust exists')
    this.name = 'LowerTrustError'
  }
}

/**
 * A memory that was to be replaced or kept has been replaced by another or removed, or an exact repeat of its
 * replacement, or of a memory that was to be new, exists. Nothing was written.
 */
export class MemoryChangedError extends Error {
  constructor () {
    super('A memory that was to be replaced or kept has changed, or one that was to be new exists already')
    this.name = 'MemoryChangedError'
  }
}

/** Another memory that is current has the key or, with `key` undefined, the fingerprint of a memory to be current. */
export class PlaceTakenError extends Error {
  readonly memoryId: string
  readonly key: string | undefined

  constructor (memoryId: string, key?: string) {
    super('Another memory stands in the place of this one')
    this.name = 'PlaceTakenError'
    this.memoryId = memoryId
    this.key = key
  }
}

/** Memories that a new one supersedes are not in the bank. Nothing was written. */
export class UnknownMemoriesError extends Error {
  readonly memoryIds: readonly string[]

  constructor (memoryIds: readonly string[]) {
    super('The bank has no such memories')
    this.name = 'UnknownMemoriesError'
    this.memoryIds = memoryIds
  }
}

/** Documents whose memories are replaced by those of a write. */
export interface DocumentReplacement {
  readonly documentIds: readonly string[]
  /** Ids of memories of the documents that are kept. */
  readonly keep: readonly string[]
}

export interface RemoveOptions extends WriteOptions {
  /** Memories are only counted. */
  readonly dryRun: boolean
  /** Maximum number of ids in the outcome. */
  readonly idLimit: number
}

export interface RemoveOutcome {
  readonly count: number
  readonly memoryIds: readonly string[]
}

export interface RemovedBank {
  readonly memoryCount: number
  readonly configRemoved: boolean
}

/** How long the record of an idempotency key is kept, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = DAY_MS

/** What a store records in the transaction of a write, for a caller who repeats the request with the same key. */
export interface IdempotentWrite {
  /** SHA-256 of caller, operation and key, in hex. */
  readonly key: string
  /** Equal for equal requests. */
  readonly requestFingerprint: string
  /** The data that the response needs in addition to the outcome of the write, as JSON. */
  readonly context: string
}

/** The record of a write, from which its response can be rebuilt. */
export interface IdempotencyRecord {
  readonly requestFingerprint: string
  /** Written by `recordText`, parsed by `readRecord`. */
  readonly text: string
}

/** A request has used this key for its write. Nothing more was written; the record of the key can be looked up. */
export class IdempotencyKeyTaken extends Error {
  /** Whether the request is this one, of which a first attempt lost its connection and had been committed. */
  readonly isOwn: boolean

  constructor ({ isOwn = false } = {}) {
    super('The work of this idempotency key has been done')
    this.name = 'IdempotencyKeyTaken'
    this.isOwn = isOwn
  }
}

/** The text of a record. The context is inserted unparsed: that of a batch is large, and a transaction is open. */
export function recordText ({ context }: IdempotentWrite, outcome: unknown): string {
  return `{"context":${context},"outcome":${JSON.stringify(outcome)}}`
}

export function readRecord (text: string): { readonly context: unknown, readonly outcome: unknown } {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && 'context' in value && 'outcome' in value) return value
  throw new Error('The record of an idempotency key has an unknown form')
}

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
/** Counts of rate limits are of a minute; the rest is for gateways whose clocks differ. */
export const RATE_LIFETIME_SECONDS = 120

export interface VectorStore extends Partial<ExtractionQueue> {
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
   * A new memory supersedes the current ones that it names and the one with its key, in a store with `revise`; others
   * receive neither. Their `validUntil` is then set to its `validFrom`, else `occurredAt`, else `now`, unless told. A
   * fact whose key has a memory that is no fact, or of higher trust, is stored without it.
   * @returns outcomes in order
   * @throws LowerTrustError when a memory that would be superseded is of higher trust, and UnknownMemoriesError
   */
  insert (bank: BankKey, memories: readonly NewMemory[], options: InsertOptions): Promise<InsertOutcome[]>
  /**
   * Stores memories as `insert` does and removes, in the same transaction, all other memories of the documents except
   * those to keep; it rejects with MemoryChangedError when one of these does not exist any more. Calls for one document
   * are serialized, across processes too: after two calls only the memories of one remain. Without this method,
   * replacing documents is `not_supported`.
   */
  replaceDocuments? (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]>
  /**
   * Makes the next versions of memories, all or none.
   * @throws MemoryChangedError when a memory does not exist or is not of the version that its revision follows;
   * PlaceTakenError
   */
  revise? (bank: BankKey, revisions: readonly Revision[], options: WriteOptions): Promise<void>
  /** The versions of a memory, the last one first; none when it does not exist. */
  versions? (bank: BankKey, memoryId: string, now: number): Promise<Version[]>
  /**
   * Empties a version that is not the last, and removes the facts that are derived from the memory, which may say the
   * same; it is then noted again, as by a write with `extract`.
   * @returns whether there is such a version
   */
  redact? (bank: BankKey, memoryId: string, version: number, options: WriteOptions): Promise<boolean>
  /** Memories of every state that have changed after the instant, by id, up to `limit`. */
  changedAfter? (
    bank: BankKey, request: Readonly<{ instant: number, now: number, limit: number }>,
  ): Promise<ChangedMemory[]>
  /** The number of memories that were retained by the instant and have been removed since. */
  countRemovedAfter? (bank: BankKey, instant: number): Promise<number>
  /** In a store with `revise`, `filters` may have a state and a time of the world; otherwise never. */
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
  /** In whatever state it is. */
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
   * Removes the selected memories permanently, in whatever state, with all their versions; with `dryRun` only counts
   * them. Filters are those of their last versions. Whenever a memory is removed, by this or by another method or by
   * its end, facts that are derived from it and from no other memory of the bank are removed with it; they are not
   * counted.
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
   * The conversations of a bank, which have at least one message, ordered by id. Without this method they are
   * `not_supported`.
   */
  listConversations? (bank: BankKey, request: ListConversationsRequest): Promise<ConversationSummary[]>
  /**
   * The bank as of the call, oldest first, however long the reading takes.
   * @param isWhole whether superseded and retired memories follow, and each memory has its earlier versions, as
   * Versions, after it; only a store with `revise` receives it
   * @param signal cancels a call that has not settled: it soon rejects with the signal's reason
   */
  scan (bank: BankKey, now: number, signal?: AbortSignal, isWhole?: boolean): Promise<Scan>
  /**
   * Adds memories with their ids, all or none. A conflict is an equal id or an equal fingerprint, also within the call.
   */
  import (bank: BankKey, memories: readonly NewMemory[], options: ImportOptions): Promise<ImportOutcome>
  /** Keeps what may supersede what; only in a store with `revise`. */
  readonly proposals?: ProposalStore
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
  /**
   * Adds an amount, which may be negative, to the count of a key, and returns the count with it. Counts are exact for
   * all processes that share the store, and dropped RATE_LIFETIME_SECONDS after their first use. Without this method
   * each process counts its rate limits for itself.
   * @param key begins with the key of a bank
   */
  countRate? (key: string, amount: number): Promise<number>
  /** The state of the connection pool, for metrics; does not query the database. */
  poolStatus? (): PoolStatus | undefined
  close (): Promise<void>
}

/** The methods that a class named in the configuration must have. */
export const VECTOR_STORE_METHODS = [
  'health', 'insert', 'search', 'get', 'list', 'remove', 'listBanks', 'statistics', 'scan', 'import', 'close',
] as const satisfies ReadonlyArray<keyof VectorStore>
