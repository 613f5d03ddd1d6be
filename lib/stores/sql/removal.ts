import type { BankKey } from '../../identity/context.js'
import { isAtLeast } from '../../identity/trust.js'
import {
  type DocumentReplacement, type ListFilters, MemoryChangedError, type NewMemory, type RemoveOutcome,
  type Selector,
} from '../vector-store.js'
import type { Queries } from './executor.js'
import { filteredRead, liveAt, type Statement } from './fragments.js'
import { addCounts, type Counts, type ExistingRow, hasExpired, hasHigherTrust, NO_COUNTS } from './insertion.js'
import { serializationFailure } from './retrying.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Maximum number of expired memories that one statement removes, in well under a second. */
export const EXPIRED_BATCH = 500

/**
 * A removal is two statements of a transaction: the first locks the memories' rows, the second deletes them with their
 * postings and vectors. The second therefore sees changes committed while the first waited for the lock, such as late
 * vectors.
 */
export interface RemovalStatements {
  /**
   * $1 bank, $2 now, $3 ids: locks the memories, a batch of them for `expired`, and returns their `ids` in
   * order, concatenated in one text. A single row is read without blocking the event loop, however many ids there are.
   * `is_partial`, except for `expired`: memories were deleted, or replaced under their ids, while the statement waited
   * for their locks.
   */
  lockChosen: Record<'ids' | 'expired', string>
  /** The same for the memories that pass the filters. Undefined when no memory can pass, or no filter is set. */
  lockFiltered: (bank: BankKey, filters: ListFilters, now: number) => Statement | undefined
  /** The same, unchecked, for documents: $3 documents, $4 ids and $5 fingerprints of the memories to keep. */
  lockDocuments: string
  /** $1 bank, $2 ids: returns the Counts of what was removed, each 0 or above. */
  remove: string
  /**
   * $1 bank, $2 now, $3 maximum number of ids returned: deletes all memories, expired or not. Returns their Counts, and
   * `count` and `memory_ids` of those not expired. `is_partial` as for `lockChosen`, but not for expired memories,
   * which sweeps delete too.
   */
  removeBank: string
  /** $1 bank, $2 now, $3 maximum number of ids returned, $4 ids. */
  dryRun: Record<'ids' | 'bank', string>
  /** The same for the memories that pass the filters. Undefined as for `lockFiltered`. */
  dryRunFiltered: (
    bank: BankKey, filters: ListFilters, options: { now: number, idLimit: number },
  ) => Statement | undefined
}

export function makeRemovalStatements (schema: string): RemovalStatements {
  const unexpired = liveAt('m', '$2::float8::bigint')
  const byIds = (at: string) => `m.memory_id = any(${at}::text[]::uuid[]) and ${unexpired}`
  const filtered = (bank: BankKey, filters: ListFilters, now: number) => {
    const read = filteredRead(bank, filters, now)
    // Without a condition the statement would select the whole bank.
    return read === undefined || read.conditions === ''
      ? undefined
      : { parameters: read.parameters, selector: `${unexpired}${read.conditions}` }
  }
  const expired = 'm.expires_at <= $2::float8::bigint'
  const chosen = (selector: string) => (
    `from ${schema}.memories m where m.bank_key = $1 and ${selector}`
  )
  const lock = (selector: string, more = '', limit = '') => `with chosen as materialized (
  select m.memory_id ${chosen(selector)} order by m.memory_id${limit} for update
)
select coalesce((select string_agg(c.memory_id::text, '' order by c.memory_id) from chosen c), '') as ids${more}`
  // Both counts are of the statement's one snapshot, in which the memories are as they were before the wait.
  const checkedLock = (selector: string) => lock(selector, `,
  (select count(*) from chosen) < (select count(*) ${chosen(selector)}) as is_partial`)
  const dryRun = (selector: string, limit = '$3') => `select ${answer(
    'm.memory_id', `${schema}.memories m where m.bank_key = $1 and ${selector}`, limit,
  )}`
  return {
    lockChosen: {
      ids: checkedLock(byIds('$3')),
      expired: lock(expired, '', ` limit ${EXPIRED_BATCH}`),
    },
    lockFiltered: (bank, filters, now) => {
      const chosen = filtered(bank, filters, now)
      return chosen && { text: checkedLock(chosen.selector), values: chosen.parameters.values }
    },
    lockDocuments: lock(`m.document_id = any($3::text[]) and ${unexpired}
    and m.memory_id <> all($4::text[]::uuid[]) and m.fingerprint <> all($5::text[])`),
    remove: remove(schema),
    removeBank: removeBank(schema),
    dryRun: {
      ids: dryRun(byIds('$4')),
      bank: dryRun(unexpired),
    },
    dryRunFiltered: (bank, filters, { now, idLimit }) => {
      const chosen = filtered(bank, filters, now)
      if (chosen === undefined) return undefined
      const { selector, parameters } = chosen
      return { text: dryRun(selector, parameters.bind(idLimit)), values: parameters.values }
    },
  }
}

