import type { BankKey } from '../../identity/context.js'
import { isAtLeast } from '../../identity/trust.js'
import {
  MemoryChangedError, RemovalRefusedError, type DocumentReplacement, type NewMemory, type RemoveOutcome, type Selector,
} from '../vector-store.js'
import type { Queries } from './executor.js'
import type { Statement } from './fragments.js'
import { addCounts, hasExpired, hasHigherTrust, NO_COUNTS, type Counts, type ExistingRow } from './insertion.js'
import { serializationFailure } from './retrying.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Length of an id in characters. */
const ID_LENGTH = 36
/** Maximum number of memories that one statement removes; it keeps the places of all their postings in memory. */
const BATCH = 100

/** Selects memories of a bank; `expired` a batch of them. */
type Choice = Exclude<Selector, { kind: 'all' }> | { kind: 'expired' }

/** @returns as lockChosen; undefined when no memory can be selected */
function lockStatement (
  { removal }: Statements, bank: BankKey, choice: Choice, now: number,
): Statement | undefined {
  const key = [...bankParameters(bank), now]
  switch (choice.kind) {
    case 'ids': return { text: removal.lockChosen.ids, values: [...key, choice.memoryIds] }
    case 'filters': return removal.lockFiltered(bank, choice.filters, now)
    case 'expired': return { text: removal.lockChosen.expired, values: key }
  }
}

/** @returns the statement of RemovalStatements that counts; undefined when no memory can be selected */
export function dryRunStatement (
  { removal }: Statements, bank: BankKey, selector: Selector, { now, idLimit }: { now: number, idLimit: number },
): Statement | undefined {
  const key = [...bankParameters(bank), now, idLimit]
  switch (selector.kind) {
    case 'ids': return { text: removal.dryRun.ids, values: [...key, selector.memoryIds] }
    case 'filters': return removal.dryRunFiltered(bank, selector.filters, { now, idLimit })
    case 'all': return { text: removal.dryRun.bank, values: key }
  }
}

/**
 * Removes the memories of documents that a write neither keeps nor repeats.
 * @returns as removeLocked
 * @throws RemovalRefusedError; MemoryChangedError when a memory to keep does not exist any more
 */
export async function removeOutdated (
  tx: Queries, statements: Statements, bank: BankKey, { documentIds, keep, mayRemove }: DocumentReplacement,
  memories: readonly NewMemory[], now: number,
): Promise<Counts> {
  if (keep.length > 0) {
    const kept = await tx.query<ExistingRow>(statements.findExisting, [...bankParameters(bank), keep, []])
    const present = kept.filter((row) => !hasExpired(row, now))
    if (present.length < new Set(keep).size) throw new MemoryChangedError()
  }
  const [found] = await tx.query<{ ids: string }>(statements.removal.lockDocuments, [
    ...bankParameters(bank), now, documentIds, keep, memories.map(({ fingerprint }) => fingerprint),
  ])
  const { ids } = found!
  if (ids !== '' && !mayRemove) throw new RemovalRefusedError()
  const idAt = (index: number) => ids.slice(index * ID_LENGTH, (index + 1) * ID_LENGTH)
  return await removeLocked(tx, statements, bank, mapRange(ids.length / ID_LENGTH, idAt))
}

/**
 * Removes memories that a memory of the write repeats and that are expired or of lower trust.
 * @returns `counts` as removeLocked; `replaced`: those of lower trust, by fingerprint
 */
