import type { RowBudget } from '../../concurrency/byte-budget.js'
import { Semaphore } from '../../concurrency/semaphore.js'
import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { Executor } from './executor.js'
import { bankParameters, type MemoryRow } from './rows.js'

/** Bytes of the texts, tags and metadata that one statement answers; the row that reaches them comes whole. */
export const STATEMENT_BYTES = 256 * 1024
/**
 * Statements for long columns at a time. Node reads up to two megabytes of each connection in one turn of the event
 * loop, and the driver makes rows of all of it.
 */
const READS_AT_A_TIME = 2
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
type LongColumnsRow = LongColumns & Pick<MemoryRow, 'memory_id'>

/** A row whose long columns are null when those of the rows before it have reached STATEMENT_BYTES. */
export type CutRow<R extends MemoryRow> = Omit<R, keyof LongColumns> & (
  LongColumns | Record<keyof LongColumns, null>
) & {
  /** Bytes of its long columns. */
  size: number
}

/**
 * The same rows, without the long columns of those beyond STATEMENT_BYTES.
 * @param statement with memoryColumns()
 * @param others the columns that it has besides
 * @param order of the rows `c`. Default: none
 */
export function withoutLongColumns (statement: string, others: readonly string[], order?: string): string {
  const columns = COLUMNS.map((name) => (
    LONG.has(name) ? `case when c.size_before < ${STATEMENT_BYTES} then c.${name} end as ${name}` : `c.${name}`
  ))
  return `select ${[...columns, ...others.map((name) => `c.${name}`)].join(', ')}, c.size::float8 as size
from (
  select q.*, sum(q.size) over (rows between unbounded preceding and current row) - q.size as size_before from (
    select r.*, ${sizeOf('r')} as size from (
${statement}
    ) r
  ) q
) c${order === undefined ? '' : `\norder by ${order}`}`
}

/** $1 tenant, $2 bank, $3 ids, $4 their sizes: the long columns of those that are as they were. */
function longColumnsStatement (schema: string): string {
  return `select q.memory_id, q.text, q.tags, q.metadata from (
  select g.size, m.memory_id::text as memory_id, m.text, m.tags, m.metadata::text as metadata
  from unnest($3::text[]::uuid[], $4::text[]::int[]) as g(memory_id, size)
  cross join lateral (
    select m.* from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = g.memory_id offset 0
  ) m
) q
where ${sizeOf('q')} = q.size`
}

/** Reads the long columns that rows lack, in pieces that take turns. */
export class LongColumnReader {
  readonly #executor: Pick<Executor, 'read'>
  readonly #statement: string
  readonly #permits = new Semaphore({
    permits: READS_AT_A_TIME, maxWaiting: Infinity, full: unbounded, late: unbounded,
  })

  /** @param schema quoted */
  constructor (executor: Pick<Executor, 'read'>, schema: string) {
    this.#executor = executor
    this.#statement = longColumnsStatement(schema)
  }

  /**
   * Counts rows, then reads the long columns that they lack. A row is left out when its memory has gone or changed
   * since. Without a budget the rows are complete already.
   * @throws ServiceError when the budget has no room for the rows
   */
  async complete<R extends MemoryRow> (
    rows: ReadonlyArray<CutRow<R>>, bank: BankKey, budget: RowBudget | undefined,
  ): Promise<R[]> {
    budget?.take(COPIES * rows.reduce((sum, { size }) => sum + size, 0) + ROW_BYTES * rows.length)
    const cut = rows.filter(({ text }) => text === null)
    if (cut.length === 0) return rows as unknown as R[]
    const pieces = piecesOf(cut)
    const byId = new Map<string, LongColumns>()
    await Promise.all(Array.from({ length: Math.min(READS_AT_A_TIME, pieces.length) }, async () => {
      for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
        for (const row of await this.#read(piece, bank)) byId.set(row.memory_id, row)
      }
    }))
    return rows.flatMap((row) => (
      row.text === null && !byId.has(row.memory_id) ? [] : [{ ...row, ...byId.get(row.memory_id) } as unknown as R]
    ))
  }

  async #read (piece: ReadonlyArray<CutRow<MemoryRow>>, bank: BankKey): Promise<LongColumnsRow[]> {
    const flow = bankKeyString(bank)
    const release = await this.#permits.acquire({ flow })
    try {
      return await this.#executor.read(this.#statement, [
        ...bankParameters(bank), piece.map(({ memory_id: id }) => id), piece.map(({ size }) => String(size)),
      ], { keepPlan: true, flow })
    } finally {
      release()
    }
  }
}

/** @returns the rows in pieces, each as many as reach STATEMENT_BYTES */
function piecesOf<R extends { size: number }> (rows: readonly R[]): R[][] {
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

/** The wait ends with the request that waits. */
function unbounded (): Error {
  return new Error('The wait has no bound')
}
