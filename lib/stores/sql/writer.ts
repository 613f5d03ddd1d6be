import { KeyedQueue } from '../../concurrency/keyed-queue.js'
import { type BankKey, bankKeyString } from '../../identity/context.js'
import { compareText } from '../../text/normal-form.js'
import {
  type DocumentReplacement, type EmbeddingSpace, IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, type IdempotentWrite,
  type ImportOptions, type ImportOutcome, type InsertOutcome, type LateVectors, type NewMemory, recordText,
  type RemovedBank, type RemoveOptions, type RemoveOutcome, type Selector, type WriteOptions,
} from '../vector-store.js'
import type { BankConfigWriter } from './bank-configs.js'
import {
  type Executor, type Queries, SqlError, statementsOf, type Transaction, type TransactionOptions,
} from './executor.js'
import {
  addCounts, type Counts, type Insertion, type InsertionContext, insertMemories, isOneBatch, planImport,
} from './insertion.js'
import {
  countChange, dryRunStatement, negative, removeChosen, removeLocked, removeLowerTrust, removeOutdated,
  requireComplete,
} from './removal.js'
import {
  isSerializationFailure, isUniqueViolation, retrySerializationFailures, serializationFailure,
} from './retrying.js'
import { bankParameters } from './rows.js'
import { type Statements, STATISTICS_SHARDS } from './statements.js'
import { VectorWriter } from './vector-writer.js'

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

interface SqlWriterOptions extends Omit<WriteTransactionsOptions, 'vectors'> {
  configs: BankConfigWriter
}

/** Changes banks, each change in one transaction. */
export class SqlWriter {
  readonly #statements: Statements
  readonly #configs: BankConfigWriter
  readonly #transactions: WriteTransactions
  readonly #vectors: VectorWriter
  #shard = 0

  constructor ({ executor, statements, configs, noteChanges }: SqlWriterOptions) {
    this.#statements = statements
    this.#configs = configs
    this.#vectors = new VectorWriter({ executor, statements, nextShard: () => this.#nextShard() })
    this.#transactions = new WriteTransactions({ executor, statements, vectors: this.#vectors, noteChanges })
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#vectors.start(space, warn)
  }

  async insert (
    bank: BankKey, memories: readonly NewMemory[], { now, idempotency, signal }: WriteOptions,
  ): Promise<InsertOutcome[]> {
    const work = await this.#begin(bank, memories, now)
    const write = { memories, now, idempotency, signal }
    if (memories.length === 1 && idempotency === undefined) {
      const insertion = await this.#insertAlone(memories, work, signal)
      if (insertion !== undefined) {
        const { outcomes, counts, unembedded } = insertion
        await this.#transactions.afterCommit(bank, write, { memories: counts.memories, unembedded })
        return outcomes
      }
    }
    return await this.#transactions.run(bank, write, async (tx, changes) => {
      const { counts, replaced } = await removeLowerTrust(tx, this.#statements, bank, memories, now)
      return (await this.#add(tx, memories, counts, { ...work, replaced }, changes)).outcomes
    }, { keepPlans: memories.length === 1 })
  }