export async function removeLowerTrust (
  tx: Queries, statements: Statements, bank: BankKey, memories: readonly NewMemory[], now: number,
): Promise<{ counts: Counts, replaced: ReadonlyMap<string, ExistingRow> }> {
  const keys = [
    ...bankParameters(bank),
    memories.map(({ memoryId }) => memoryId),
    memories.map(({ fingerprint }) => fingerprint),
  ]
  const highest = new Map<string, NewMemory>()
  for (const memory of memories) {
    const other = highest.get(memory.fingerprint)
    if (other === undefined || !isAtLeast(other.trust, memory.trust)) highest.set(memory.fingerprint, memory)
  }
  const isReplaced = (row: ExistingRow) => {
    const repeat = highest.get(row.fingerprint)
    return hasExpired(row, now) || (repeat !== undefined && hasHigherTrust(repeat, row))
  }
  let existing = await tx.query<ExistingRow>(statements.findExisting, keys)
  if (existing.some(isReplaced)) existing = await tx.query<ExistingRow>(statements.lockExisting, keys)
  const removed = existing.filter(isReplaced)
  const replaced = new Map(removed.filter((row) => !hasExpired(row, now)).map((row) => [row.fingerprint, row]))
  return { counts: await removeLocked(tx, statements, bank, removed.map(({ memory_id: id }) => id)), replaced }
}

/**
 * Removes memories with their postings and vectors, and updates the statistics.
 * @returns how many were removed, and the first of their ids, ascending
 * @throws SqlError 40001 as requireComplete
 */
export async function removeChosen (
  tx: Queries, statements: Statements, bank: BankKey, choice: Choice,
  { now, shard, idLimit }: { now: number, shard: number, idLimit: number },
): Promise<RemoveOutcome> {
  const lock = lockStatement(statements, bank, choice, now)
  if (lock === undefined) return { count: 0, memoryIds: [] }
  const [found] = await tx.query<{ ids: string, is_partial?: boolean }>(lock.text, lock.values)
  requireComplete(found!)
  const count = found!.ids.length / ID_LENGTH
  if (count === 0) return { count, memoryIds: [] }
  const idAt = (index: number) => found!.ids.slice(index * ID_LENGTH, (index + 1) * ID_LENGTH)
  await countChange(tx, statements, bank, shard, await removeLocked(tx, statements, bank, mapRange(count, idAt)))
  return { count, memoryIds: Array.from({ length: Math.min(count, idLimit) }, (_, index) => idAt(index)) }
}

/**
 * A memory that was replaced under its id while a statement waited for its lock is visible only to the next statement.
 * The transaction is retried instead of going on, because it would lock the new memories out of order.
 * @throws SqlError 40001 when memories of the removal were deleted or replaced meanwhile
 */
export function requireComplete (found: { is_partial?: boolean }): void {
  if (found.is_partial === true) throw serializationFailure('A memory of the removal was deleted or replaced meanwhile')
}

/**
 * Removes memories whose rows are locked, in batches.
 * @returns the change of the bank's statistics, negative, for the caller to count
 */
export async function removeLocked (
  tx: Queries, statements: Statements, bank: BankKey, memoryIds: Iterable<string>,
): Promise<Counts> {
  const counts = { ...NO_COUNTS }
  let some: string[] = []
  const removeSome = async () => {
    const [removedCounts] = await tx.query<Counts>(statements.removal.remove, [...bankParameters(bank), some])
    addCounts(counts, negative(removedCounts!))
    some = []
  }
  for (const id of memoryIds) {
    some.push(id)
    if (some.length === BATCH) await removeSome()
  }
  if (some.length > 0) await removeSome()
  return counts
}

export function negative ({ memories, embedded, expiring, passages, length }: Counts): Counts {
  return { memories: -memories, embedded: -embedded, expiring: -expiring, passages: -passages, length: -length }
}

/** Adds the change of a write to the bank's statistics: the last statement on them, so that others wait briefly. */
export async function countChange (
  tx: Queries, statements: Statements, bank: BankKey, shard: number, counts: Counts,
): Promise<void> {
  const { memories, embedded, expiring, passages, length } = counts
  if (Object.values(counts).every((amount) => amount === 0)) return
  const amounts = [memories, embedded, expiring, passages, length]
  await tx.query(statements.count, [...bankParameters(bank), shard, ...amounts])
}

function * mapRange<T> (count: number, map: (index: number) => T): Generator<T> {
  for (let index = 0; index < count; index++) yield map(index)
}
