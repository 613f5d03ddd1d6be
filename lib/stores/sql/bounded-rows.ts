import type { RowBudget } from '../../concurrency/byte-budget.js'
import { forEachConcurrently } from '../../concurrency/for-each-concurrently.js'
import { flowOf, type BankKey } from '../../identity/context.js'
import type { Executor } from './executor.js'
import { HeavyWork } from './heavy-work.js'
import { bankParameters, type MemoryRow } from './rows.js'

/** Maximum bytes of texts, tags and metadata that one statement returns; the row that exceeds it is returned whole. */
export const STATEMENT_BYTES = 256 * 1024
/**
 * Concurrent statements for long columns. Node reads up to two megabytes from each connection in one turn of the event
 * loop, and the driver parses rows from all of it.
 */
const MAX_CONCURRENT_READS = 2
/** A row is in memory twice while it is read: as the bytes from the socket and as the strings decoded from them. */
const COPIES = 2
/** Bytes of a row without its long columns. */
const ROW_BYTES = 512

const COLUMNS = [
  'memory_id', 'text', 'tags', 'metadata', 'occurred_at', 'retained_at', 'expires_at', 'document_id', 'source',
  'tokens', 'trust',
] as const satisfies ReadonlyArray<keyof MemoryRow>
/** The columns that may be long. */
const LONG: ReadonlySet<string> = new Set(['text', 'tags', 'metadata'] satisfies Array<keyof MemoryRow>)

/**
 * Bytes of the long columns of a row with READ_COLUMNS. PostgreSQL knows the length of a text without reading it.
 */
function sizeOf (alias: string): string {
  return `octet_length(${alias}.text) + octet_length(${alias}.tags::text) + octet_length(${alias}.metadata)`
}

type LongColumns = Pick<MemoryRow, 'text' | 'tags' | 'metadata'>
type LongColumnsRow = LongColumns & Pick<MemoryRow, 'memory_id'>

/** A row whose long columns are null if those of the rows before it reach STATEMENT_BYTES. */
export type CutRow<R extends MemoryRow> = Omit<R, keyof LongColumns> & (
  LongColumns | Record<keyof LongColumns, null>
) & {
  /** Bytes of its long columns. */
  size: number
}

/**
 * The rows of a statement, with null for the long columns after the first STATEMENT_BYTES.
 * @param statement with READ_COLUMNS
 * @param otherColumns its additional columns
 * @param order of the rows `c`. Default: none
 */
export function withoutLongColumns (statement: string, otherColumns: readonly string[], order?: string): string {
  const columns = COLUMNS.map((name) => (
    LONG.has(name) ? `case when c.size_before < ${STATEMENT_BYTES} then c.${name} end as ${name}` : `c.${name}`
  ))
  return `select ${[...columns, ...otherColumns.map((name) => `c.${name}`)].join(', ')}, c.size::float8 as size
from (
  select q.*, sum(q.size) over (rows between unbounded preceding and current row) - q.size as size_before from (
    select r.*, ${sizeOf('r')} as size from (
${statement}
    ) r
  ) q
) c${order === undefined ? '' : `\norder by ${order}`}`
}

/**
 * $1 bank, $2 ids, $3 their sizes, $4 their times of retention, $5 their trust: the long columns of the
 * memories that still have all of these. Otherwise a new text would be returned with the old trust.
 */
function longColumnsStatement (schema: string): string {
  return `select q.memory_id, q.text, q.tags, q.metadata from (
  select g.size, m.memory_id::text as memory_id, m.text, m.tags, m.metadata::text as metadata
  from unnest($2::text[]::uuid[], $3::text[]::int[], $4::text[]::bigint[], $5::text[])
    as g(memory_id, size, retained_at, trust)
  cross join lateral (
    select m.* from ${schema}.memories m where m.bank_key = $1
      and m.memory_id = g.memory_id offset 0
  ) m
  where m.retained_at = g.retained_at and m.trust = g.trust
) q
where ${sizeOf('q')} = q.size`
}

/** Reads the long columns that rows lack, in batches. */
export class LongColumnReader {
  readonly #executor: Pick<Executor, 'read'>
  readonly #statement: string
  readonly #reads: HeavyWork

  /**
   * @param schema quoted
   * @param waitMs how long a batch waits for those of other requests. Default: as other heavy work
   */
  constructor (executor: Pick<Executor, 'read'>, schema: string, waitMs?: number) {
    this.#executor = executor
    this.#statement = longColumnsStatement(schema)
    this.#reads = new HeavyWork({ name: 'reads of long texts', permits: MAX_CONCURRENT_READS, waitMs })
  }

  /**
   * Counts rows against the budget, then reads the long columns that they lack. Leaves out rows whose memory was
   * removed or changed since. The reading ends with the exchange that the budget belongs to.
   * @throws ServiceError when the rows exceed the budget
   * @throws SqlError `busy` when a batch waits too long
   */
  async complete<R extends MemoryRow> (
    rows: ReadonlyArray<CutRow<R>>, bank: BankKey, budget: RowBudget | undefined,
  ): Promise<R[]> {
    budget?.take(COPIES * rows.reduce((sum, { size }) => sum + size, 0) + ROW_BYTES * rows.length)
    const cut = rows.filter(({ text }) => text === null)
    if (cut.length === 0) return rows as unknown as R[]
    const byId = new Map<string, LongColumns>()
    await forEachConcurrently(splitBySize(cut), MAX_CONCURRENT_READS, async (piece) => {
      for (const row of await this.#read(piece, bank, budget)) byId.set(row.memory_id, row)
    })
    return rows.flatMap((row) => (
      row.text === null && !byId.has(row.memory_id) ? [] : [{ ...row, ...byId.get(row.memory_id) } as unknown as R]
    ))
  }

  async #read (
    piece: ReadonlyArray<CutRow<MemoryRow>>, bank: BankKey, budget: RowBudget | undefined,
  ): Promise<LongColumnsRow[]> {
    return await this.#reads.run(bank, async () => {
      // Throws when the exchange has ended.
      budget?.take(0)
      return await this.#executor.read(this.#statement, [
        ...bankParameters(bank), piece.map(({ memory_id: id }) => id), piece.map(({ size }) => String(size)),
        piece.map(({ retained_at: at }) => String(at)), piece.map(({ trust }) => trust),
      ], { keepPlan: true, flow: flowOf(bank) })
    })
  }
}

/** @returns batches of rows, each ending with the row that reaches STATEMENT_BYTES */
function splitBySize<R extends { size: number }> (rows: readonly R[]): R[][] {
  const pieces: R[][] = []
  let bytes = STATEMENT_BYTES
  for (const row of rows) {
    if (bytes >= STATEMENT_BYTES) {
      pieces.push([])
      bytes = 0
    }
    pieces.at(-1)!.push(row)
    bytes += row.size
  }
  return pieces
}
