import type { Trust } from '../identity/trust.js'
import type { NewBankConfig } from './bank-configs.js'
import type { IdempotentWrite } from './idempotency.js'
import type { ListFilters } from './readings.js'

/** What every write receives in addition to its memories or its selection of them. */
export interface WriteOptions {
  /** Memories that have expired by this instant do not exist for the write. */
  readonly now: number
  /** Only a store with `findIdempotencyRecord` receives it. */
  readonly idempotency?: IdempotentWrite | undefined
  /** Cancels a call that has not begun to write: it rejects with the signal's reason, and nothing is written. */
  readonly signal?: AbortSignal | undefined
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
  | { readonly stored: true, readonly memoryId: string }
  /** An exact repeat of this memory. */
  | { readonly stored: false } & StoredMemory

export interface ImportOutcome {
  readonly imported: number
  readonly skipped: number
  readonly overwritten: number
}

/**
 * How an import resolves a conflict. skip: the existing memory stays. overwrite: the new memory replaces it. supersede:
 * the same, but the call rejects with LowerTrustError if an existing memory is of higher trust than its replacement,
 * and with MemoryChangedError if a memory to be replaced is not the one that `supersedes` of its replacement names, or
 * if a memory with the same fingerprint but another id is of the same trust, or the new memory has `supersedes`: that
 * one is then repeated, and would be lost beside the memory to be replaced.
 */
export type OnConflict = 'skip' | 'overwrite' | 'supersede'

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
 * replacement exists. Nothing was written.
 */
export class MemoryChangedError extends Error {
  constructor () {
    super('A memory that was to be replaced or kept has changed, or its replacement exists already')
    this.name = 'MemoryChangedError'
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
