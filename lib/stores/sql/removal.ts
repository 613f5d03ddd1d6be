import type { BankKey } from '../../access/context.js'
import { isAtLeast } from '../../access/trust.js'
import {
  type DocumentReplacement, MemoryChangedError, type NewMemory, type Part, type RemoveOutcome, type Selector,
} from '../vector-store.js'
import { type Queries, serializationFailure } from './executor.js'
import { countInto, filteredRead, liveAt, type Parameters, type Statement, suffixOf } from './fragments.js'
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
/** Maximum number of removed memories whose facts are looked for at once, among all facts of the bank. */
const DERIVED_BATCH = 5000

/** Selects memories of a bank; `expired` a batch of them. */
type Choice = Selector | { kind: 'expired' }

/**
 * @returns the condition of the last versions `m` of memories of the part; undefined when no memory can be selected, or
 * no filter is set
 */
function chosen (
  schema: string, bank: BankKey, part: Part, choice: Choice, now: number,
): { condition: string, parameters: Parameters } | undefined {
  const filters = choice.kind === 'filters' ? choice.filters : {}
  const read = filteredRead(schema, bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditionsOf } = read
  // Those of its last version, in whatever state it is.
  const filtered = conditionsOf('current')
  // Without a condition the statement would select the whole bank.
  if (choice.kind === 'filters' && filtered === '') return undefined
  const conditions = filtered + (part === 'past' ? ' and m.version_of is null' : '')
  if (choice.kind === 'expired') return { parameters, condition: `m.expires_at <= ${instant}${conditions}` }
  const live = liveAt('m', instant)
  if (choice.kind === 'ids') {
    const ids = parameters.bind(choice.memoryIds)
    return { parameters, condition: `${live} and m.memory_id = any(${ids}::text[]::uuid[])${conditions}` }
  }
  return { parameters, condition: live + conditions }
}

/**
 * Locks the memories of the bank $1, and returns their `ids` in order, concatenated in one text: a single row is read
 * without blocking the event loop, however many ids there are.
 * @param more further columns
 */
function lock (
  schema: string, condition: string, { part = 'current' as Part, limit = '', more = '' } = {},
): string {
  return `with chosen as materialized (
  select m.memory_id from ${schema}.memories${suffixOf(part)} m where m.bank_key = $1 and ${condition}
  order by m.memory_id${limit} for update
)
select coalesce((select string_agg(c.memory_id::text, '' order by c.memory_id) from chosen c), '') as ids${more}`
}

/** A bank has something in memories_past. */
function hasPast (schema: string): string {
  return `exists (select 1 from ${schema}.memories_past h where h.bank_key = $1)`
}

/** A bank has facts, or memories from which some are to be derived. */
function hasDerived (schema: string): string {
  const facts = (part: Part) => (
    `exists (select 1 from ${schema}.memories${suffixOf(part)} f where f.bank_key = $1 and f.kind = 'fact')`
  )
  return `(exists (select 1 from ${schema}.extraction_jobs j where j.bank_key = $1)
    or ${facts('current')} or ${facts('past')})`
}

/**
 * Locks the chosen memories of a part. `has_past`: whether the bank has anything in memories_past; `has_derived`:
 * whether it has facts or is to have some. `is_partial`, except
 * for `expired`: memories were deleted, moved, or replaced under their ids, while the statement waited for their locks.
 * @returns undefined when no memory can be selected
 */
export function lockStatement (
  schema: string, bank: BankKey, part: Part, choice: Choice, now: number,
): Statement | undefined {
  const found = chosen(schema, bank, part, choice, now)
  if (found === undefined) return undefined
  const { condition, parameters: { values } } = found
  const past = `,\n  ${hasPast(schema)} as has_past, ${hasDerived(schema)} as has_derived`
  if (choice.kind === 'expired') {
    return { text: lock(schema, condition, { part, limit: ` limit ${EXPIRED_BATCH}`, more: past }), values }
  }
  // Both counts are of the statement's one snapshot, in which the memories are as they were before the wait.
  const more = `${past},
  (select count(*) from chosen) < (
    select count(*) from ${schema}.memories${suffixOf(part)} m where m.bank_key = $1 and ${condition}
  ) as is_partial`
  return { text: lock(schema, condition, { part, more }), values }
}

