import { mapGivingWay } from '../../concurrency/event-loop.js'
import { withoutCaller, type BankKey } from '../../identity/context.js'
import { readTrust } from '../../identity/trust.js'
import {
  IDEMPOTENCY_LIFETIME_MS, type BankStatistics, type BankSummary, type DayCounts, type DayRange, type EmbeddingSpace,
  type IdempotencyRecord, type ListBanksRequest, type ListFilters, type ListRequest, type Memory, type Neighbourhood,
  type NeighboursRequest, type StoredMemory, type Unembedded,
} from '../vector-store.js'
import type { Executor } from './executor.js'
import { hasExpired, type ExistingRow } from './insertion.js'
import { countStatement, listBanksStatement, listStatement, unembeddedStatement } from './reading-statements.js'
import { bankParameters, toBankKey, toMemory, type BankRow, type MemoryRow } from './rows.js'
import type { Statements } from './statements.js'

interface UnembeddedRow extends MemoryRow, BankRow {
  fingerprint: string
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
  speakers: string
}

/** Reads memories and statistics of banks. Its methods are those of VectorStore. */
export class SqlReader {
  readonly #executor: Executor
  readonly #schema: string
  readonly #statements: Statements

  constructor (executor: Executor, schema: string, statements: Statements) {
    this.#executor = executor
    this.#schema = schema
    this.#statements = statements
  }

  async findIdempotencyRecord (
    bank: BankKey, key: string, now: number,
  ): Promise<IdempotencyRecord | undefined> {
    const [row] = await this.#executor.read<{ request_fingerprint: string, answer: string }>(
      this.#statements.findIdempotencyRecord, [...bankParameters(bank), key, now - IDEMPOTENCY_LIFETIME_MS],
    )
    return row === undefined ? undefined : { requestFingerprint: row.request_fingerprint, text: row.answer }
  }

  async get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    const [row] = await this.#executor.read<MemoryRow>(this.#statements.get, [...bankParameters(bank), memoryId, now])
    return row === undefined ? undefined : toMemory(row)
  }

  async findRepeated (bank: BankKey, fingerprint: string, now: number): Promise<StoredMemory | undefined> {
    const values = [...bankParameters(bank), [], [fingerprint]]
    const [row] = await this.#executor.read<ExistingRow>(this.#statements.findExisting, values)
    if (row === undefined || hasExpired(row, now)) return undefined
    return { memoryId: row.memory_id, passageCount: row.passages, trust: readTrust(row.trust) }
  }

  async list (bank: BankKey, request: ListRequest): Promise<Memory[]> {
    const statement = listStatement(this.#schema, bank, request)
    if (statement === undefined) return []
    return await mapGivingWay(await this.#executor.read<MemoryRow>(statement.text, statement.values), toMemory)
  }

  async countMemories (
    bank: BankKey, request: { now: number, filters: ListFilters, limit: number },
  ): Promise<number> {
    const statement = countStatement(this.#schema, bank, request)
    if (statement === undefined) return 0
    const [row] = await this.#executor.read<{ memories: number }>(statement.text, statement.values)
    return row!.memories
  }

  async neighbours (
    bank: BankKey, memoryId: string, { now, before, after }: NeighboursRequest,
  ): Promise<Neighbourhood | undefined> {
    const values = [...bankParameters(bank), memoryId, now, before, after]
    const rows = await this.#executor.read<NeighbourRow>(this.#statements.neighbours, values)
    rows.sort((a, b) => a.position - b.position)
    const onSide = (side: number) => rows.filter((row) => row.side === side).map(toMemory)
    const [memory] = onSide(0)
    return memory && { memory, before: onSide(-1), after: onSide(1) }
  }

  async listUnembedded (
    space: EmbeddingSpace, request: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]> {
    const { text, values } = unembeddedStatement(this.#schema, space, request)
    const rows = await this.#executor.read<UnembeddedRow>(text, values)
    return rows.map((row) => ({
      bank: toBankKey(row),
      memory: toMemory(row),
      fingerprint: row.fingerprint,
      passages: row.passage_starts.map((start, ordinal) => ({ start, end: row.passage_ends[ordinal]! })),
    }))
  }

  async listBanks (request: ListBanksRequest): Promise<BankSummary[]> {
    const { text, values } = listBanksStatement(this.#schema, request)
    const rows = await this.#executor.read<BankRow & { memories: number, last_retained_at: number }>(text, values)
    return rows.map((row) => ({ ...toBankKey(row), memoryCount: row.memories, lastRetainedAt: row.last_retained_at }))
  }

  async statistics (bank: BankKey, now: number): Promise<BankStatistics> {
    const [row] = await this.#executor.read<StatisticsRow>(this.#statements.statistics, [...bankParameters(bank), now])
    return {
      ...withoutCaller(bank),
      memoryCount: row!.memories,
      passageCount: row!.passages,
      unembeddedCount: row!.unembedded,
      tokens: row!.tokens,
      tagCounts: new Map(JSON.parse(row!.tags) as Array<[string, number]>),
      speakerCounts: new Map(JSON.parse(row!.speakers) as Array<[string, number]>),
      firstRetainedAt: row!.first_retained_at,
      lastRetainedAt: row!.last_retained_at,
      firstOccurredAt: row!.first_occurred_at,
      lastOccurredAt: row!.last_occurred_at,
    }
  }

  async countByDay (bank: BankKey, { now, from, until }: DayRange): Promise<DayCounts> {
    const values = [...bankParameters(bank), now, from, until]
    const rows = await this.#executor.read<{ day: number, memories: number }>(this.#statements.countByDay, values)
    const byDay = new Map(rows.map(({ day, memories }) => [day, memories]))
    const before = byDay.get(from - 1) ?? 0
    byDay.delete(from - 1)
    return { before, byDay }
  }
}
