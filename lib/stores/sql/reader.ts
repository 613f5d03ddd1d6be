import { mapGivingWay } from '../../concurrency/event-loop.js'
import { type BankKey, bankKeyString, keysOfTenant, identityOf } from '../../identity/context.js'
import { readTrust } from '../../identity/trust.js'
import {
  type BankStatistics, type BankSummary, type DayCounts, type DayRange, type EmbeddingSpace, IDEMPOTENCY_LIFETIME_MS,
  type IdempotencyRecord, type ListBanksRequest, type ListFilters, type ListRequest, type Memory, type Neighbourhood,
  type NeighboursRequest, type StoredMemory, type Unembedded,
} from '../vector-store.js'
import type { Executor } from './executor.js'
import { filteredRead, liveAt, Parameters, READ_COLUMNS, type Statement } from './fragments.js'
import { type ExistingRow, hasExpired } from './insertion.js'
import { bankParameters, type BankRow, type MemoryRow, toBankKey, toMemory } from './rows.js'
import type { Statements } from './statements.js'

/** Maximum bytes of texts of a page of memories that wait for their vectors; the row that exceeds it is its last. */
const STATEMENT_BYTES = 256 * 1024

/**
 * A page of a bank, newest first unless the request specifies otherwise.
 * @returns undefined when no memory can pass the filters
 */
export function listStatement (
  schema: string, bank: BankKey, { now, limit, filters, order = 'newest', offset = 0, after }: ListRequest,
): Statement | undefined {
  const read = filteredRead(bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
  const afterCursor = after === undefined
    ? ''
    : `and (m.retained_at, m.memory_id) ${order === 'newest' ? '<' : '>'} ` +
      `(${parameters.bind(after.retainedAt)}::float8::bigint, ${parameters.bind(after.memoryId)}::text::uuid)`
  const direction = order === 'newest' ? ' desc' : ''
  const skipped = offset === 0 ? '' : ` offset ${parameters.bind(offset)}::int`
  return {
    text: `select ${READ_COLUMNS} from ${schema}.memories m
where m.bank_key = $1
  and ${liveAt('m', instant)}${conditions} ${afterCursor}
order by m.retained_at${direction}, m.memory_id${direction} limit ${parameters.bind(limit)}::int${skipped}`,
    values: parameters.values,
  }
}

/** @returns undefined when no memory can pass the filters */
export function countStatement (
  schema: string, bank: BankKey, { now, filters, limit }: { now: number, filters: ListFilters, limit: number },
): Statement | undefined {
  const read = filteredRead(bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
  return {
    text: `select count(*)::int as memories from (
  select 1 from ${schema}.memories m
  where m.bank_key = $1 and ${liveAt('m', instant)}${conditions}
  limit ${parameters.bind(limit)}::int
) c`,
    values: parameters.values,
  }
}

/**
 * $1 bank, $2 id, $3 now, $4 and $5 maximum number of neighbours before and after. Returns the memory and
 * its neighbours with their `position` and their `side`: -1 before, 0 the memory, 1 after. Each side is an ordered scan
 * of the index of documents.
 */
export function neighboursStatement (schema: string): string {
  const live = (alias: string) => liveAt(alias, '$3::float8::bigint')
  const side = (alias: string, number: -1 | 1, limit: string) => {
    const direction = number === -1 ? ' desc' : ''
    return `(select ${alias}.memory_id, ${number} as side from ${schema}.memories ${alias}
    where ${alias}.bank_key = $1 and ${alias}.document_id = (select document_id from anchor)
      and (${alias}.place, ${alias}.memory_id) ${number === -1 ? '<' : '>'} ((select place from anchor),
        (select memory_id from anchor)) and ${live(alias)}
    order by ${alias}.place${direction}, ${alias}.memory_id${direction} limit ${limit}::int)`
  }
  return `with anchor as (
  select a.document_id, a.place, a.memory_id from ${schema}.memories a
  where a.bank_key = $1 and a.memory_id = $2::text::uuid and ${live('a')}
),
around as (
  select memory_id, 0 as side from anchor
  union all ${side('b', -1, '$4')}
  union all ${side('d', 1, '$5')}
)
select ${READ_COLUMNS}, r.side, row_number() over (order by m.place, m.memory_id)::int as position
from around r join ${schema}.memories m on m.bank_key = $1
  and m.memory_id = r.memory_id`
}

/**
 * Banks with their counts. The only statement of a request on more than one bank. The banks of a tenant are a range of
 * the key.
 */
export function listBanksStatement (
  schema: string, { now, tenantId, bankId, limit, after }: ListBanksRequest,
): Statement {
  const parameters = new Parameters()
  const conditions = [liveAt('m', `${parameters.bind(now)}::float8::bigint`)]
  if (tenantId !== undefined) {
    const { from, before } = keysOfTenant(tenantId)
    conditions.push(`m.bank_key >= ${parameters.bind(from)} and m.bank_key < ${parameters.bind(before)}`)
  }
  if (bankId !== undefined) conditions.push(`m.bank_id = ${parameters.bind(bankId)}`)
  if (after !== undefined) {
    conditions.push(`m.bank_key > ${parameters.bind(bankKeyString(after))}`)
  }
  return {
    text: `select m.bank_key, count(*)::int as memories, max(m.retained_at)::float8 as last_retained_at
from ${schema}.memories m where ${conditions.join(' and ')}
group by m.bank_key order by m.bank_key limit ${parameters.bind(Number.isFinite(limit) ? limit : null)}::int`,
    values: parameters.values,
  }
}

/**
 * Memories of all banks that wait for vectors of the space, in the order of the partial index on such memories. A bank
 * with vectors of another model does not wait for any. The page ends with the memory that reaches STATEMENT_BYTES.
 */
export function unembeddedStatement (
  schema: string, { model, dimensions }: EmbeddingSpace,
  { now, limit, after }: { now: number, limit: number, after?: BankKey & { memoryId: string } },
): Statement {
  const parameters = new Parameters()
  const conditions = ['not m.embedded', liveAt('m', `${parameters.bind(now)}::float8::bigint`)]
  if (after !== undefined) {
    conditions.push(`(m.bank_key, m.memory_id) > (${parameters.bind(bankKeyString(after))}, ` +
      `${parameters.bind(after.memoryId)}::text::uuid)`)
  }
  return {
    text: `select m.bank_key, ${READ_COLUMNS}, m.fingerprint, m.passage_starts, m.passage_ends from (
  select o.*, sum(o.size) over (order by o.bank_key, o.memory_id rows between unbounded preceding and
    current row) - o.size as bytes_before from (
    select m.*, octet_length(m.text) + pg_column_size(m.metadata) + pg_column_size(m.tags) as size
    from ${schema}.memories m where ${conditions.join(' and ')} and not exists (
      select 1 from ${schema}.embedding_spaces v where v.bank_key = m.bank_key
        and (v.model, v.dimensions) <> (${parameters.bind(model)}::text, ${parameters.bind(dimensions)}::int)
        and exists (select 1 from ${schema}.embeddings e where e.bank_key = v.bank_key)
    )
    order by m.bank_key, m.memory_id limit ${parameters.bind(limit)}::int
  ) o
) m
where m.bytes_before < ${STATEMENT_BYTES} order by m.bank_key, m.memory_id`,
    values: parameters.values,
  }
}

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

/** Reads memories and statistics of banks. Its methods are those of VectorStore, which inherits them. */
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

  /** `listUnembedded` of VectorStore, for the configured space. */
  async unembeddedOf (
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
      ...identityOf(bank),
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
