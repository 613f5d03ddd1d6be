import { bankKeyString, type BankKey } from '../../identity/context.js'
import { readTrust } from '../../identity/trust.js'
import { turns } from '../../concurrency/turn-budget.js'
import type { BankConfigChange } from '../bank-configs.js'
import { importSteps, type ExistingMemory } from '../import-plan.js'
import { inTurns } from '../../concurrency/steps.js'
import { SplitMap } from '../split-map.js'
import {
  IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, type EmbeddingSpace, type IdempotentWrite, type ImportOutcome, type InsertOutcome, type LateVectors,
  type NewMemory, type OnConflict, type RemovedBank, type RemoveOptions, type RemoveOutcome, type Selector,
} from '../vector-store.js'
import { recordText } from '../idempotency.js'
import type { BankConfigWriter } from './bank-configs.js'
import { SqlError, type Executor, type Queries, type Transaction, type TransactionOptions } from './executor.js'
import { addCounts, insertMemories, hasHigherTrust, type Counts, type Insertion, type ExistingRow } from './insertion.js'
import { hasVectors, isOneBatch } from './insertion-batch.js'
import { removeChosen, removeLocked, type Choice } from './removal.js'
import { isTaken, isUndone, retryUndone, undone } from './retrying.js'
import { bankParameters } from './rows.js'
import { sortInTurns } from './sorting.js'
import { STATISTICS_SHARDS, type Statements } from './statements.js'
import { unitVectorText } from './vectors.js'

/** Memories of an import whose conflicts one statement looks for. */
const LOOK = 1000
/** Bank names that are remembered at most. */
const REMEMBERED = 100_000

export interface SqlWriterOptions {
  executor: Executor
  statements: Statements
  configs: BankConfigWriter
  /** Is told, when a write is committed, how many memories were written or removed; the write waits for it. */
  noteChanges: (memories: number) => Promise<void>
}

interface WriteOptions {
  now: number
  idempotency?: IdempotentWrite | undefined
  /** Gives the write up before its transaction has begun. */
  signal?: AbortSignal | undefined
}

interface ImportOptions extends WriteOptions {
  /** Without `expected`. */
  config?: BankConfigChange | undefined
}

/** What a write comes to once it is committed. */
interface Changes {
  /** Written or removed. */
  memories: number
}

interface Work {
  statements: Statements
  bank: BankKey
  now: number
  space: EmbeddingSpace | undefined
  shard: number
}

/** Whatever changes a bank: one transaction a write. */
export class SqlWriter {
  readonly #executor: Executor
  readonly #statements: Statements
  readonly #configs: BankConfigWriter
  readonly #noteChanges: (memories: number) => Promise<void>
  /** Banks that are known to have our embedding space. */
  readonly #adopted = new Set<string>()
  readonly #foreign = new Set<string>()
  #space: EmbeddingSpace | undefined
  #warn: (message: string) => void = () => {}
  #turn = 0

  constructor ({ executor, statements, configs, noteChanges }: SqlWriterOptions) {
    this.#executor = executor
    this.#statements = statements
    this.#configs = configs
    this.#noteChanges = noteChanges
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#space = space
    this.#warn = warn
  }

