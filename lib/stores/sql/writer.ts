import { type BankKey, bankKeyString } from '../../access/context.js'
import { KeyedQueue } from '../../base/keyed-queue.js'
import { compareText } from '../../text/normal-form.js'
import { sumTokens } from '../../text/tokens.js'
import { planInsert } from '../insert-plan.js'
import {
  type DocumentReplacement, type EmbeddingSpace, IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, type IdempotentWrite,
  type ImportOptions, type ImportOutcome, type InsertOptions, type InsertOutcome, type LateVectors, MemoryChangedError,
  type NewMemory, recordText, type Part, type RemovedBank, type RemoveOptions, type RemoveOutcome, type Revision,
  type Selector, type WriteOptions,
} from '../vector-store.js'
import type { SqlBankConfigs } from './bank-configs.js'
import { lockStandings, planImport } from './conflicts.js'
import { endExtractions, noteExtractions, renewExtractions } from './extraction-jobs.js'
import {
  type Executor, isSerializationFailure, isUniqueViolation, retrySerializationFailures, serializationFailure, SqlError,
  type Transaction, type TransactionOptions,
} from './executor.js'
import type { Distribution } from './distribution.js'
import { lockBank, STATISTICS_SHARDS } from './fragments.js'
import {
  addCounts, type Counts, type Insertion, type InsertionContext, insertMemories, isOneBatch, NO_COUNTS,
} from './insertion.js'
import {
  countChange, dryRunStatement, removeAll, removeChosen, removeDerived, type RemovedRow, removeFactsOf, removeLocked,
  removeLowerTrust, removeOutdated, removePast, toOutcome,
} from './removal.js'
import { dropOpenProposals } from './proposals.js'
import { insertEarlier, keepVersions, lockRevised, redactVersion, reviseLocked } from './revision.js'
import { bankParameters } from './rows.js'
import { BankVectors } from './vectors.js'

/** Maximum number of writes of one bank that wait for `#runAlone`. */
const MAX_WAITING = 100
/** How long a write waits for it, in milliseconds. */
const MAX_WAIT_MS = 300_000

/** What a transaction changed. */
interface Changes {
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

interface SqlWriterOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  distribution: Distribution
  configs: SqlBankConfigs
  /** Called after the commit of a write with the number of memories written or removed; the write waits for it. */
  noteChanges: (memories: number) => Promise<void>
}

