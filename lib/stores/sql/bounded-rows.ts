import type { RowBudget } from '../../concurrency/byte-budget.js'
import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { Executor } from './executor.js'
import { bankParameters, type MemoryRow } from './rows.js'

/** Bytes of the texts, tags and metadata that a statement answers unasked; the row that reaches them comes whole. */
export const UNASKED_BYTES = 256 * 1024
/** A row is in the process twice while it is read: as the bytes from the socket and as the texts made of them. */
const COPIES = 2
/** What a row takes besides. */
const ROW_BYTES = 512

const COLUMNS = [
  'memory_id', 'text', 'tags', 'metadata', 'occurred_at', 'retained_at', 'expires_at', 'document_id', 'source', 'tokens', 'trust',
] as const satisfies ReadonlyArray<keyof MemoryRow>
/** The columns that may be long. */
const LONG: ReadonlySet<string> = new Set(['text', 'tags', 'metadata'] satisfies Array<keyof MemoryRow>)

/** Bytes of a row with memoryColumns(). The length of a text is known without the text being read. */
function sizeOf (alias: string): string {
  return `octet_length(${alias}.text) + octet_length(${alias}.tags::text) + octet_length(${alias}.metadata)`
}

type LongColumns = Pick<MemoryRow, 'text' | 'tags' | 'metadata'>

/** A row whose long columns are null when those of the rows before it have reached UNASKED_BYTES. */
export type CutRow<R extends MemoryRow> = Omit<R, keyof LongColumns> & (
  LongColumns | Record<keyof LongColumns, null>
) & {
  /** Bytes of its long columns. */
  size: number
}

/** A row of firstRows(). */
export interface FirstRow extends MemoryRow {
  size: number
  bytes_behind: number
}

function measured (statement: string): string {
  return `select q.*, sum(q.size) over (rows between unbounded preceding and current row) - q.size as size_before, sum(q.size) over () as size_of_all from (
  select r.*, ${sizeOf('r')} as size from (
${statement}
  ) r
) q`
}

/**
 * The same rows, without the long columns of those beyond UNASKED_BYTES.
 * @param statement with memoryColumns()
 * @param others the columns that it has besides
 */
export function withoutLongColumns (statement: string, others: readonly string[]): string {
  const columns = COLUMNS.map((name) => LONG.has(name) ? `case when c.size_before < ${UNASKED_BYTES} then c.${name} end as ${name}` : `c.${name}`)
  return `select ${[...columns, ...others.map((name) => `c.${name}`)].join(', ')}, c.size::float8 as size
from (
${measured(statement)}
) c`
}

/**
 * The first rows, as many as reach so many bytes. Each tells `bytes_behind`, those of the rows that were left out.
 * @param statement with memoryColumns(), which orders its rows
 */
export function firstRows (statement: string, bytes: string, order: string): string {
  return `select ${COLUMNS.map((name) => `c.${name}`).join(', ')}, c.size::float8 as size,
  (c.size_of_all - c.size_before - c.size)::float8 as bytes_behind
from (
${measured(statement)}
) c
where c.size_before < ${bytes} order by ${order}`
}

/** $1 tenant, $2 bank, $3 ids, $4 their sizes: the long columns of those that are as they were. */
export function longColumnsStatement (schema: string): string {
  return `select q.memory_id, q.text, q.tags, q.metadata from (
  select g.size, m.memory_id::text as memory_id, m.text, m.tags, m.metadata::text as metadata
  from unnest($3::text[]::uuid[], $4::text[]::int[]) as g(memory_id, size)
  cross join lateral (
    select m.* from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = g.memory_id offset 0
  ) m
) q
where ${sizeOf('q')} = q.size`
}

/** @throws ServiceError when the budget has no room for rows of so many bytes together */
export function takeRows (budget: RowBudget, count: number, bytes: number): void {
  budget.take(COPIES * bytes + ROW_BYTES * count)
}

/**
 * Counts rows, then reads the long columns that they lack. A row is left out when its memory has gone or changed since.
 * Without a budget the rows are complete already.
 * @param statement longColumnsStatement()
 */
export async function wholeRows<R extends MemoryRow> (
  rows: ReadonlyArray<CutRow<R>>, bank: BankKey, budget: RowBudget | undefined, executor: Pick<Executor, 'read'>, statement: string,
): Promise<R[]> {
  if (budget !== undefined) takeRows(budget, rows.length, rows.reduce((sum, { size }) => sum + size, 0))
  const cut = rows.filter(({ text }) => text === null)
  if (cut.length === 0) return rows as unknown as R[]
  const found = await executor.read<LongColumns & Pick<MemoryRow, 'memory_id'>>(statement, [
    ...bankParameters(bank), cut.map(({ memory_id: id }) => id), cut.map(({ size }) => String(size)),
  ], { keepPlan: true, flow: bankKeyString(bank) })
  const byId = new Map(found.map((row) => [row.memory_id, row]))
  return rows.flatMap((row) => (
    row.text === null && !byId.has(row.memory_id) ? [] : [{ ...row, ...byId.get(row.memory_id) } as unknown as R]
  ))
}
