import type { Clock } from '../time/clock.js'
import type { BankKey } from '../identity/context.js'
import type { TokenCount } from '../text/tokens.js'
import type { Trust } from '../identity/trust.js'
import type { BankConfigChange, BankConfigStore } from './bank-configs.js'

export type Metadata = Record<string, string | number | boolean | null>

/** A part of a memory's text that is searched as a unit. A short memory has one, over its whole text. */
export interface Passage {
  /** UTF-16 offsets into the memory's text, half-open. */
  start: number
  end: number
  /** Index terms (lib/text) with their weights; 1 for each occurrence. */
  terms: ReadonlyMap<string, number>
  /** Length for the lexical score: terms that are no stop words. */
  length: number
  /** Whether the text ends in a question, so that what follows it in its document is likely to answer it. Default false. */
  question?: boolean
  /** Embedding of the passage; absent when the semantic strategy is off, and when it comes later (`attachVectors`). */
  vector?: Float32Array
}

/** One memory. Instants are milliseconds since the epoch. */
export interface Memory {
  /** UUIDv7, unique within its bank. */
  memoryId: string
  text: string
  tags: readonly string[]
  metadata: Readonly<Metadata>
  occurredAt: number | null
  retainedAt: number
  /** From this instant on the memory does not exist. */
  expiresAt: number | null
  documentId: string | null
  source: string | null
  /** Tokens of the text. A store that keeps memories elsewhere keeps the number: `tokens.value` when it writes, `TokenCount.known` when it reads. */
  tokens: TokenCount
  /** Decided at write time. */
  trust: Trust
}

/** A memory on its way into a store, with what search needs. */
export interface NewMemory extends Memory {
  /** Equal for exact repeats within a bank; no two memories of a bank share one. */
  fingerprint: string
  passages: readonly Passage[]
}

/** What a memory must satisfy. All conditions hold together; an absent one holds always. */
export interface Filters {
  /** A memory without tags never matches a tag filter. */
  tags?: { values: readonly string[], match: 'any' | 'all' }
  /** Every listed key is there with an equal value. */
  metadata?: Readonly<Metadata>
  /** Inclusive. A memory without `occurredAt` never matches an occurred bound. */
  occurredAfter?: number
  /** Exclusive. */
  occurredBefore?: number
  /** Inclusive bound on `retainedAt`. */
  asOf?: number
  /** Inclusive lower bound on `trust`; `suspect` lets all through. */
  minTrust?: Trust
}

/** The lexical strategy as a search asks for it; lib/stores/context.ts tells what comes of it. */
export interface LexicalRequest {
  /** Distinct. */
  terms: readonly string[]
  /** How soon more of the same term stops counting, >= 0. */
  k1: number
  /**
   * What a passage pays for its length. pivot: nothing up to so many terms, in proportion above it. b: of its length beside the bank's average,
   * 0 (nothing) to 1 (in proportion).
   */
  length: { pivot: number } | { b: number }
  /** Whether memories are found by the words of their neighbours in the document too. */
  context: boolean
}

export interface SearchRequest {
  /** At least one; candidates of all banks compete in one ranking. */
  banks: readonly BankKey[]
  /** Memories that have expired by then are gone. */
  now: number
  filters: Filters
  /** Absent: not asked for. */
  lexical?: LexicalRequest
  /** The semantic strategy: the query's embedding. Absent: not asked for. */
  semantic?: { vector: Float32Array }
  /** Candidates that each strategy returns at most, over all banks. */
  limit: number
}

/** How a memory answers a query, by its best passage; each within 0–1. */
export interface CandidateScores {
  /** The share of the best BM25 score that the query could reach in the bank, by the words of the memory and of its neighbours; 0 when none is a query term. */
  lexical?: number
  /** The same by the memory's own words alone, at most `lexical`; equal to it without `context`. */
  own?: number
  /** The cosine, negative ones as 0. Absent for a memory without vectors. */
  semantic?: number
}

