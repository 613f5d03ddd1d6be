import type { BankKey } from '../../access/context.js'
import { isAtLeast } from '../../access/trust.js'
import {
  type DocumentReplacement, MemoryChangedError, type NewMemory, type RemoveOutcome, type Selector,
} from '../vector-store.js'
import { type Queries, serializationFailure } from './executor.js'
import { countInto, filteredRead, liveAt, type Parameters, type Statement } from './fragments.js'
import {
  addCounts, type Counts, type ExistingRow, findExisting, hasExpired, hasHigherTrust, lockExisting, NO_COUNTS,
} from './insertion.js'
import { bankParameters } from './rows.js'

/*
 * A removal is two statements of a transaction: the first locks the memories' rows, the second deletes them with their
 * postings and vectors. The second therefore sees changes committed while the first waited for the lock, such as late
 * vectors.
 */

/** Maximum number of expired memories that one statement removes, in well under a second. */
export const EXPIRED_BATCH = 500
/** Length of an id in characters. */
const ID_LENGTH = 36
/** Maximum number of memories that one statement removes; it keeps the places of all their postings in memory. */
const BATCH = 100

/** Selects memories of a bank; `expired` a batch of them. */
type Choice = Selector | { kind: 'expired' }

/** @returns the condition of the memories `m`; undefined when no memory can be selected, or no filter is set */
function chosen (
  bank: BankKey, choice: Choice, now: number,
): { condition: string, parameters: Parameters } | undefined {
  const read = filteredRead(bank, choice.kind === 'filters' ? choice.filters : {}, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
  if (choice.kind === 'expired') return { parameters, condition: `m.expires_at <= ${instant}` }
  const live = liveAt('m', instant)
  if (choice.kind === 'ids') {
    const ids = parameters.bind(choice.memoryIds)
    return { parameters, condition: `${live} and m.memory_id = any(${ids}::text[]::uuid[])` }
  }
  // Without a condition the statement would select the whole bank.
  return choice.kind === 'filters' && conditions === '' ? undefined : { parameters, condition: live + conditions }
}

/**
 * Locks the memories of the bank $1, and returns their `ids` in order, concatenated in one text: a single row is read
 * without blocking the event loop, however many ids there are.
 * @param more further columns
 */
function lock (schema: string, condition: string, { limit = '', more = '' } = {}): string {
  return `with chosen as materialized (
  select m.memory_id from ${schema}.memories m where m.bank_key = $1 and ${condition} order by m.memory_id${limit}
  for update
)
select coalesce((select string_agg(c.memory_id::text, '' order by c.memory_id) from chosen c), '') as ids${more}`
}

/**
 * Locks the chosen memories. `is_partial`, except for `expired`: memories were deleted, or replaced under their ids,
 * while the statement waited for their locks.
 * @returns undefined when no memory can be selected
 */
export function lockStatement (schema: string, bank: BankKey, choice: Choice, now: number): Statement | undefined {
  const found = chosen(bank, choice, now)
  if (found === undefined) return undefined
  const { condition, parameters: { values } } = found
  if (choice.kind === 'expired') return { text: lock(schema, condition, { limit: ` limit ${EXPIRED_BATCH}` }), values }
  // Both counts are of the statement's one snapshot, in which the memories are as they were before the wait.
  const more = `,
  (select count(*) from chosen) < (
    select count(*) from ${schema}.memories m where m.bank_key = $1 and ${condition}
  ) as is_partial`
  return { text: lock(schema, condition, { more }), values }
}

/** @returns a statement of a RemovedRow that changes nothing; undefined when no memory can be selected */
export function dryRunStatement (
  schema: string, bank: BankKey, selector: Selector, { now, idLimit }: { now: number, idLimit: number },
): Statement | undefined {
  const found = chosen(bank, selector, now)
  if (found === undefined) return undefined
  const { condition, parameters } = found
  const rows = `${schema}.memories m where m.bank_key = $1 and ${condition}`
  return { text: `select ${answer('m.memory_id', rows, parameters.bind(idLimit))}`, values: parameters.values }
}

/** How many memories a statement removed, or would remove, and the first of their ids. */
export interface RemovedRow {
  count: number
  memory_ids: string[]
  is_partial?: boolean
}

/** The columns of a RemovedRow: how many rows of the clause there are, and the first of their ids. */
function answer (id: string, from: string, limit: string): string {
  return `(select count(*)::int from ${from}) as count,
  array(select ${id}::text from ${from} order by ${id} limit ${limit}::int) as memory_ids`
}

/** The Counts of the rows of `gone g`. */
const COUNTS = `count(*)::int as memories, (count(*) filter (where g.embedded))::int as embedded,
  (count(*) filter (where g.expires_at is not null))::int as expiring,
  coalesce(sum(g.passages), 0)::int as passages, coalesce(sum(g.passages_length), 0) as length`

/**
 * $1 bank, $2 ids: returns the Counts of what was removed, each 0 or above. Postings and vectors are looked up in their
 * indexes memory by memory, and deleted by the places found, which do not change while the memories are locked. This
 * leaves the planner no other order: without statistics it would compare each posting of a memory with each of its
 * terms, and with them it would read all postings of each term.
 */
export function removeStatement (schema: string): string {
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

/**
 * $1 bank, $2 now, $3 maximum number of ids returned: deletes all memories of a bank, expired ones too, with postings
 * and vectors by range. Returns their Counts, and a RemovedRow of those not expired. One statement has one snapshot:
 * memories added meanwhile stay complete. The memories are first locked in order, by a condition that is evaluated
 * once, and then deleted by range as well: with a join to the locked rows, the planner, without statistics on a new
 * bank, could scan the bank for each of its memories.
 */
export function removeBankStatement (schema: string): string {
  const live = (alias: string) => liveAt(alias, '$2::float8::bigint')
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
select ${COUNTS}, ${answer('g.memory_id', `gone g where ${live('g')}`, '$3')},
  (select count(*) from target t where ${live('t')}) < (
    select count(*) from ${schema}.memories m where m.bank_key = $1 and ${live('m')}
  ) as is_partial
from gone g`
}

/**
 * $1 bank: deletes the vectors without a memory. Those that were added to a memory while its removal waited for the
 * memory's lock are not in the removal's snapshot.
 */
function orphanedVectors (schema: string): string {
  return `delete from ${schema}.embeddings e where e.bank_key = $1 and not exists (
  select 1 from ${schema}.memories m where m.bank_key = $1 and m.memory_id = e.memory_id
)`
}

/**
 * Removes all memories of a bank, and updates the statistics.
 * @throws SqlError 40001 as requireComplete
 */
export async function removeAll (
  tx: Queries, schema: string, bank: BankKey,
  { now, shard, idLimit }: { now: number, shard: number, idLimit: number },
): Promise<RemoveOutcome> {
  const key = bankParameters(bank)
  const [row] = await tx.query<RemovedRow & Counts>(removeBankStatement(schema), [...key, now, idLimit])
  const outcome = toOutcome(row!)
  await tx.query(orphanedVectors(schema), key)
  await countChange(tx, schema, bank, shard, negative(row!))
  return outcome
}

/** @throws SqlError 40001 as requireComplete */
export function toOutcome (row: RemovedRow): RemoveOutcome {
  requireComplete(row)
  return { count: row.count, memoryIds: row.memory_ids }
}

/**
 * Removes the memories of documents that a write neither keeps nor repeats.
 * @returns as removeLocked
 * @throws MemoryChangedError when a memory to keep does not exist any more
 */
export async function removeOutdated (
  tx: Queries, schema: string, bank: BankKey, { documentIds, keep }: DocumentReplacement,
  memories: readonly NewMemory[], now: number,
): Promise<Counts> {
  const key = bankParameters(bank)
  if (keep.length > 0) {
    const kept = await tx.query<ExistingRow>(findExisting(schema), [...key, keep, []])
    const present = kept.filter((row) => !hasExpired(row, now))
    if (present.length < new Set(keep).size) throw new MemoryChangedError()
  }
  const outdated = lock(schema, `m.document_id = any($3::text[]) and ${liveAt('m', '$2::float8::bigint')}
    and m.memory_id <> all($4::text[]::uuid[]) and m.fingerprint <> all($5::text[])`)
  const [found] = await tx.query<{ ids: string }>(outdated, [
    ...key, now, documentIds, keep, memories.map(({ fingerprint }) => fingerprint),
  ])
  return await removeLocked(tx, schema, bank, idsOf(found!))
}

/**
 * Removes memories that a memory of the write repeats and that are expired or of lower trust.
 * @returns `counts` as removeLocked; `replaced`: those of lower trust, by fingerprint
 */
export async function removeLowerTrust (
  tx: Queries, schema: string, bank: BankKey, memories: readonly NewMemory[], now: number,
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
  let existing = await tx.query<ExistingRow>(findExisting(schema), keys)
  if (existing.some(isReplaced)) existing = await tx.query<ExistingRow>(lockExisting(schema), keys)
  const removed = existing.filter(isReplaced)
  const replaced = new Map(removed.filter((row) => !hasExpired(row, now)).map((row) => [row.fingerprint, row]))
  return { counts: await removeLocked(tx, schema, bank, removed.map(({ memory_id: id }) => id)), replaced }
}

/**
 * Removes memories with their postings and vectors, and updates the statistics.
 * @returns how many were removed, and the first of their ids, ascending
 * @throws SqlError 40001 as requireComplete
 */
export async function removeChosen (
  tx: Queries, schema: string, bank: BankKey, choice: Choice,
  { now, shard, idLimit }: { now: number, shard: number, idLimit: number },
): Promise<RemoveOutcome> {
  const locking = lockStatement(schema, bank, choice, now)
  if (locking === undefined) return { count: 0, memoryIds: [] }
  const [found] = await tx.query<{ ids: string, is_partial?: boolean }>(locking.text, locking.values)
  requireComplete(found!)
  await countChange(tx, schema, bank, shard, await removeLocked(tx, schema, bank, idsOf(found!)))
  return { count: found!.ids.length / ID_LENGTH, memoryIds: [...idsOf(found!, idLimit)] }
}

/** The ids of a text of `lock`, or the first of them. */
function * idsOf ({ ids }: { ids: string }, limit = Infinity): Generator<string> {
  const end = Math.min(ids.length, limit * ID_LENGTH)
  for (let at = 0; at < end; at += ID_LENGTH) yield ids.slice(at, at + ID_LENGTH)
}

/**
 * A memory that was replaced under its id while a statement waited for its lock is visible only to the next statement.
 * The transaction is retried instead of going on, because it would lock the new memories out of order.
 * @throws SqlError 40001 when memories of the removal were deleted or replaced meanwhile
 */
function requireComplete (found: { is_partial?: boolean }): void {
  if (found.is_partial === true) throw serializationFailure('A memory of the removal was deleted or replaced meanwhile')
}

/**
 * Removes memories whose rows are locked, in batches.
 * @returns the change of the bank's statistics, negative, for the caller to count
 */
export async function removeLocked (
  tx: Queries, schema: string, bank: BankKey, memoryIds: Iterable<string>,
): Promise<Counts> {
  const counts = { ...NO_COUNTS }
  let some: string[] = []
  const removeSome = async () => {
    const [removed] = await tx.query<Counts>(removeStatement(schema), [...bankParameters(bank), some])
    addCounts(counts, negative(removed!))
    some = []
  }
  for (const id of memoryIds) {
    some.push(id)
    if (some.length === BATCH) await removeSome()
  }
  if (some.length > 0) await removeSome()
  return counts
}

function negative ({ memories, embedded, expiring, passages, length }: Counts): Counts {
  return { memories: -memories, embedded: -embedded, expiring: -expiring, passages: -passages, length: -length }
}

/** Adds the change of a write to the bank's statistics: the last statement on them, so that others wait briefly. */
export async function countChange (
  tx: Queries, schema: string, bank: BankKey, shard: number, counts: Readonly<Counts>,
): Promise<void> {
  const { memories, embedded, expiring, passages, length } = counts
  if (Object.values(counts).every((amount) => amount === 0)) return
  const amounts = [memories, embedded, expiring, passages, length]
  await tx.query(
    countInto(schema, `values ($1, $2::smallint, $3::float8::bigint, $4::float8::bigint, $5::float8::bigint,
  $6::float8::bigint, $7::float8)`),
    [...bankParameters(bank), shard, ...amounts],
  )
}
