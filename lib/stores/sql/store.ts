import { tmpdir } from 'node:os'
import type { RowBudget } from '../../concurrency/byte-budget.js'
import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { BankConfigChange } from '../bank-configs.js'
import {
  IDEMPOTENCY_LIFETIME_MS, type BankStatistics, type BankSummary, type Candidate, type DayCounts, type DayRange,
  type DocumentReplacement, type EmbeddingSpace, type IdempotencyRecord, type IdempotentWrite, type ImportOutcome,
  type InsertOutcome, type LateVectors, type ListBanksRequest, type ListFilters, type ListRequest, type Memory,
  type Neighbourhood, type NeighboursRequest, type NewMemory, type OnConflict, type PoolStatus, type RemovedBank,
  type RemoveOptions, type RemoveOutcome, type Scan, type SearchRequest, type SearchResult, type Selector,
  type StoreHealth, type StoreStart, type Unembedded, type UsageEntry, type UsageOutcome, type UsageReservation,
  type VectorStore,
} from '../vector-store.js'
import { takeRows, UNASKED_BYTES, wholeRows, type CutRow, type FirstRow } from './bounded-rows.js'
import { BankConfigWriter, SqlBankConfigs } from './bank-configs.js'
import type { Executor, Param } from './executor.js'
import { readMigrations } from './migrations.js'
import { Readiness } from './readiness.js'
import { countStatement, listBanksStatement, listStatement, unembeddedStatement } from './reading-statements.js'
import { sumTokens } from '../../text/tokens.js'
import { mapInTurns } from '../../concurrency/turn-budget.js'
import { bankParameters, tenantParameter, toBankKey, toMemory, type MemoryRow } from './rows.js'
import { mergeCandidates, toCandidates, type CandidateRow } from './search-results.js'
import { scanPages } from './scanning.js'
import { searchStatement } from './search-statement.js'
import { nearestStatement, type Nearest } from './semantic-strategy.js'
import { toServiceError } from './service-errors.js'
import { Spools } from './spool.js'
import { removeLeftovers } from './spool-leftovers.js'
import { makeStatements, type Statements } from './statements.js'
import { Sweeper } from './sweeper.js'
import { adjustUsage, reserveUsage } from './usage.js'
import type { VectorIndexes } from './vector-indexes.js'
import { SqlWriter } from './writer.js'

/** Banks of one request that are searched at a time, so that a request over many leaves connections to others. */
const BANKS_AT_A_TIME = 4

export interface SqlVectorStoreOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  bootstrapSchema: boolean
  /** Absent: every search is exact. */
  indexes?: VectorIndexes
  /** How often expired memories are swept away, in milliseconds. 0: only when they are in the way. */
  sweepIntervalMs: number
  /** Whether the database leaves vacuuming to us. Default false. */
  vacuum?: boolean
  /** Whether other processes may use the database. Default true. */
  shared?: boolean
}

/**
 * Banks in PostgreSQL with pgvector: one statement a search, and one more for a bank's vector index, one transaction a
 * write, on whatever runs the statements.
 */
export class SqlVectorStore implements VectorStore {
  readonly bankConfigs: SqlBankConfigs
  readonly #executor: Executor
  readonly #schema: string
  readonly #statements: Statements
  readonly #readiness: Readiness
  readonly #indexes: VectorIndexes | undefined
  readonly #sweeper: Sweeper
  #spools = new Spools()
  readonly #writer: SqlWriter
  #space: EmbeddingSpace | undefined