  async insert (bank: BankKey, memories: readonly NewMemory[], { now, idempotency, signal }: WriteOptions): Promise<InsertOutcome[]> {
    const work = await this.#begin(bank, now, memories.some(hasVectors))
    if (memories.length === 1 && idempotency === undefined) {
      // One statement is a transaction by itself, and saves two round trips. Where something is in its way that has
      // expired, is going or is of lower trust, it takes a transaction after all.
      try {
        const alone: Queries = { query: async (text, params) => await this.#executor.query(text, params, { signal }) }
        const insertion = this.#noticed(bank, await insertMemories(alone, memories, { ...work, counted: true }))
        await this.#noteChanges(insertion.counts.memories)
        return insertion.outcomes
      } catch (error) {
        if (!isUndone(error) && !isTaken(error)) throw error
      }
    }
    return await this.#write(bank, { now, idempotency, signal }, async (tx, changes) => {
      const around = [...bankParameters(bank), memories.map(({ memoryId }) => memoryId), memories.map(({ fingerprint }) => fingerprint)]
      // Of repeats within the call the first is the one that is stored, if any.
      const firsts = new Map(memories.toReversed().map((memory) => [memory.fingerprint, memory]))
      const makesWay = (row: ExistingRow) => {
        const repeat = firsts.get(row.fingerprint)
        return hasExpired(now)(row) || (repeat !== undefined && hasHigherTrust(repeat, row))
      }
      let standing = await tx.query<ExistingRow>(this.#statements.standing, around)
      if (standing.some(makesWay)) standing = await tx.query<ExistingRow>(this.#statements.lockExisting, around)
      const gone = await removeLocked(tx, this.#statements, bank, standing.filter(makesWay).map(({ memory_id: id }) => id))
      return (await this.#add(tx, memories, gone, work, changes)).outcomes
    }, { keepPlans: memories.length === 1 })
  }

  async import (bank: BankKey, memories: readonly NewMemory[], onConflict: OnConflict, { now, idempotency, config, signal }: ImportOptions): Promise<ImportOutcome> {
    if (config?.expected !== undefined) throw new TypeError('A configuration that comes with an import takes the place of whatever is in force')
    const caller = bankKeyString(bank)
    const work = await this.#begin(bank, now, memories.some(hasVectors))
    // By id, so that two who lock the same memories meet them in the same order.
    const ordered = await sortInTurns(memories, (a, b) => a.memoryId < b.memoryId ? -1 : a.memoryId > b.memoryId ? 1 : 0, caller)
    const { lockExisting } = this.#statements
    const around = async function * (tx: Transaction): AsyncGenerator<ExistingRow> {
      for (let start = 0; start < ordered.length; start += LOOK) {
        if (turns.isSpent) await turns.next(caller)
        const some = ordered.slice(start, start + LOOK)
        yield * await tx.query<ExistingRow>(lockExisting, [...bankParameters(bank), some.map(({ memoryId }) => memoryId), some.map(({ fingerprint }) => fingerprint)])
      }
    }
    return await this.#write(bank, { now, idempotency, signal }, async (tx, changes) => {
      // Imports into one bank take turns: each then sees what the last one has put in the place of what it overwrote.
      await tx.query(this.#statements.locks.lockImports, bankParameters(bank))
      signal?.throwIfAborted()
      const [byId, byFingerprint] = [new SplitMap<ExistingRow>(), new SplitMap<ExistingRow>()]
      const leaving: ExistingRow[] = []
      for await (const row of around(tx)) {
        if (turns.isSpent) await turns.next(caller)
        if (byId.get(row.memory_id) !== undefined) continue
        byId.set(row.memory_id, row)
        if (hasExpired(now)(row)) leaving.push(row)
        else byFingerprint.set(row.fingerprint, row)
      }
      const standing = {
        byId: (id: string) => unlessExpired(byId.get(id), now),
        byFingerprint: (fingerprint: string) => byFingerprint.get(fingerprint),
      }
      const { added, removed, outcome } = await inTurns(importSteps(memories, standing, toStanding, onConflict), caller)
      for (const row of removed) leaving.push(row)
      const gone = await removeLocked(tx, this.#statements, bank, leaving.map(({ memory_id: id }) => id))
      const { outcomes } = await this.#add(tx, added, gone, work, changes).catch((error: unknown) => { throw isTaken(error) ? collision() : error })
      // Somebody else stored one of the memories between our look and our insert: look again.
      if (outcomes.some(({ stored }) => !stored)) throw collision()
      if (config !== undefined) await this.#configs.write(tx, bank, config)
      return outcome
    }, { bulk: true })
  }

  async remove (bank: BankKey, selector: Selector, { now, dryRun, idLimit, signal }: RemoveOptions, idempotency?: IdempotentWrite): Promise<RemoveOutcome> {
    const { removal } = this.#statements
    const key = bankParameters(bank)
    if (selector.kind === 'all') {
      return await this.#write(bank, { now, idempotency, signal }, async (tx, changes) => {
        if (dryRun) return toOutcome(await tx.query(removal.wouldRemove.bank, [...key, now, idLimit]))
        return await this.#removeAll(tx, bank, { now, idLimit, changes })
      }, { bulk: true })
    }
    const choice: Choice & { kind: 'ids' | 'any' | 'all' } = selector.kind === 'ids'
      ? { kind: 'ids', chosen: selector.memoryIds, now }
      : { kind: selector.match, chosen: selector.tags, now }
    return await this.#write(bank, { now, idempotency, signal }, async (tx, changes) => {
      if (dryRun) return toOutcome(await tx.query(removal.wouldRemove[choice.kind], [...key, now, idLimit, choice.chosen!]))
      return removed(await removeChosen(tx, this.#statements, bank, choice, { shard: this.#nextShard(), idLimit }), changes)
    }, { bulk: choice.kind !== 'ids' })
  }

  async removeBank (bank: BankKey, now: number): Promise<RemovedBank> {
    return await this.#write(bank, { now }, async (tx, changes) => {
      // An import is not met halfway: what it brings, memories and configuration, is all there or not yet.
      await tx.query(this.#statements.locks.lockImports, bankParameters(bank))
      const { count } = await this.#removeAll(tx, bank, { now, idLimit: 0, changes })
      return { memoryCount: count, configRemoved: await this.#configs.remove(tx, bank, now) }
    }, { bulk: true })
  }

  async attachVectors (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    const given = [...new Map(vectors.map((late) => [late.memoryId, late])).values()].sort((a, b) => a.memoryId < b.memoryId ? -1 : 1)
    const { space, shard } = await this.#begin(bank, now, given.length > 0)
    if (space === undefined) return 0
    const [ids, ordinals, texts]: [string[], string[], string[]] = [[], [], []]
    for (const { memoryId, vectors } of given) {
      for (const [ordinal, vector] of vectors.entries()) {
        if (turns.isSpent) await turns.next(bankKeyString(bank))
        ids.push(memoryId)
        ordinals.push(String(ordinal))
        texts.push(unitVectorText(vector))
      }
    }
    return await retryUndone(async () => await this.#executor.transaction(async (tx) => {
      // Shared: the bank is not forgotten as a whole meanwhile, which would leave these vectors behind.
      await tx.query(this.#statements.locks.shareBank, bankParameters(bank))
      const [row] = await tx.query<{ attached: number, ours: boolean }>(this.#statements.vectors.attach, [
        ...bankParameters(bank), space.model, space.dimensions, shard, now,
        given.map(({ memoryId }) => memoryId), given.map(({ vectors }) => String(vectors.length)),
        ids, ordinals, texts,
      ])
      if (!row!.ours) this.#noticeForeign(bank)
      return row!.attached
    }))
  }

  /**
   * Puts memories into a bank from which what makes way for them has gone.
   * @param gone what the bank's statistics lose by that
   */
  async #add (tx: Transaction, memories: readonly NewMemory[], gone: Counts, work: Work, changes: Changes): Promise<Insertion> {
    const counted = memories.length === 1 || isOneBatch(memories)
    const insertion = await insertMemories(tx, memories, { ...work, counted })
    const counts = { ...gone }
    if (!counted) addCounts(counts, insertion.counts)
    await this.#count(tx, work.bank, work.shard, counts)
    changes.memories += insertion.counts.memories
    return this.#noticed(work.bank, insertion)
  }

  /**
   * Sees to it that the bank has our embedding space before vectors come, unless it is another's. The space is there
   * when vectors are.
   */
  async #begin (bank: BankKey, now: number, vectors: boolean): Promise<Work> {
    const work = { statements: this.#statements, bank, now, shard: this.#nextShard() }
    if (!vectors) return { ...work, space: undefined }
    if (this.#space === undefined) throw new Error('The store was started without an embedding space and cannot keep vectors')
    const { model, dimensions } = this.#space
    const id = bankKeyString(bank)
    if (!this.#adopted.has(id)) {
      await this.#executor.query(this.#statements.adoptSpace, [...bankParameters(bank), model, dimensions])
      remember(this.#adopted, id)
    }
    return { ...work, space: this.#space }
  }

  async #removeAll (tx: Transaction, bank: BankKey, { now, idLimit, changes }: { now: number, idLimit: number, changes: Changes }): Promise<RemoveOutcome> {
    const { removal, locks } = this.#statements
    const key = bankParameters(bank)
    await tx.query(locks.lockBank, key)
    return removed(toOutcome(await tx.query(removal.removeBank, [...key, now, this.#nextShard(), idLimit])), changes)
  }

  #noticed (bank: BankKey, insertion: Insertion): Insertion {
    if (insertion.unembedded > 0) this.#noticeForeign(bank)
    return insertion
  }

  #noticeForeign (bank: BankKey): void {
    const id = bankKeyString(bank)
    this.#adopted.delete(id)
    if (!this.#foreign.has(id)) this.#warn(`embedding_provider: the bank ${bank.bankId} was moved to another model; what is retained there has no vector until the server runs with that provider`)
    remember(this.#foreign, id)
  }

  async #count (tx: Queries, bank: BankKey, shard: number, counts: Counts): Promise<void> {
    const { memories, embedded, expiring, passages, length } = counts
    if (Object.values(counts).some((amount) => amount !== 0)) await tx.query(this.#statements.count, [...bankParameters(bank), shard, memories, embedded, expiring, passages, length])
  }

  /**
   * A write in one transaction, with the record of its idempotency key. It is made again when it surely was undone, and
   * with a key also when that is not known.
   */
  async #write<T> (
    bank: BankKey, { now, idempotency, signal }: WriteOptions, work: (tx: Transaction, changes: Changes) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    let changes: Changes
    const once = async () => await this.#executor.transaction(async (tx) => {
      changes = { memories: 0 }
      const outcome = await work(tx, changes)
      if (idempotency !== undefined) {
        const { key, requestFingerprint } = idempotency
        const kept = await tx.query(this.#statements.keepIdempotencyRecord, [
          ...bankParameters(bank), key, requestFingerprint, recordText(idempotency, outcome), now, now - IDEMPOTENCY_LIFETIME_MS,
        ])
        if (kept.length === 0) throw new IdempotencyKeyTaken()
      }
      return outcome
    }, { ...options, signal })
    const outcome = await retryUndone(once).catch(async (error: unknown) => {
      if (idempotency === undefined || !(error instanceof SqlError && error.kind === 'connection')) throw error
      return await once()
    })
    // Not before: nobody else sees what is not committed, and an analysis would find nothing.
    await this.#noteChanges(changes!.memories)
    return outcome
  }

  #nextShard (): number {
    this.#turn = (this.#turn + 1) % STATISTICS_SHARDS
    return this.#turn
  }
}

function removed (outcome: RemoveOutcome, changes: Changes): RemoveOutcome {
  changes.memories += outcome.count
  return outcome
}

function toOutcome ([row]: Array<{ count: number, memory_ids: string[] }>): RemoveOutcome {
  return { count: row!.count, memoryIds: row!.memory_ids }
}

function hasExpired (now: number): (row: ExistingRow) => boolean {
  return ({ expires_at: expiresAt }) => expiresAt !== null && expiresAt <= now
}

function unlessExpired (row: ExistingRow | undefined, now: number): ExistingRow | undefined {
  return row === undefined || hasExpired(now)(row) ? undefined : row
}

function toStanding (row: ExistingRow): ExistingMemory {
  return { memoryId: row.memory_id, fingerprint: row.fingerprint, trust: readTrust(row.trust) }
}

/** The work is to be done anew. */
function collision (): SqlError {
  return undone('A memory was stored or removed by somebody else meanwhile')
}

function remember (set: Set<string>, id: string): void {
  if (set.size >= REMEMBERED) set.clear()
  set.add(id)
}