/**
 * Postings and vectors are looked up in their indexes memory by memory, and deleted by the places found, which do not
 * change while the memories are locked. This leaves the planner no other order: without statistics it would compare
 * each posting of a memory with each of its terms, and with them it would read all postings of each term.
 */
function remove (schema: string): string {
  return `with gone as (
  delete from ${schema}.memories m where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])
  returning m.memory_id, m.terms, m.embedded, m.expires_at, cardinality(m.passage_starts) as passages, m.passages_length
),
gone_postings as (
  delete from ${schema}.postings p where p.bank_key = $1 and p.ctid = any(array(
    select o.ctid from gone g cross join lateral unnest(g.terms) as t(term) cross join lateral (
      select q.ctid from ${schema}.postings q
      where q.bank_key = $1 and q.term = t.term and q.memory_id = g.memory_id offset 0
    ) o
  ))
),
gone_embeddings as (
  delete from ${schema}.embeddings e where e.bank_key = $1 and e.ctid = any(array(
    select o.ctid from gone g cross join lateral (
      select v.ctid from ${schema}.embeddings v
      where v.bank_key = $1 and v.memory_id = g.memory_id offset 0
    ) o
  ))
)
select ${COUNTS} from gone g`
}

/** The Counts of the rows of `gone g`. */
const COUNTS = `count(*)::int as memories, (count(*) filter (where g.embedded))::int as embedded,
  (count(*) filter (where g.expires_at is not null))::int as expiring,
  coalesce(sum(g.passages), 0)::int as passages, coalesce(sum(g.passages_length), 0) as length`

/**
 * All memories of a bank, expired ones too, with postings and vectors deleted by range. One statement has one snapshot:
 * memories added meanwhile stay complete. The memories are first locked in order, by a condition that is evaluated
 * once, and then deleted by range as well: with a join to the locked rows, the planner, without statistics on a new
 * bank, could scan the bank for each of its memories.
 */
function removeBank (schema: string): string {
  return `with target as materialized (
  select m.memory_id, m.expires_at from ${schema}.memories m where m.bank_key = $1
  order by m.memory_id for update
),
gone as (
  delete from ${schema}.memories m where m.bank_key = $1 and (select count(*) from target) > 0
  returning m.memory_id, m.embedded, m.expires_at, cardinality(m.passage_starts) as passages, m.passages_length
),
gone_postings as (
  delete from ${schema}.postings p where p.bank_key = $1
),
gone_embeddings as (
  delete from ${schema}.embeddings e where e.bank_key = $1
)
select ${COUNTS}, ${answer('g.memory_id', `gone g where ${liveAt('g', '$2::float8::bigint')}`, '$3')},
  (select count(*) from target t where ${liveAt('t', '$2::float8::bigint')}) < (
    select count(*) from ${schema}.memories m
    where m.bank_key = $1 and ${liveAt('m', '$2::float8::bigint')}
  ) as is_partial
from gone g`
}

/** Columns: how many rows of the clause there are, and the first of their ids. */
function answer (id: string, from: string, limit: string): string {
  return `(select count(*)::int from ${from}) as count,
  array(select ${id}::text from ${from} order by ${id} limit ${limit}::int) as memory_ids`
}

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
 * @throws MemoryChangedError when a memory to keep does not exist any more
 */
export async function removeOutdated (
  tx: Queries, statements: Statements, bank: BankKey, { documentIds, keep }: DocumentReplacement,
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