  constructor (options: SqlVectorStoreOptions) {
    const { executor, schema, bootstrapSchema, indexes, sweepIntervalMs, vacuum = false, shared = true } = options
    this.#executor = executor
    this.#schema = schema
    this.#statements = makeStatements(schema)
    this.#readiness = new Readiness({ executor, schema, migrations: readMigrations(), bootstrapSchema })
    this.#indexes = indexes
    const statements = this.#statements
    this.#sweeper = new Sweeper({ executor, schema, statements, intervalMs: sweepIntervalMs, vacuum })
    const noteChanges = async (memories: number) => { await this.#sweeper.noteChanges(memories) }
    const guard = async <T>(work: () => Promise<T>) => await this.#guard(work)
    const configs = new BankConfigWriter(schema)
    this.#writer = new SqlWriter({ executor, statements, configs, noteChanges })
    this.bankConfigs = new SqlBankConfigs({ executor, schema, writer: configs, isShared: shared, guard })
  }

  async start ({ space, clock, warn, info = () => {}, spoolBytes }: StoreStart): Promise<void> {
    this.#space = space
    if (spoolBytes !== undefined) this.#spools = new Spools({ fileBytes: spoolBytes })
    await removeLeftovers(tmpdir())
    this.#writer.start(space, warn)
    await this.#readiness.start({ ...(space !== undefined && { space }), warn, info })
    this.#sweeper.start(clock, warn)
    this.#indexes?.start(space, { warn, info })
  }

  async health (): Promise<StoreHealth> {
    try {
      await this.#readiness.ensure()
      await this.#executor.read('select 1 as alive')
      return { healthy: true }
    } catch (error) {
      return { healthy: false, message: error instanceof Error ? error.message : String(error) }
    }
  }

  poolStatus (): PoolStatus | undefined {
    return this.#executor.status?.()
  }

  async findIdempotencyRecord (
    tenantId: string | null, key: string, now: number,
  ): Promise<IdempotencyRecord | undefined> {
    const [row] = await this.#read<{ request_fingerprint: string, answer: string }>(
      this.#statements.findIdempotencyRecord, [tenantParameter(tenantId), key, now - IDEMPOTENCY_LIFETIME_MS],
    )
    return row === undefined ? undefined : { requestFingerprint: row.request_fingerprint, text: row.answer }
  }

  async insert (
    bank: BankKey, memories: readonly NewMemory[], now: number, idempotency?: IdempotentWrite, signal?: AbortSignal,
  ): Promise<InsertOutcome[]> {
    if (memories.length === 0 && idempotency === undefined) return []
    await countBefore(memories)
    return await this.#guard(async () => await this.#writer.insert(bank, memories, { now, idempotency, signal }))
  }

