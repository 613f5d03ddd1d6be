import { bankKeyString, type BankKey } from '../../identity/context.js'
import { mapInTurns } from '../../concurrency/turn-budget.js'
import type { Memory } from '../vector-store.js'
import type { Transaction } from './executor.js'
import { bankParameters, toMemory, type MemoryRow } from './rows.js'

/** Memories of the first page, and of any. */
const FIRST_ROWS = 100
const MOST_ROWS = 1000
/** Bytes of memories at which a page ends; the memory that reaches them is its last. */
const PAGE_BYTES = 1024 * 1024

interface ScanRow extends MemoryRow {
  /** Bytes of the memory, as the statement counts them for the end of the page. */
  size: number
}

/**
 * The memories of a bank, oldest first, in pages of about a megabyte, whatever the size of one.
 * @param statement `scan` of statements.ts
 * @param signal ends it between two pages
 */
export async function * scanPages (
  tx: Transaction, statement: string, bank: BankKey, now: number, signal?: AbortSignal,
): AsyncGenerator<Memory[]> {
  let limit = FIRST_ROWS
  let last: ScanRow | undefined
  for (;;) {
    signal?.throwIfAborted()
    const rows: ScanRow[] = await tx.query<ScanRow>(statement, [
      ...bankParameters(bank), now, limit, last?.retained_at ?? null, last?.memory_id ?? null, PAGE_BYTES,
    ])
    const bytes = rows.reduce((sum, { size }) => sum + size, 0)
    yield await mapInTurns(rows, bankKeyString(bank), toMemory)
    last = rows.at(-1)
    if (rows.length < limit && bytes < PAGE_BYTES) return
    // As many as fit, by those of this page: rows beyond the end of a page are looked up in vain.
    limit = Math.min(MOST_ROWS, Math.max(1, Math.ceil(2 * PAGE_BYTES * rows.length / Math.max(1, bytes))))
  }
}