/** Changes banks: each write in one transaction, which also keeps the record of its idempotency key. */
export class SqlWriter {
  readonly #options: SqlWriterOptions
  readonly #vectors: BankVectors
  /** By bank: imports, replacements of documents, and removals of all memories. */
  readonly #alone = new KeyedQueue({
    maxWaiting: MAX_WAITING,
    waitMs: MAX_WAIT_MS,
    queueFullError: () => new SqlError('busy', `${MAX_WAITING} imports into the bank or removals of it are waiting`),
    timeoutError: () => new SqlError('busy', 'Earlier imports into the bank or removals of it did not end in time'),
  })

  #shard = 0

  constructor (options: SqlWriterOptions) {
    const { executor, schema, distribution } = options
    this.#options = options
    this.#vectors = new BankVectors({ executor, schema, distribution, nextShard: () => this.#nextShard() })
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#vectors.start(space, warn)
  }

  async insert (
    bank: BankKey, memories: readonly NewMemory[], options: InsertOptions,
  ): Promise<InsertOutcome[]> {
    const { now, idempotency, signal, expectNew, extract, extracted } = options
    if (memories.length === 0 && idempotency === undefined && extracted === undefined) return []
    const work = await this.#begin(bank, memories, now)
    const write = { ...options, memories }
    if (memories.some(takesPlace)) {
      return await this.#runAlone(bank, write, async (tx, changes) => {
        const outcomes = await this.#insertPlanned(tx, memories, { ...NO_COUNTS }, work, changes)
        if (expectNew === true) requireNew(outcomes)
        return outcomes
      }, { bulk: memories.length > 1 })
    }
    const isAlone = memories.length === 1 && idempotency === undefined && extract !== true && extracted === undefined
    if (isAlone && work.distribution === 'none') {
      const insertion = await this.#insertAlone(memories, work, signal)
      if (insertion !== undefined) {
        const { outcomes, counts, unembedded } = insertion
        if (expectNew === true) requireNew(outcomes)
        await this.#afterCommit(bank, write, { memories: counts.memories, unembedded })
        return outcomes
      }
    }
    return await this.#run(bank, write, async (tx, changes) => {
      const { counts, replaced } = await removeLowerTrust(tx, work.schema, bank, memories, now)
      if (expectNew === true && replaced.size > 0) throw new MemoryChangedError()
      const { outcomes } = await this.#add(tx, memories, counts, { ...work, replaced }, changes)
      if (expectNew === true) requireNew(outcomes)
      return outcomes
    }, { keepPlans: memories.length === 1 })
  }

  async replaceDocuments (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[],
    options: WriteOptions,
  ): Promise<InsertOutcome[]> {
    const { now } = options
    const work = await this.#begin(bank, memories, now)
    return await this.#runAlone(bank, { ...options, memories }, async (tx, changes) => {
      const removedCounts = await removeOutdated(tx, work.schema, bank, replacement, memories, now)
      changes.memories -= removedCounts.memories
      if (memories.some(takesPlace)) return await this.#insertPlanned(tx, memories, removedCounts, work, changes)
      const { counts, replaced } = await removeLowerTrust(tx, work.schema, bank, memories, now)
      addCounts(removedCounts, counts)
      return (await this.#add(tx, memories, removedCounts, { ...work, replaced }, changes)).outcomes
    })
  }

  async import (
    bank: BankKey, memories: readonly NewMemory[], { onConflict, config, ...options }: ImportOptions,
  ): Promise<ImportOutcome> {
    const { now, idempotency } = options
    if (memories.length === 0 && config === undefined && idempotency === undefined) {
      return { imported: 0, skipped: 0, overwritten: 0 }
    }
    const work = await this.#begin(bank, memories, now)
    const { schema } = work
    const ordered = memories.toSorted((a, b) => compareText(a.memoryId, b.memoryId))
    return await this.#runAlone(bank, { ...options, memories }, async (tx, changes) => {
      const plan = await planImport(tx, { schema, bank, memories, ordered, onConflict, now })
      const revises = new Map(plan.added.flatMap((memory) => onConflict !== 'revise' || memory.revises === undefined
        ? []
        : [[memory.memoryId, memory]]))
      await keepVersions(tx, schema, bank, 'current', plan.removed.flatMap(({ memory_id: memoryId, version }) => {
        const next = revises.get(memoryId)
        return next === undefined ? [] : [{ memoryId, version, endedAt: next.changedAt }]
      }))
      const removedCounts = await this.#removeConflicting(tx, bank, plan.removed, revises)
      const isCurrent = ({ state }: NewMemory) => state === 'current'
      const past = plan.added.filter((memory) => !isCurrent(memory))
      if (past.length > 0) await insertMemories(tx, past, { ...work, part: 'past', counted: false })
      await insertEarlier(tx, work, plan.added.flatMap(({ earlier = [] }) => earlier))
      const current = plan.added.filter(isCurrent)
      const { outcomes } = await this.#add(tx, current, removedCounts, work, changes).catch(retriedWhenTaken)
      // Another transaction stored one of the memories after its conflicts were looked up, so they are looked up again.
      if (outcomes.some(({ stored }) => !stored)) throw collision()
      if (config !== undefined) await this.#options.configs.writeIn(tx, bank, config)
      return plan.outcome
    })
  }

  async remove (
    bank: BankKey, selector: Selector, { now, dryRun, idLimit, idempotency, signal }: RemoveOptions,
  ): Promise<RemoveOutcome> {
    const { schema } = this.#options
    const write = { now, idempotency, signal }
    const counted = (outcome: RemoveOutcome, changes: Changes) => {
      changes.memories += outcome.count
      return outcome
    }
    const options = () => ({ now, shard: this.#nextShard(), idLimit })
    if (selector.kind === 'all' && !dryRun) {
      return await this.#runAlone(bank, write, async (tx, changes) => (
        counted(await removeAll(tx, schema, bank, options()), changes)
      ))
    }
    return await this.#run(bank, write, async (tx, changes) => {
      if (!dryRun) return counted(await removeChosen(tx, schema, bank, selector, options()), changes)
      const statement = dryRunStatement(schema, bank, selector, { now, idLimit })
      if (statement === undefined) return { count: 0, memoryIds: [] }
      return toOutcome((await tx.query<RemovedRow>(statement.text, statement.values))[0]!)
    }, { bulk: selector.kind !== 'ids' })
  }

  async revise (
    bank: BankKey, revisions: readonly Revision[], { now, idempotency, signal }: WriteOptions,
  ): Promise<void> {
    const told = revisions.flatMap(({ memory, fingerprint, passages }): NewMemory[] => (
      passages === undefined ? [] : [{ ...memory, fingerprint, passages }]
    ))
    const work = await this.#begin(bank, told, now)
    const write = { memories: told, now, idempotency, signal }
    await this.#runAlone(bank, write, async (tx, changes) => {
      const revised = await lockRevised(tx, work.schema, bank, revisions, now)
      const { counts, unembedded } = await reviseLocked(tx, work, revised).catch(retriedWhenTaken)
      if (told.length > 0) {
        const ids = told.map(({ memoryId }) => memoryId)
        await renewExtractions(tx, work.schema, bank, ids, now)
        await dropOpenProposals(tx, work.schema, bank, ids)
      }
      await countChange(tx, work.schema, bank, work.shard, counts)
      changes.memories += revisions.length
      changes.unembedded += unembedded
    }, { bulk: revisions.length > 1 })
  }

  async redact (
    bank: BankKey, memoryId: string, version: number, { now, signal }: WriteOptions,
  ): Promise<boolean> {
    const { schema } = this.#options
    return await this.#run(bank, { now, signal }, async (tx, changes) => {
      if (!await redactVersion(tx, schema, bank, memoryId, version, now)) return false
      await renewExtractions(tx, schema, bank, [memoryId], now)
      const { facts, counts } = await removeFactsOf(tx, schema, bank, memoryId)
      if (facts === 0) return true
      await noteExtractions(tx, schema, bank, [memoryId], now)
      await countChange(tx, schema, bank, this.#nextShard(), counts)
      changes.memories += facts
      return true
    })
  }

  async removeBank (bank: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank> {
    const { schema, configs } = this.#options
    // Memories and configuration of an import must be removed together or not at all.
    return await this.#runAlone(bank, { now, signal }, async (tx, changes) => {
      const { count } = await removeAll(tx, schema, bank, { now, shard: this.#nextShard(), idLimit: 0 })
      changes.memories += count
      await this.#vectors.dropSpace(tx, bank)
      const configRemoved = await configs.removeIn(tx, bank, now)
      for (const table of ['proposals', 'removed_memories', 'bank_locks']) {
        await tx.query(`delete from ${schema}.${table} l where l.bank_key = $1`, bankParameters(bank))
      }
      return { memoryCount: count, configRemoved }
    })
  }

  async attachVectors (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    return await this.#vectors.attach(bank, vectors, now)
  }

  /**
   * A transaction that was certainly rolled back is retried. One that lost its connection may have been committed; it
   * is retried only with an idempotency key, which then finds the record of the first attempt.
   */
  async #run<T> (bank: BankKey, write: Write, work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    const { idempotency, signal } = write
    let changes: Changes
    const once = async () => await this.#options.executor.transaction(async (tx) => {
      changes = { memories: 0, unembedded: 0 }
      const { memories = [], now, extract, extracted } = write
      if (extracted !== undefined) await endExtractions(tx, this.#options.schema, bank, extracted)
      const outcome = await work(tx, changes)
      if (extract === true) {
        await noteExtractions(tx, this.#options.schema, bank, memories.map(({ memoryId }) => memoryId), now)
      }
      if (idempotency !== undefined) await this.#keepRecord(tx, bank, idempotency, outcome, write.now)
      return outcome
    }, { ...options, signal })
    const outcome = await retrySerializationFailures(once).catch(async (error: unknown) => {
      if (idempotency === undefined || !(error instanceof SqlError && error.kind === 'connection')) throw error
      return await once().catch((again: unknown) => {
        throw again instanceof IdempotencyKeyTaken ? new IdempotencyKeyTaken({ isOwn: true }) : again
      })
    })
    await this.#afterCommit(bank, write, changes!)
    return outcome
  }

  /**
   * Serializes the work with imports into the bank, replacements of its documents and removals of all its memories, so
   * that each sees the memories stored by the previous one. Work is queued before it gets a connection, so that one
   * bank does not hold several of them to wait for the same lock.
   */
  async #runAlone<T> (
    bank: BankKey, write: Write, work: Work<T>, options: TransactionOptions = { bulk: true },
  ): Promise<T> {
    const run = async () => await this.#run(bank, write, async (tx, changes) => {
      await tx.query(lockBank(this.#options.schema), bankParameters(bank))
      write.signal?.throwIfAborted()
      return await work(tx, changes)
    }, options)
    return await this.#alone.run(bankKeyString(bank), run, write.signal)
  }

  async #afterCommit (bank: BankKey, { memories = [], now }: Write, changes: Changes): Promise<void> {
    if (changes.unembedded > 0) await this.#vectors.attachMissing(bank, memories, now)
    // After the commit, because an analysis of the tables sees nothing before it.
    await this.#options.noteChanges(changes.memories)
  }

  async #keepRecord (
    tx: Transaction, bank: BankKey, idempotency: IdempotentWrite, outcome: unknown, now: number,
  ): Promise<void> {
    // No row: the key is taken by a record that is not void yet.
    const kept = await tx.query(`insert into ${this.#options.schema}.idempotency_keys as k (bank_key, key,
  request_fingerprint, answer, kept_at)
values ($1, $2, $3, $4, $5::float8::bigint)
on conflict (bank_key, key) do update set request_fingerprint = excluded.request_fingerprint,
  answer = excluded.answer, kept_at = excluded.kept_at
where k.kept_at <= $6::float8::bigint
returning k.key`, [
      ...bankParameters(bank), idempotency.key, idempotency.requestFingerprint, recordText(idempotency, outcome),
      now, now - IDEMPOTENCY_LIFETIME_MS,
    ])
    if (kept.length === 0) throw new IdempotencyKeyTaken()
  }

  /**
   * One statement saves two round trips. It fails when a memory that it conflicts with has expired, is just being
   * removed or has lower trust; a transaction must then remove that one first.
   */
  async #insertAlone (
    memories: readonly NewMemory[], work: InsertionContext, signal: AbortSignal | undefined,
  ): Promise<Insertion | undefined> {
    const { executor } = this.#options
    try {
      return await insertMemories(
        { query: async (text, params) => await executor.query(text, params, { signal }) }, memories,
        { ...work, part: 'current', counted: true },
      )
    } catch (error) {
      if (isSerializationFailure(error) || isUniqueViolation(error)) return undefined
      throw error
    }
  }

  /**
   * Stores memories of which some take the places of others.
   * @param removedCounts the change of the bank's statistics by what was removed before
   */
  async #insertPlanned (
    tx: Transaction, memories: readonly NewMemory[], removedCounts: Counts, work: InsertionContext, changes: Changes,
  ): Promise<InsertOutcome[]> {
    const { schema, bank, now } = work
    const { standings, expired } = await lockStandings(tx, schema, bank, memories, now)
    const plan = planInsert(memories, standings, now)
    addCounts(removedCounts, await this.#removeConflicting(tx, bank, [
      ...expired, ...plan.removed.map(({ memory }) => ({ memory_id: memory.memoryId, part: 'current' as const })),
    ]))
    const revised = plan.revisions.map((revision) => ({ from: 'current' as const, revision }))
    const { counts } = await reviseLocked(tx, work, revised).catch(retriedWhenTaken)
    addCounts(removedCounts, counts)
    if (plan.addedPast.length > 0) {
      await insertMemories(tx, plan.addedPast, { ...work, part: 'past', counted: false })
    }
    const { outcomes } = await this.#add(tx, plan.added, removedCounts, work, changes).catch(retriedWhenTaken)
    if (outcomes.some(({ stored }) => !stored)) throw collision()
    changes.memories += plan.revisions.length
    return plan.outcome
  }

  /**
   * Removes memories that are in the way of others, with what is past of them.
   * @param revised those whose earlier versions stay, by id
   * @returns the change of the bank's statistics
   */
  async #removeConflicting (
    tx: Transaction, bank: BankKey, rows: ReadonlyArray<{ memory_id: string, part: Part }>,
    revised: ReadonlyMap<string, unknown> = new Map(),
  ): Promise<Counts> {
    const { schema } = this.#options
    const ids = rows.map(({ memory_id: id }) => id)
    const gone = ids.filter((id) => !revised.has(id))
    await removePast(tx, schema, bank, gone)
    const counts = await removeLocked(tx, schema, bank, rows.filter(({ part }) => part === 'current')
      .map(({ memory_id: id }) => id))
    addCounts(counts, await removeDerived(tx, schema, bank, gone))
    return counts
  }

  /**
   * Stores memories in a bank from which the memories that they replace have been removed.
   * @param removedCounts the change of the bank's statistics by that removal
   */
  async #add (
    tx: Transaction, memories: readonly NewMemory[], removedCounts: Counts, work: InsertionContext, changes: Changes,
  ): Promise<Insertion> {
    const counted = work.distribution === 'none' && (memories.length === 1 || isOneBatch(memories))
    const insertion = await insertMemories(tx, memories, { ...work, part: 'current', counted })
    const counts = { ...removedCounts }
    if (!counted) addCounts(counts, insertion.counts)
    await countChange(tx, work.schema, work.bank, work.shard, counts)
    changes.memories += insertion.counts.memories
    changes.unembedded += insertion.unembedded
    return insertion
  }

  /**
   * Context of a write; before it writes vectors the bank adopts the embedding space, unless it has another. Tokens are
   * a column, and counted before a connection is acquired.
   */
  async #begin (bank: BankKey, memories: readonly NewMemory[], now: number): Promise<InsertionContext> {
    await sumTokens(memories.map(({ tokens }) => tokens))
    const space = await this.#vectors.adopt(bank, memories)
    const { schema, distribution } = this.#options
    return { schema, distribution, bank, now, shard: this.#nextShard(), space }
  }

  #nextShard (): number {
    this.#shard = (this.#shard + 1) % STATISTICS_SHARDS
    return this.#shard
  }
}

/** @throws MemoryChangedError when one of the memories was in the bank before */
function requireNew (outcomes: readonly InsertOutcome[]): void {
  if (outcomes.some(({ stored }) => !stored)) throw new MemoryChangedError()
}

/** Whether a memory supersedes others, so that they have to be looked up first. */
function takesPlace ({ key, supersedes }: NewMemory): boolean {
  return key !== null || supersedes.length > 0
}

/** A unique key was taken since it was looked up: it is looked up again. */
function retriedWhenTaken (error: unknown): never {
  throw isUniqueViolation(error) ? collision() : error
}

/** The error that makes the transaction roll back and retry. */
function collision (): SqlError {
  return serializationFailure('Another transaction has stored or removed a memory of this one')
}