  /**
   * One statement saves two round trips. It fails when a memory that it conflicts with has expired, is just being
   * removed or has lower trust; a transaction must then remove that one first.
   */
  async #insertAlone (
    memories: readonly NewMemory[], work: InsertionContext, signal: AbortSignal | undefined,
  ): Promise<Insertion | undefined> {
    try {
      const alone = this.#transactions.autocommitted(signal)
      return await insertMemories(alone, memories, { ...work, counted: true })
    } catch (error) {
      if (isSerializationFailure(error) || isUniqueViolation(error)) return undefined
      throw error
    }
  }

  async replaceDocuments (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[],
    { now, idempotency, signal }: WriteOptions,
  ): Promise<InsertOutcome[]> {
    const work = await this.#begin(bank, memories, now)
    const write = { memories, now, idempotency, signal }
    return await this.#transactions.runAlone(bank, write, async (tx, changes) => {
      const removedCounts = await removeOutdated(tx, this.#statements, bank, replacement, memories, now)
      changes.memories -= removedCounts.memories
      const { counts, replaced } = await removeLowerTrust(tx, this.#statements, bank, memories, now)
      addCounts(removedCounts, counts)
      return (await this.#add(tx, memories, removedCounts, { ...work, replaced }, changes)).outcomes
    })
  }

  async import (
    bank: BankKey, memories: readonly NewMemory[], { now, onConflict, idempotency, config, signal }: ImportOptions,
  ): Promise<ImportOutcome> {
    const work = await this.#begin(bank, memories, now)
    const ordered = memories.toSorted((a, b) => compareText(a.memoryId, b.memoryId))
    const { lockExisting: statement } = this.#statements
    const write = { memories, now, idempotency, signal }
    return await this.#transactions.runAlone(bank, write, async (tx, changes) => {
      const plan = await planImport(tx, { bank, memories, ordered, onConflict, now, statement })
      const ids = plan.removed.map(({ memory_id: id }) => id)
      const removedCounts = await removeLocked(tx, this.#statements, bank, ids)
      const { outcomes } = await this.#add(tx, plan.added, removedCounts, work, changes).catch((error: unknown) => {
        throw isUniqueViolation(error) ? collision() : error
      })
      // Another transaction stored one of the memories after its conflicts were looked up, so they are looked up again.
      if (outcomes.some(({ stored }) => !stored)) throw collision()
      if (config !== undefined) await this.#configs.write(tx, bank, config)
      return plan.outcome
    })
  }

  async remove (
    bank: BankKey, selector: Selector, { now, dryRun, idLimit, idempotency, signal }: RemoveOptions,
  ): Promise<RemoveOutcome> {
    const write = { now, idempotency, signal }
    if (selector.kind === 'all' && !dryRun) {
      return await this.#transactions.runAlone(bank, write, async (tx, changes) => (
        await this.#removeAll(tx, bank, { now, idLimit, changes })
      ))
    }
    return await this.#transactions.run(bank, write, async (tx, changes) => {
      if (selector.kind === 'all' || dryRun) {
        const statement = dryRunStatement(this.#statements, bank, selector, { now, idLimit })
        if (statement === undefined) return { count: 0, memoryIds: [] }
        return toOutcome(await tx.query(statement.text, statement.values))
      }
      const options = { now, shard: this.#nextShard(), idLimit }
      return removed(await removeChosen(tx, this.#statements, bank, selector, options), changes)
    }, { bulk: selector.kind !== 'ids' })
  }

  async removeBank (bank: BankKey, write: WriteOptions): Promise<RemovedBank> {
    // Memories and configuration of an import must be removed together or not at all.
    return await this.#transactions.runAlone(bank, write, async (tx, changes) => {
      const { count } = await this.#removeAll(tx, bank, { now: write.now, idLimit: 0, changes })
      await this.#vectors.dropSpace(tx, bank)
      return { memoryCount: count, configRemoved: await this.#configs.remove(tx, bank, write.now) }
    })
  }

  async attachVectors (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    return await this.#vectors.attach(bank, vectors, now)
  }

  /**
   * Stores memories in a bank from which the memories that they replace have been removed.
   * @param removedCounts the change of the bank's statistics by that removal
   */
  async #add (
    tx: Transaction, memories: readonly NewMemory[], removedCounts: Counts, work: InsertionContext, changes: Changes,
  ): Promise<Insertion> {
    const counted = memories.length === 1 || isOneBatch(memories)
    const insertion = await insertMemories(tx, memories, { ...work, counted })
    const counts = { ...removedCounts }
    if (!counted) addCounts(counts, insertion.counts)
    await countChange(tx, this.#statements, work.bank, work.shard, counts)
    changes.memories += insertion.counts.memories
    changes.unembedded += insertion.unembedded
    return insertion
  }

  /** Context of a write; before it writes vectors the bank adopts the embedding space, unless it has another. */
  async #begin (bank: BankKey, memories: readonly NewMemory[], now: number): Promise<InsertionContext> {
    const space = await this.#vectors.adopt(bank, memories)
    return { statements: this.#statements, bank, now, shard: this.#nextShard(), space }
  }

  /** The transaction must have the right to import, or else imports, which replace memories, make it start again. */
  async #removeAll (
    tx: Transaction, bank: BankKey, { now, idLimit, changes }: { now: number, idLimit: number, changes: Changes },
  ): Promise<RemoveOutcome> {
    await tx.query(this.#statements.locks.lockBank, bankParameters(bank))
    const { removal } = this.#statements
    const [row] = await tx.query<RemovedRow & Counts>(removal.removeBank, [...bankParameters(bank), now, idLimit])
    const outcome = toOutcome([row!])
    await countChange(tx, this.#statements, bank, this.#nextShard(), negative(row!))
    return removed(outcome, changes)
  }

  #nextShard (): number {
    this.#shard = (this.#shard + 1) % STATISTICS_SHARDS
    return this.#shard
  }
}

function removed (outcome: RemoveOutcome, changes: Changes): RemoveOutcome {
  changes.memories += outcome.count
  return outcome
}

interface RemovedRow {
  count: number
  memory_ids: string[]
  is_partial?: boolean
}

function toOutcome ([row]: RemovedRow[]): RemoveOutcome {
  requireComplete(row!)
  return { count: row!.count, memoryIds: row!.memory_ids }
}

/** The error that makes the transaction roll back and retry. */
function collision (): SqlError {
  return serializationFailure('Another transaction has stored or removed a memory of this one')
}