  async replaceDocuments (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], now: number,
    idempotency?: IdempotentWrite, signal?: AbortSignal,
  ): Promise<InsertOutcome[]> {
    await countBefore(memories)
    const options = { now, idempotency, signal }
    return await this.#guard(async () => await this.#writer.replaceDocuments(bank, replacement, memories, options))
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    return await this.#guard(async () => {
      const found: Array<{ lexical: Candidate[], semantic: Candidate[], total: number }> = []
      const banks = request.banks.values()
      const next = async () => {
        for (const bank of banks) found.push(await this.#searchBank(bank, request))
      }
      await Promise.all(Array.from({ length: Math.min(BANKS_AT_A_TIME, request.banks.length) }, next))
      const merge = (strategy: 'lexical' | 'semantic') => (
        mergeCandidates(found.map(({ [strategy]: candidates }) => candidates), request.limit)
      )
      return {
        ...(request.lexical !== undefined && { lexical: merge('lexical') }),
        ...(request.semantic !== undefined && { semantic: merge('semantic') }),
        total: found.reduce((sum, { total }) => sum + total, 0),
      }
    })
  }

  async get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    const [row] = await this.#read<MemoryRow>(this.#statements.get, [...bankParameters(bank), memoryId, now])
    return row === undefined ? undefined : toMemory(row)
  }

  async list (bank: BankKey, request: ListRequest): Promise<Memory[]> {
    const rows = request.budget === undefined
      ? await this.#listRows<MemoryRow>(bank, request)
      : await this.#listInBudget(bank, request, request.budget)
    return await mapInTurns(rows, bankKeyString(bank), toMemory)
  }

  async countMemories (
    bank: BankKey, request: { now: number, filters: ListFilters, limit: number },
  ): Promise<number> {
    const statement = countStatement(this.#schema, bank, request)
    if (statement === undefined) return 0
    const [row] = await this.#read<{ memories: number }>(statement.text, statement.values)
    return row!.memories
  }

  async neighbours (
    bank: BankKey, memoryId: string, { now, before, after, budget }: NeighboursRequest,
  ): Promise<Neighbourhood | undefined> {
    return await this.#guard(async () => {
      const values = [...bankParameters(bank), memoryId, now, before, after]
      const found = await this.#executor.read<CutRow<NeighbourRow>>(this.#statements.neighbours, values)
      const rows = await wholeRows(found, bank, budget, this.#executor, this.#statements.longColumns)
      rows.sort((a, b) => a.position - b.position)
      const onSide = async (side: number) => (
        await mapInTurns(rows.filter((row) => row.side === side), bankKeyString(bank), toMemory)
      )
      const [memory] = await onSide(0)
      return memory && { memory, before: await onSide(-1), after: await onSide(1) }
    })
  }

  async remove (
    bank: BankKey, selector: Selector, options: RemoveOptions, idempotency?: IdempotentWrite,
  ): Promise<RemoveOutcome> {
    return await this.#guard(async () => await this.#writer.remove(bank, selector, options, idempotency))
  }

  async attachVectors (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    if (vectors.length === 0) return 0
    return await this.#guard(async () => await this.#writer.attachVectors(bank, vectors, now))
  }

  async listUnembedded (
    request: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]> {
    if (this.#space === undefined) return []
    const { text, values } = unembeddedStatement(this.#schema, this.#space, request)
    const rows = await this.#read<UnembeddedRow>(text, values)
    return rows.map((row) => ({
      bank: toBankKey(row),
      memory: toMemory(row),
      passages: row.passage_starts.map((start, ordinal) => ({ start, end: row.passage_ends[ordinal]! })),
    }))
  }

  async listBanks (request: ListBanksRequest): Promise<BankSummary[]> {
    const { text, values } = listBanksStatement(this.#schema, request)
    const rows = await this.#read<BankRow & { memories: number, last_retained_at: number }>(text, values)
    return rows.map((row) => ({ ...toBankKey(row), memoryCount: row.memories, lastRetainedAt: row.last_retained_at }))
  }

  async statistics (bank: BankKey, now: number): Promise<BankStatistics> {
    const [row] = await this.#read<StatisticsRow>(this.#statements.statistics, [...bankParameters(bank), now])
    return {
      ...bank,
      memoryCount: row!.memories,
      passageCount: row!.passages,
      unembeddedCount: row!.unembedded,
      tokens: row!.tokens,
      tagCounts: new Map(JSON.parse(row!.tags) as Array<[string, number]>),
      firstRetainedAt: row!.first_retained_at,
      lastRetainedAt: row!.last_retained_at,
      firstOccurredAt: row!.first_occurred_at,
      lastOccurredAt: row!.last_occurred_at,
    }
  }

  async countByDay (bank: BankKey, { now, from, until }: DayRange): Promise<DayCounts> {
    const values = [...bankParameters(bank), now, from, until]
    const rows = await this.#read<{ day: number, memories: number }>(this.#statements.countByDay, values)
    const byDay = new Map(rows.map(({ day, memories }) => [day, memories]))
    const before = byDay.get(from - 1) ?? 0
    byDay.delete(from - 1)
    return { before, byDay }
  }

  async scan (bank: BankKey, now: number, signal?: AbortSignal): Promise<Scan> {
    return await this.#guard(async () => await this.#executor.transaction(async (tx) => (
      await this.#spools.spool(scanPages(tx, this.#statements.scan, bank, now, signal), bankKeyString(bank))
    ), { snapshot: true, bulk: true, signal }))
  }

  async import (
    bank: BankKey, memories: readonly NewMemory[], onConflict: OnConflict, now: number,
    idempotency?: IdempotentWrite, config?: BankConfigChange, signal?: AbortSignal,
  ): Promise<ImportOutcome> {
    if (memories.length === 0 && config === undefined && idempotency === undefined) {
      return { imported: 0, skipped: 0, overwritten: 0 }
    }
    await countBefore(memories)
    const options = { now, idempotency, config, signal }
    return await this.#guard(async () => await this.#writer.import(bank, memories, onConflict, options))
  }

  async removeBank (bank: BankKey, now: number): Promise<RemovedBank> {
    return await this.#guard(async () => await this.#writer.removeBank(bank, now))
  }

  async reserveUsage (entries: readonly UsageReservation[]): Promise<UsageOutcome> {
    return await this.#guard(async () => await reserveUsage(this.#executor, this.#statements.usage, entries))
  }

  async adjustUsage (entries: readonly UsageEntry[]): Promise<void> {
    await this.#guard(async () => { await adjustUsage(this.#executor, this.#statements.usage, entries) })
  }

  async close (): Promise<void> {
    await this.#sweeper.stop()
    await this.#indexes?.stop()
    await this.#executor.close()
    await this.#spools.close()
  }

  async #listRows<R extends MemoryRow> (bank: BankKey, request: ListRequest, bytes?: number): Promise<R[]> {
    const statement = listStatement(this.#schema, bank, request, bytes)
    return statement === undefined ? [] : await this.#read<R>(statement.text, statement.values)
  }

  /**
   * Reads a large page in two parts, or more when it has changed meanwhile. The bytes of the second are counted before
   * it is read.
   */
  async #listInBudget (bank: BankKey, request: ListRequest, budget: RowBudget): Promise<MemoryRow[]> {
    const rows: FirstRow[] = []
    for (let bytes = UNASKED_BYTES, counted = 0; ;) {
      const last = rows.at(-1)
      const after = last === undefined ? request.after : { retainedAt: last.retained_at, memoryId: last.memory_id }
      const rest = { ...request, limit: request.limit - rows.length, ...(after !== undefined && { after }) }
      if (last !== undefined) rest.offset = 0
      const more = await this.#listRows<FirstRow>(bank, rest, bytes)
      rows.push(...more)
      const behind = more.at(-1)?.bytes_behind ?? 0
      const came = more.reduce((sum, { size }) => sum + size, 0)
      takeRows(budget, more.length, came + behind - counted)
      if (behind === 0) return rows
      bytes = counted = behind
    }
  }

  async #searchBank (
    bank: BankKey, request: SearchRequest,
  ): Promise<{ lexical: Candidate[], semantic: Candidate[], total: number }> {
    const options = { schema: this.#schema, ...(this.#space !== undefined && { space: this.#space }) }
    // The statement looks keys up, so one plan fits every bank.
    const ask = async (nearest?: Nearest): Promise<Array<CutRow<CandidateRow>>> => {
      const statement = searchStatement(bank, request, { ...options, nearest })
      if (statement === undefined) return []
      return await this.#executor.read<CutRow<CandidateRow>>(statement.text, statement.values, { keepPlan: true })
    }
    const nearest = await this.#nearest(bank, request)
    let found = await ask(nearest)
    // An index gives up after so many neighbours that a filter takes out, or that are passages of the same memories.
    const wanted = Math.min(request.limit, found[0]?.total ?? Infinity)
    if (nearest !== undefined && nearest.found < wanted) found = await ask()
    const rows = await wholeRows(found, bank, request.budget, this.#executor, this.#statements.longColumns)
    return {
      lexical: await toCandidates(bank, rows, 'lexical', request),
      semantic: await toCandidates(bank, rows, 'semantic', request),
      total: found[0]?.total ?? 0,
    }
  }

  /** What the bank's index says, where it has one. */
  async #nearest (bank: BankKey, request: SearchRequest): Promise<Nearest | undefined> {
    const { semantic } = request
    if (semantic === undefined || this.#space === undefined || this.#indexes?.has(bank) !== true) return undefined
    const statement = nearestStatement(bank, request, semantic.vector, { schema: this.#schema, space: this.#space })
    if (statement === undefined) return undefined
    return (await this.#executor.read<Nearest>(statement.text, statement.values))[0]
  }

  async #read<R extends object> (text: string, values: readonly Param[]): Promise<R[]> {
    return await this.#guard(async () => await this.#executor.read<R>(text, values))
  }

  /**
   * Every question to the database goes through here, once: it has to be ready, and what it says of itself stays
   * inside.
   */
  async #guard<T> (work: () => Promise<T>): Promise<T> {
    try {
      await this.#readiness.ensure()
      return await work()
    } catch (error) {
      throw toServiceError(error)
    }
  }
}

/** Tokens are a column. They are counted before a connection is taken, not within its transaction. */
async function countBefore (memories: readonly NewMemory[]): Promise<void> {
  await sumTokens(memories.map(({ tokens }) => tokens))
}

interface BankRow {
  tenant_id: string
  bank_id: string
}

interface UnembeddedRow extends MemoryRow, BankRow {
  passage_starts: number[]
  passage_ends: number[]
}

interface NeighbourRow extends MemoryRow {
  side: number
  position: number
}

interface StatisticsRow {
  memories: number
  passages: number
  unembedded: number
  tokens: number
  first_retained_at: number | null
  last_retained_at: number | null
  first_occurred_at: number | null
  last_occurred_at: number | null
  tags: string
}