/** @returns a statement of a RemovedRow that changes nothing; undefined when no memory can be selected */
export function dryRunStatement (
  schema: string, bank: BankKey, selector: Selector, { now, idLimit }: { now: number, idLimit: number },
): Statement | undefined {
  const found = chosen(schema, bank, 'current', selector, now)
  if (found === undefined) return undefined
  const { condition, parameters } = found
  const rows = (part: Part) => (
    `select m.memory_id from ${schema}.memories${suffixOf(part)} m where m.bank_key = $1 and ${condition}`
  )
  const chosenRows = `(${rows('current')} union all ${rows('past')} and m.version_of is null) c`
  return { text: `select ${answer('c.memory_id', chosenRows, parameters.bind(idLimit))}`, values: parameters.values }
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
export function removeStatement (schema: string, part: Part): string {
  const suffix = suffixOf(part)
  return `with gone as (
  delete from ${schema}.memories${suffix} m where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])
  returning m.memory_id, m.terms, m.embedded, m.expires_at, cardinality(m.passage_starts) as passages, m.passages_length
),
gone_postings as (
  delete from ${schema}.postings${suffix} p where p.bank_key = $1 and p.ctid = any(array(
    select o.ctid from gone g cross join lateral unnest(g.terms) as t(term) cross join lateral (
      select q.ctid from ${schema}.postings${suffix} q
      where q.bank_key = $1 and q.term = t.term and q.memory_id = g.memory_id offset 0
    ) o
  ))
),
gone_embeddings as (
  delete from ${schema}.embeddings${suffix} e where e.bank_key = $1 and e.ctid = any(array(
    select o.ctid from gone g cross join lateral (
      select v.ctid from ${schema}.embeddings${suffix} v
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

/** $1 bank, $2 now, $3 maximum number of ids: deletes all that is past, and returns a RemovedRow of last versions. */
function removeBankPast (schema: string): string {
  return `with gone as (
  delete from ${schema}.memories_past m where m.bank_key = $1 returning m.memory_id, m.version_of, m.expires_at
),
gone_postings as (
  delete from ${schema}.postings_past p where p.bank_key = $1
),
gone_embeddings as (
  delete from ${schema}.embeddings_past e where e.bank_key = $1
)
select ${answer('g.memory_id', `gone g where g.version_of is null and ${liveAt('g', '$2::float8::bigint')}`, '$3')}`
}

/** $1 bank, $2 now: notes when all memories of the bank were retained. */
function noteAllRemoved (schema: string): string {
  const live = liveAt('m', '$2::float8::bigint')
  return `insert into ${schema}.removed_memories as r (bank_key, removed_at, retained_at, memories)
select a.bank_key, $2::float8::bigint, a.retained_at, count(*) from (
  select m.bank_key, m.retained_at from ${schema}.memories m where m.bank_key = $1 and ${live}
  union all
  select m.bank_key, m.retained_at from ${schema}.memories_past m
  where m.bank_key = $1 and m.version_of is null and ${live}
) a
group by a.bank_key, a.retained_at
on conflict (bank_key, removed_at, retained_at) do update set memories = r.memories + excluded.memories`
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
  // First, so that facts which are being derived are either seen by what follows or never stored.
  await tx.query(`delete from ${schema}.extraction_jobs j where j.bank_key = $1`, key)
  await tx.query(noteAllRemoved(schema), [...key, now])
  const [row] = await tx.query<RemovedRow & Counts>(removeBankStatement(schema), [...key, now, idLimit])
  const outcome = toOutcome(row!)
  await tx.query(orphanedVectors(schema), key)
  const [past] = await tx.query<RemovedRow>(removeBankPast(schema), [...key, now, idLimit - outcome.memoryIds.length])
  await countChange(tx, schema, bank, shard, negative(row!))
  return { count: outcome.count + past!.count, memoryIds: [...outcome.memoryIds, ...past!.memory_ids] }
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
  const ofDocument = `m.document_id = any($3::text[]) and ${liveAt('m', '$2::float8::bigint')}`
  // A fact stays with a memory that it is derived from.
  const outdated = lock(schema, `${ofDocument} and m.memory_id <> all($4::text[]::uuid[])
    and m.fingerprint <> all($5::text[]) and not (m.kind = 'fact' and exists (
      select 1 from ${schema}.memories o where o.bank_key = $1 and o.memory_id = any(m.derived_from)
        and (o.memory_id = any($4::text[]::uuid[]) or o.fingerprint = any($5::text[]))
    ))`, { more: `,\n  ${hasPast(schema)} as has_past, ${hasDerived(schema)} as has_derived` })
  const [found] = await tx.query<{ ids: string, has_past: boolean, has_derived: boolean }>(outdated, [
    ...key, now, documentIds, keep, memories.map(({ fingerprint }) => fingerprint),
  ])
  const removed = [...idsOf(found!)]
  if (found!.has_past) {
    const [past] = await tx.query<{ ids: string }>(
      lock(schema, `${ofDocument} and m.version_of is null`, { part: 'past' }), [...key, now, documentIds],
    )
    for (const id of idsOf(past!)) removed.push(id)
    await removePast(tx, schema, bank, removed)
  }
  const counts = await removeLocked(tx, schema, bank, idsOf(found!))
  if (found!.has_derived) addCounts(counts, await removeDerived(tx, schema, bank, removed, { isKnown: true }))
  return counts
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
  const ids = removed.map(({ memory_id: id }) => id)
  await removePast(tx, schema, bank, ids)
  const counts = await removeLocked(tx, schema, bank, ids)
  addCounts(counts, await removeDerived(tx, schema, bank, ids))
  return { counts, replaced }
}

/**
 * Removes memories in whatever state, with all their versions, postings and vectors, and updates the statistics.
 * @returns how many were removed, and the first of their ids, those of current memories first, each ascending
 * @throws SqlError 40001 as requireComplete
 */
export async function removeChosen (
  tx: Queries, schema: string, bank: BankKey, choice: Choice,
  { now, shard, idLimit }: { now: number, shard: number, idLimit: number },
): Promise<RemoveOutcome> {
  const outcome = { count: 0, memoryIds: [] as string[] }
  /** Of a bank with facts. */
  const removed: string[] = []
  let isPast = false
  // Again at the end, because a memory may have been restored before what is past was read.
  for (const [pass, part] of (['current', 'past', 'current'] as const).entries()) {
    if (pass > 0 && !isPast) break
    const locking = lockStatement(schema, bank, part, choice, now)
    if (locking === undefined) break
    const [found] = await tx.query<{ ids: string, is_partial?: boolean, has_past: boolean, has_derived: boolean }>(
      locking.text, locking.values,
    )
    requireComplete(found!)
    isPast = found!.has_past
    if (found!.has_derived) for (const id of idsOf(found!)) removed.push(id)
    // What has expired was not removed by anybody, and is not told of.
    if (choice.kind !== 'expired') {
      for (const some of batchesOf(idsOf(found!))) {
        await tx.query(noteRemoved(schema, part), [...bankParameters(bank), some, now])
      }
    }
    if (isPast) await removePast(tx, schema, bank, idsOf(found!))
    if (part === 'current') {
      await countChange(tx, schema, bank, shard, await removeLocked(tx, schema, bank, idsOf(found!)))
    }
    outcome.count += found!.ids.length / ID_LENGTH
    outcome.memoryIds.push(...idsOf(found!, idLimit - outcome.memoryIds.length))
  }
  const notedAt = choice.kind === 'expired' ? undefined : now
  const derived = await removeDerived(tx, schema, bank, removed, { isKnown: true, notedAt })
  await countChange(tx, schema, bank, shard, derived)
  return outcome
}

/** $2 ids of memories: the condition of facts `m` that are derived from one of them. */
const DERIVED = "m.kind = 'fact' and m.derived_from && $2::text[]::uuid[]"

/** $1 bank, $2 ids of removed memories: the condition of facts `m` of which no source is left. */
function withoutSources (schema: string): string {
  const source = (part: Part) => `exists (
    select 1 from ${schema}.memories${suffixOf(part)} o where o.bank_key = $1 and o.memory_id = any(m.derived_from)
      ${part === 'past' ? 'and o.version_of is null' : ''}
  )`
  return `${DERIVED}
    and not ${source('current')} and not ${source('past')}`
}

/**
 * Removes what was derived from removed memories, and from no other, and ends what is to be derived from them. The
 * latter comes first: it waits for a transaction that is storing facts of them, which the next statement then sees.
 * @param options.isKnown whether the bank is known to have facts or extractions
 * @param options.notedAt when the removal is noted, if it is
 * @returns as removeLocked
 */
export async function removeDerived (
  tx: Queries, schema: string, bank: BankKey, memoryIds: readonly string[],
  { isKnown = false, notedAt }: { isKnown?: boolean, notedAt?: number | undefined } = {},
): Promise<Counts> {
  const counts = { ...NO_COUNTS }
  if (memoryIds.length === 0) return counts
  const key = bankParameters(bank)
  if (!isKnown) {
    const [found] = await tx.query<{ has_derived: boolean }>(`select ${hasDerived(schema)} as has_derived`, key)
    if (!found!.has_derived) return counts
  }
  for (const some of batchesOf(memoryIds, DERIVED_BATCH)) {
    await tx.query(
      `delete from ${schema}.extraction_jobs j where j.bank_key = $1 and j.memory_id = any($2::text[]::uuid[])`,
      [...key, some],
    )
    addCounts(counts, (await removeFacts(tx, schema, bank, some, withoutSources(schema), notedAt)).counts)
  }
  return counts
}

/** Removes all that was derived from a memory, also what was derived from others as well. */
export async function removeFactsOf (
  tx: Queries, schema: string, bank: BankKey, memoryId: string,
): Promise<{ facts: number, counts: Counts }> {
  return await removeFacts(tx, schema, bank, [memoryId], DERIVED)
}

async function removeFacts (
  tx: Queries, schema: string, bank: BankKey, sources: readonly string[], condition: string, notedAt?: number,
): Promise<{ facts: number, counts: Counts }> {
  const key = bankParameters(bank)
  const counts = { ...NO_COUNTS }
  let count = 0
  for (const part of ['current', 'past'] as const) {
    const conditions = condition + (part === 'past' ? ' and m.version_of is null' : '')
    const [found] = await tx.query<{ ids: string }>(lock(schema, conditions, { part }), [...key, sources])
    const facts = [...idsOf(found!)]
    if (facts.length === 0) continue
    count += facts.length
    if (notedAt !== undefined) await tx.query(noteRemoved(schema, part), [...key, facts, notedAt])
    await removePast(tx, schema, bank, facts)
    if (part === 'current') addCounts(counts, await removeLocked(tx, schema, bank, facts))
  }
  return { facts: count, counts }
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
  tx: Queries, schema: string, bank: BankKey, memoryIds: Iterable<string>, part: Part = 'current',
): Promise<Counts> {
  const counts = { ...NO_COUNTS }
  for (const some of batchesOf(memoryIds)) {
    const [removed] = await tx.query<Counts>(removeStatement(schema, part), [...bankParameters(bank), some])
    if (part === 'current') addCounts(counts, negative(removed!))
  }
  return counts
}

function * batchesOf (memoryIds: Iterable<string>, size = BATCH): Generator<string[]> {
  let some: string[] = []
  for (const id of memoryIds) {
    some.push(id)
    if (some.length < size) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** $1 bank, $2 ids of memories: the rows of memories_past that are versions of them, locked. */
function versionsOf (schema: string): string {
  return lock(schema, `(m.memory_id = any($2::text[]::uuid[]) and m.version_of is null
    or m.version_of = any($2::text[]::uuid[]))`, { part: 'past' })
}

/** $1 bank, $2 ids, $3 now: notes when the memories of a part were retained, before they are removed. */
function noteRemoved (schema: string, part: Part): string {
  return `insert into ${schema}.removed_memories as r (bank_key, removed_at, retained_at, memories)
select m.bank_key, $3::float8::bigint, m.retained_at, count(*)
from ${schema}.memories${suffixOf(part)} m where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])
group by m.bank_key, m.retained_at
on conflict (bank_key, removed_at, retained_at) do update set memories = r.memories + excluded.memories`
}

/** Removes what is left of the past of memories that are being removed. */
export async function removePast (
  tx: Queries, schema: string, bank: BankKey, memoryIds: Iterable<string>,
): Promise<void> {
  for (const some of batchesOf(memoryIds)) {
    const [found] = await tx.query<{ ids: string }>(versionsOf(schema), [...bankParameters(bank), some])
    await removeLocked(tx, schema, bank, idsOf(found!), 'past')
  }
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