export interface Candidate {
  bank: BankKey
  memory: Memory
  /** Of the strategy that found it: `scores.lexical` or `scores.semantic`. */
  score: number
  /** By every strategy that was asked for, also one that did not have it among its best. */
  scores: CandidateScores
  /** The memory's number of passages. */
  passageCount: number
  /**
   * The passages that matched, best first, ties in order; at most three. Of a lexical find each with its own score; of one that only its neighbours'
   * words found, its first with the lexical score of the memory.
   */
  passages: ReadonlyArray<{ start: number, end: number, score: number }>
}

export interface SearchResult {
  /** Falling score, ties by memory id. Absent when the strategy was not asked for. */
  lexical?: Candidate[]
  semantic?: Candidate[]
  /** Memories that pass the filters and that a strategy finds, whatever `limit` is; of those that only neighbours find, the ones in a window of the pool. */
  total: number
}

export type Selector =
  | { kind: 'ids', memoryIds: readonly string[] }
  | { kind: 'tags', tags: readonly string[], match: 'any' | 'all' }
  | { kind: 'all' }

export type InsertOutcome =
  | { stored: true, memoryId: string }
  /** An exact repeat: id, passage count and trust are those of the memory that stands. */
  | { stored: false, memoryId: string, passageCount: number, trust: Trust }

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

/** Vectors that were made after the write: one for each passage of the memory, in order. */
export interface LateVectors {
  memoryId: string
  vectors: readonly Float32Array[]
}

export interface Unembedded {
  bank: BankKey
  memory: Memory
  passages: ReadonlyArray<{ start: number, end: number }>
}

export interface ImportOutcome {
  imported: number
  skipped: number
  overwritten: number
}

export interface Scan {
  count: number
  /**
   * To be read once. Whoever does not read it to its end calls `return`, where the store has one, also before the first memory: it lets go
   * what is held for the reader.
   */
  memories: AsyncIterable<Memory> & { return?: (value?: undefined) => Promise<unknown> }
}

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

/** The embedding model whose vectors a store is given. */
export interface EmbeddingSpace {
  /** Vectors of the same model may be compared. */
  model: string
  dimensions: number
}

/** What a store is told before it is used. */
export interface StoreStart {
  /** Absent when the semantic strategy is off: then no vectors come. */
  space?: EmbeddingSpace
  clock: Clock
  /** Bytes of temporary files that scans may have together (`bounds.spool_bytes`); beyond them a scan rejects with server_busy. */
  spoolBytes?: number
  /** For the operator's log, as `info`. Never with content of a memory. */
  warn: (message: string) => void
  info?: (message: string) => void
}

/** The answer to a write, kept beside the work for a caller who asks again with the same idempotency key. */
export interface Receipt<Outcome> {
  /** SHA-256 of caller, operation and key, in hex. */
  key: string
  /** Equal for equal requests. */
  requestFingerprint: string
  /** The answer that belongs to an outcome, as JSON. */
  answer: (outcome: Outcome) => string
}

export interface KeptReceipt {
  requestFingerprint: string
  answer: string
}

/** Another request under the same key was done first. Nothing was written; its answer can be found. */
export class ReceiptTaken extends Error {
  constructor () {
    super('The work of this idempotency key has been done')
    this.name = 'ReceiptTaken'
  }
}

/** What stands is of higher trust than what would take its place. Nothing was written. */
export class LowerTrustError extends Error {
  constructor () {
    super('A memory of higher trust stands')
    this.name = 'Outranked'
  }
}

/**
 * What an import does about a conflict. skip: what stands is left. overwrite: the new memory takes its place. supersede: the same, but
 * when one of those that stand is of higher trust than what would replace it, the call rejects with Outranked.
 */
export type OnConflict = 'skip' | 'overwrite' | 'supersede'

/** How long a receipt is kept, in milliseconds. */
export const RECEIPT_LIFETIME_MS = 86_400_000

/** An amount of what a bank uses on a UTC day. */
export interface UsageEntry {
  bank: BankKey
  /** Days since the epoch. */
  day: number
  /** What is counted. */
  counter: string
  /** Whole; negative only to correct a count. */
  amount: number
}

export interface UsageReservation extends UsageEntry {
  /** What the count may come to. */
  limit: number
}

export type UsageOutcome =
  | { granted: true }
  /** Nothing was counted. `usedUp` is the index of an entry that finds no room. */
  | { granted: false, usedUp: number }

