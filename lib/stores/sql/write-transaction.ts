import { bankKeyString, type BankKey } from '../../identity/context.js'
import { KeyedQueue } from '../../concurrency/keyed-queue.js'
import {
  IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, recordText, type IdempotentWrite, type NewMemory, type WriteOptions,
} from '../vector-store.js'
import {
  SqlError, statementsOf, type Executor, type Queries, type Transaction, type TransactionOptions,
} from './executor.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'
import type { VectorWriter } from './vector-writer.js'

/** Maximum number of writes of one bank that wait for `runAlone`. */
const MAX_WAITING = 100
/** How long a write waits for it, in milliseconds. */
const MAX_WAIT_MS = 300_000

/** What a transaction changed, for `afterCommit`. */
export interface Changes {
  /** Memories that were written or removed. */
  memories: number
  /** Memories that came with vectors but were stored without. */
  unembedded: number
}

interface Write extends WriteOptions {
  /** The memories to store, if any. */
  readonly memories?: readonly NewMemory[]
}

type Work<T> = (tx: Transaction, changes: Changes) => Promise<T>

export interface WriteTransactionsOptions {
  executor: Executor
  statements: Statements
  vectors: VectorWriter
  /** Called after the commit of a write with the number of memories written or removed; the write waits for it. */
  noteChanges: (memories: number) => Promise<void>
}

/** Runs each write in one transaction, which also keeps the record of its idempotency key. */
export class WriteTransactions {
  readonly #options: WriteTransactionsOptions
  /** By bank: imports, and removals of all memories. */
  readonly #alone = new KeyedQueue({
    maxWaiting: MAX_WAITING,
    waitMs: MAX_WAIT_MS,
    queueFullError: () => new SqlError('busy', `${MAX_WAITING} imports into the bank or removals of it are waiting`),
    timeoutError: () => new SqlError('busy', 'Earlier imports into the bank or removals of it did not end in time'),
  })

  constructor (options: WriteTransactionsOptions) {
    this.#options = options
  }

  /**
   * A transaction that was certainly rolled back is retried. One that lost its connection may have been committed; it
   * is retried only with an idempotency key, which then finds the record of the first attempt.
   */
  async run<T> (
    bank: BankKey, write: Write, work: Work<T>, options: TransactionOptions = {},
  ): Promise<T> {
    const { idempotency, signal } = write
    let changes: Changes
    const once = async () => await this.#options.executor.transaction(async (tx) => {
      changes = { memories: 0, unembedded: 0 }
      const outcome = await work(tx, changes)
      if (idempotency !== undefined) await this.#keepRecord(tx, bank, idempotency, outcome, write.now)
      return outcome
    }, { ...options, signal })
    const outcome = await retrySerializationFailures(once).catch(async (error: unknown) => {
      if (idempotency === undefined || !(error instanceof SqlError && error.kind === 'connection')) throw error
      return await once().catch((again: unknown) => {
        throw again instanceof IdempotencyKeyTaken ? new IdempotencyKeyTaken({ isOwn: true }) : again
      })
    })
    await this.afterCommit(bank, write, changes!)
    return outcome
  }

  /** Called by `run`; a write that is a single statement calls it itself. */
  async afterCommit (bank: BankKey, { memories = [], now }: Write, changes: Changes): Promise<void> {
    const { vectors, noteChanges } = this.#options
    if (changes.unembedded > 0) await vectors.attachMissing(bank, memories, now)
    // After the commit, because an analysis of the tables sees nothing before it.
    await noteChanges(changes.memories)
  }

  /**
   * Serializes the work with imports into the bank and removals of all its memories, so that each sees the memories
   * stored by the previous one. Work is queued before it gets a connection, so that one bank does not hold several of
   * them to wait for the same lock.
   */
  async runAlone<T> (bank: BankKey, write: Write, work: Work<T>): Promise<T> {
    const run = async () => await this.run(bank, write, async (tx, changes) => {
      await tx.query(this.#options.statements.locks.lockImports, bankParameters(bank))
      write.signal?.throwIfAborted()
      return await work(tx, changes)
    }, { bulk: true })
    return await this.#alone.run(bankKeyString(bank), run, write.signal)
  }

  /** Runs single statements, each of which is its own transaction. */
  autocommitted (signal: AbortSignal | undefined): Queries {
    return statementsOf(this.#options.executor, { signal })
  }

  async #keepRecord (
    tx: Transaction, bank: BankKey, idempotency: IdempotentWrite, outcome: unknown, now: number,
  ): Promise<void> {
    const kept = await tx.query(this.#options.statements.keepIdempotencyRecord, [
      ...bankParameters(bank), idempotency.key, idempotency.requestFingerprint, recordText(idempotency, outcome),
      now, now - IDEMPOTENCY_LIFETIME_MS,
    ])
    if (kept.length === 0) throw new IdempotencyKeyTaken()
  }
}
