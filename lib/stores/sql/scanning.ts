import { bankKeyString, type BankKey } from '../../identity/context.js'
import { mapInTurns } from '../../concurrency/turn-budget.js'
import type { Memory } from '../vector-store.js'
import type { Transaction } from './executor.js'
import { bankParameters, toMemory, type MemoryRow } from './rows.js'

/** Maximum number of memories of the first page, and of any page. */
const FIRST_ROWS = 100
const MAX_ROWS = 1000
/** Size of a page in bytes; the memory that reaches it is its last. */
const PAGE_BYTES = 1024 * 1024

interface ScanRow extends MemoryRow {
  /** Bytes of the memory, as the statement counts them toward the page. */
  size: number
}

/**
 * The memories of a bank, oldest first, in pages of about a megabyte, whatever the size of a memory.
 * @param statement `scan` of statements.ts
 * @param signal stops the scan between two pages
 */
export async function * scanPages (
  tx: Transaction, statement: string, bank: BankKey, now: number, signal: AbortSignal | undefined,
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
    // Twice the number that fits, estimated from this page: rows beyond the end of a page are read in vain.
    limit = Math.min(MAX_ROWS, Math.max(1, Math.ceil(2 * PAGE_BYTES * rows.length / Math.max(1, bytes))))
  }
}