export interface RemoveOptions {
  now: number
  dryRun: boolean
  idLimit: number
  /** Gives up a call that has not begun to write: it rejects with the signal's reason, and nothing is done. */
  signal?: AbortSignal | undefined
}

export interface RemoveOutcome {
  count: number
  memoryIds: string[]
}

export interface RemovedBank {
  memoryCount: number
  configRemoved: boolean
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
   * The answer that a write under this key was given within RECEIPT_LIFETIME_MS, on whichever bank of the tenant. A store that has this
   * method takes receipts: it keeps them in the transaction of the work, and rejects with ReceiptTaken when the key was used meanwhile,
   * on another bank too.
   */
  findReceipt? (tenantId: string | null, key: string, now: number): Promise<KeptReceipt | undefined>
  health (): Promise<StoreHealth>
  /**
   * Stores what is new, in one transaction. Repeats (equal fingerprint, also within the call) are not stored again; but one that is of
   * higher trust than the memory that stood before the call takes its place, as a new memory with its own id, and the other is gone.
   * @param signal gives up a call that has not begun to write: it rejects with the signal's reason, and nothing is done
   * @returns outcomes in order
   */
  insert (bank: BankKey, memories: readonly NewMemory[], now: number, receipt?: Receipt<InsertOutcome[]>, signal?: AbortSignal): Promise<InsertOutcome[]>
  search (request: SearchRequest): Promise<SearchResult>
  /**
   * Gives memories the vectors that they were stored without. Those that are gone, that have vectors, or whose passages are not as many,
   * are passed over. A store that has this and `listUnembedded` is written to before the vectors are made.
   * @returns how many memories took theirs
   */
  attachVectors? (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number>
  /** Memories of all banks without vectors of the store's space, by tenant, bank and id; banks of another space are left out. */
  listUnembedded? (request: { now: number, limit: number, after?: BankKey & { memoryId: string } }): Promise<Unembedded[]>
  get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined>
  /** Newest first: falling `retainedAt`, then falling `memoryId`. */
  list (bank: BankKey, request: ListRequest): Promise<Memory[]>
  /** Removes for good what the selector names; with `dryRun` only counts. @returns the number and up to `idLimit` ids */
  remove (bank: BankKey, selector: Selector, options: RemoveOptions, receipt?: Receipt<RemoveOutcome>): Promise<RemoveOutcome>
  /** Banks that hold at least one memory, by tenant (none first), then by bank id in code-unit order. */
  listBanks (request: ListBanksRequest): Promise<BankSummary[]>
  statistics (bank: BankKey, now: number): Promise<BankStatistics>
  /**
   * The bank as it stood when the call was made, oldest first, however long the reading takes.
   * @param signal ends a call that has not been answered: it rejects with the signal's reason soon
   */
  scan (bank: BankKey, now: number, signal?: AbortSignal): Promise<Scan>
  /**
   * Adds memories with their ids. A conflict is an equal id or an equal fingerprint, within the call too. All or nothing, and with it the
   * configuration of the bank when one is given, which is then without `expected`.
   * @param signal gives up a call that has not begun to write: it rejects with the signal's reason, and nothing is done
   */
  import (
    bank: BankKey, memories: readonly NewMemory[], onConflict: OnConflict, now: number,
    receipt?: Receipt<ImportOutcome>, config?: BankConfigChange, signal?: AbortSignal,
  ): Promise<ImportOutcome>
  /** Where the configuration of banks is kept. A store without it takes none: `import` is never given one then. */
  readonly bankConfigs?: BankConfigStore
  /**
   * Removes all memories of a bank, its configuration and its history, in one transaction; a store with `bankConfigs` has it. Replicas
   * learn of it by `bankConfigs.changedSince`.
   * @returns the number of memories, and whether there was a configuration
   */
  removeBank? (bank: BankKey, now: number): Promise<RemovedBank>
  /**
   * Counts what is to be used, all of it or nothing: however many calls there are at the same moment, none brings a count
   * above the limit that it came with. Counts outlive what is removed from the bank; those of past days may be given up a
   * day later. A store that has this and `adjustUsage` keeps quotas over restarts and for all processes that share it; with
   * another each process counts for itself.
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
