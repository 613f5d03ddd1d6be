import type { BankKey } from '../../identity/context.js'
import { compareText } from '../../text/compare-text.js'
import type {
  DocumentReplacement, EmbeddingSpace, ImportOptions, ImportOutcome, InsertOutcome, LateVectors, NewMemory, RemovedBank,
  RemoveOptions, RemoveOutcome, Selector, WriteOptions,
} from '../vector-store.js'
import type { BankConfigWriter } from './bank-configs.js'
import type { SqlError, Transaction } from './executor.js'
import { planImport } from './import-conflicts.js'
import { addCounts, insertMemories, type Counts, type Insertion, type InsertionContext } from './insertion.js'
import { isOneBatch } from './insertion-batch.js'
import {
  countChange, dryRunStatement, negative, removeChosen, removeLocked, removeOutdated, removeLowerTrust, requireComplete,
} from './removal.js'
import { isSerializationFailure, isUniqueViolation, serializationFailure } from './retrying.js'
import { bankParameters } from './rows.js'
import { STATISTICS_SHARDS, type Statements } from './statements.js'
import { VectorWriter } from './vector-writer.js'
import { WriteTransactions, type Changes, type WriteTransactionsOptions } from './write-transaction.js'

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
