import { mapGivingWay } from '../../concurrency/event-loop.js'
import type { BankKey } from '../../identity/context.js'
import type { Memory, Scan } from '../vector-store.js'
import { SqlError, type Executor, type Queries } from './executor.js'
import { liveAt } from './fragments.js'
import { bankParameters, READ_COLUMNS, toMemory, type MemoryRow } from './rows.js'

/** Maximum number of memories of the first page, and of any page. */
const FIRST_ROWS = 100
const MAX_ROWS = 1000
/** Size of a page in bytes; the memory that reaches it is its last. */
const PAGE_BYTES = 1024 * 1024
/** How long a reader may leave a snapshot open without reading, in milliseconds: less than the database allows. */
const IDLE_MS = 30_000

interface ScanRow extends MemoryRow {
  /** Bytes of the memory, as the statement counts them toward the page. */
  size: number
}

interface ScanOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  bank: BankKey
  now: number
  signal: AbortSignal | undefined
  /** Bytes that are read before the scan is returned: a bank that is not larger holds no connection for its reader. */
  readAheadBytes: number
  /** Default: IDLE_MS. */
  idleMs?: number
  /** Called when the snapshot is closed, at least once. */
  onEnd: () => void
}

/**
 * Reads a bank in one snapshot, a transaction that is read-only: first `readAheadBytes`, then a page of about a
 * megabyte when the reader has taken the one before. A reader that takes none for `idleMs` loses the rest.
 */
export async function openScan (
  { executor, schema, bank, now, signal, readAheadBytes, idleMs = IDLE_MS, onEnd }: ScanOptions,
): Promise<Scan> {
  const { tx, finish } = await beginSnapshot(executor, signal).catch((error: unknown) => { onEnd(); throw error })
  const pages = scanPages(tx, schema, bank, now, signal)
  const ahead: Memory[][] = []
  let idle: NodeJS.Timeout | undefined
  let isExpired = false
  const end = () => {
    clearTimeout(idle)
    finish()
    onEnd()
  }
  const waitForReader = () => {
    idle = setTimeout(() => {
      isExpired = true
      end()
    }, idleMs).unref()
  }
  async function * read (): AsyncGenerator<Memory, undefined> {
    try {
      for (let page = ahead.shift(); page !== undefined; page = ahead.shift()) yield * page
      for (;;) {
        clearTimeout(idle)
        if (isExpired) throw new SqlError('timeout', `The reader of an export has read nothing for ${idleMs} ms`)
        const { value, done } = await pages.next()
        if (done === true) return undefined
        waitForReader()
        yield * value.memories
      }
    } finally {
      end()
    }
  }
  try {
    const [counted] = await tx.query<{ count: number }>(`select count(*)::int as count from ${schema}.memories m
where m.bank_key = $1 and ${liveAt('m', '$2::float8::bigint')}`, [...bankParameters(bank), now])
    for (let bytes = 0; bytes < readAheadBytes;) {
      const { value, done } = await pages.next()
      if (done === true) break
      ahead.push(value.memories)
      bytes += value.bytes
      if (value.isLast) end()
      else if (bytes >= readAheadBytes) waitForReader()
    }
    const memories = read()
    // A generator that has not begun ends without its `finally`.
    const stop = async () => { end(); return await memories.return(undefined) }
    return {
      count: counted!.count,
      memories: {
        [Symbol.asyncIterator]: () => ({ next: async () => await memories.next(), return: stop }), return: stop,
      },
    }
  } catch (error) {
    end()
    throw error
  }
}

/** A transaction that lasts until `finish` is called. */
async function beginSnapshot (
  executor: Executor, signal: AbortSignal | undefined,
): Promise<{ tx: Queries, finish: () => void }> {
  let finish!: () => void
  const finished = new Promise<void>((resolve) => { finish = resolve })
  return await new Promise((resolve, reject) => {
    executor.transaction(async (tx) => {
      resolve({ tx, finish })
      await finished
    }, { snapshot: true, bulk: true, signal }).catch(reject)
  })
}

/** The memories of a bank, oldest first. PostgreSQL knows the sizes without reading the texts. */
async function * scanPages (
  tx: Queries, schema: string, bank: BankKey, now: number, signal: AbortSignal | undefined,
): AsyncGenerator<{ memories: Memory[], bytes: number, isLast: boolean }, undefined> {
  const statement = `select ${READ_COLUMNS}, m.size::float8 as size from (
  select o.*, sum(o.size) over (order by o.retained_at, o.memory_id rows between unbounded preceding and current row) -
    o.size as bytes_before from (
    select m.*, octet_length(m.text) + pg_column_size(m.metadata) + pg_column_size(m.tags) as size
      from ${schema}.memories m
    where m.bank_key = $1 and ${liveAt('m', '$2::float8::bigint')}
      and ($4::float8 is null or (m.retained_at, m.memory_id) > ($4::float8::bigint, $5::text::uuid))
    order by m.retained_at, m.memory_id limit $3::int
  ) o
) m
where m.bytes_before < $6::float8 order by m.retained_at, m.memory_id`
  let limit = FIRST_ROWS
  let last: ScanRow | undefined
  for (;;) {
    signal?.throwIfAborted()
    const rows: ScanRow[] = await tx.query<ScanRow>(statement, [
      ...bankParameters(bank), now, limit, last?.retained_at ?? null, last?.memory_id ?? null, PAGE_BYTES,
    ])
    const bytes = rows.reduce((sum, { size }) => sum + size, 0)
    const isLast = rows.length < limit && bytes < PAGE_BYTES
    yield { memories: await mapGivingWay(rows, toMemory), bytes, isLast }
    if (isLast) return undefined
    last = rows.at(-1)
    // Twice the number that fits, estimated from this page: rows beyond the end of a page are read in vain.
    limit = Math.min(MAX_ROWS, Math.max(1, Math.ceil(2 * PAGE_BYTES * rows.length / Math.max(1, bytes))))
  }
}
