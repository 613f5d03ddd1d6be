import { createHash } from 'node:crypto'
import type { BankKey } from '../../access/context.js'
import {
  type Memory, MemoryChangedError, type NewMemory, type Part, PlaceTakenError, type Revision, type Version,
} from '../vector-store.js'
import { arrayElement, arrayOf, type Queries, serializationFailure, type Transaction } from './executor.js'
import { liveAt, suffixOf } from './fragments.js'
import {
  addCounts, type Counts, type ExistingRow, FIELD_COLUMNS, findExisting, type InsertionContext, insertMemories,
  lockKeyed, NO_COUNTS, SEARCH_COLUMNS,
} from './insertion.js'
import { removeLocked } from './removal.js'
import { bankParameters } from './rows.js'

/*
 * A revision is made in steps, each a statement on one bank: the last version is copied to memories_past as an earlier
 * one, with its postings and vectors, and removed from where it was; then the next version is inserted, either as a new
 * text is or as a copy of the earlier one with other fields.
 */

/** Memories that one statement copies. */
const BATCH = 100
const FIELDS = FIELD_COLUMNS.map(({ column }) => column).join(', ')
const SEARCHED = SEARCH_COLUMNS.map(({ column }) => column)

/** A last version that a revision follows, in the part where it is. */
export interface Revised {
  readonly from: Part
  readonly revision: Revision
}

/** The id of the row of an earlier version: a version 8 UUID, made of what it stands for. */
export function versionRowId (memoryId: string, version: number): string {
  const digest = createHash('sha256').update(`${memoryId}/${version}`).digest('hex')
  return [
    digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}

/** $1 bank, $2 ids, $3 ids of the rows to be, $4 ends: copies last versions of a part as earlier ones. */
function closeStatement (schema: string, from: Part): string {
  const copied = [...FIELD_COLUMNS.map(({ column }) => column), ...SEARCHED]
    .filter((column) => column !== 'memory_id' && column !== 'expires_at')
  return `insert into ${schema}.memories_past (bank_key, memory_id, ${copied.join(', ')}, version_of, ended_at,
  told_expires_at)
select m.bank_key, g.row_id, ${copied.map((column) => `m.${column}`).join(', ')}, m.memory_id, g.ended_at, m.expires_at
from unnest($2::text[]::uuid[], $3::text[]::uuid[], $4::text[]::bigint[]) as g(memory_id, row_id, ended_at)
join ${schema}.memories${suffixOf(from)} m on m.bank_key = $1 and m.memory_id = g.memory_id
where m.bank_key = $1`
}

/** A condition: the vector `o` is of the model that the bank has; a past one may be of a model before. */
function ofModel (schema: string): string {
  return `exists (select 1 from ${schema}.embedding_spaces v where v.bank_key = $1 and v.model = o.model)`
}

/**
 * $1 bank, $2 ids of rows of memories_past, then an array for each field: inserts next versions into a part, which have
 * what search needs from the rows.
 */
function reopenStatement (schema: string, to: Part): string {
  const values = FIELD_COLUMNS.map(({ column, expression }) => expression ?? `g.${column}`)
  const embedded = `m.embedded and exists (
  select 1 from ${schema}.embeddings_past o where o.bank_key = $1 and o.memory_id = m.memory_id and ${ofModel(schema)}
)`
  const searched = SEARCHED.map((column) => column === 'embedded' && to === 'current' ? embedded : `m.${column}`)
  return `insert into ${schema}.memories${suffixOf(to)} (bank_key, ${FIELDS}, ${SEARCHED.join(', ')})
select m.bank_key, ${values.join(', ')}, ${searched.join(', ')}
from unnest($2::text[]::uuid[], ${FIELD_COLUMNS.map(({ type }, index) => `$${index + 3}::text[]${type}`).join(', ')})
  as g(row_id, ${FIELDS})
join ${schema}.memories_past m on m.bank_key = $1 and m.memory_id = g.row_id
where m.bank_key = $1`
}

/**
 * $1 bank, $2 ids of rows of a part, $3 ids of the rows that have the copies, $4 when these expire: copies postings or
 * vectors, looked up row by row.
 */
function copyStatement (schema: string, table: 'postings' | 'embeddings', from: Part, to: Part): string {
  const [columns, keys, found] = table === 'postings'
    ? ['term, ordinal, weight, length', 'cross join lateral unnest(m.terms) as t(term)', 'and o.term = t.term']
    : ['model, ordinal, dimensions, embedding', '', to === 'current' ? `and ${ofModel(schema)}` : '']
  return `insert into ${schema}.${table}${suffixOf(to)} (bank_key, memory_id, expires_at, ${columns})
select m.bank_key, g.row_id, g.expires_at, ${columns.split(', ').map((column) => `p.${column}`).join(', ')}
from unnest($2::text[]::uuid[], $3::text[]::uuid[], $4::text[]::bigint[]) as g(memory_id, row_id, expires_at)
join ${schema}.memories${suffixOf(from)} m on m.bank_key = $1 and m.memory_id = g.memory_id
${keys}
cross join lateral (
  select o.* from ${schema}.${table}${suffixOf(from)} o
  where o.bank_key = $1 and o.memory_id = m.memory_id ${found} offset 0
) p
where m.bank_key = $1`
}

async function copySearched (
  tx: Queries, schema: string, bank: BankKey, from: Part, to: Part,
  rows: ReadonlyArray<{ from: string, to: string, expiresAt: number | null }>,
): Promise<void> {
  const values = [
    ...bankParameters(bank), rows.map((row) => row.from), rows.map((row) => row.to),
    rows.map(({ expiresAt }) => expiresAt === null ? null : String(expiresAt)),
  ]
  for (const table of ['postings', 'embeddings'] as const) {
    await tx.query(copyStatement(schema, table, from, to), values)
  }
}

/** Keeps last versions, whose rows are locked, as earlier ones. @param ended when the next version begins, by id */
export async function keepVersions (
  tx: Queries, schema: string, bank: BankKey, from: Part,
  versions: ReadonlyArray<{ memoryId: string, version: number, endedAt: number }>,
): Promise<void> {
  for (let start = 0; start < versions.length; start += BATCH) {
    const some = versions.slice(start, start + BATCH)
    const rows = some.map(({ memoryId, version }) => (
      { from: memoryId, to: versionRowId(memoryId, version), expiresAt: null }
    ))
    await tx.query(closeStatement(schema, from), [
      ...bankParameters(bank), rows.map((row) => row.from), rows.map((row) => row.to),
      some.map(({ endedAt }) => String(endedAt)),
    ])
    await copySearched(tx, schema, bank, from, 'past', rows)
  }
}

function partOf ({ state }: Pick<Memory, 'state'>): Part {
  return state === 'current' ? 'current' : 'past'
}

/**
 * Makes the next versions of memories whose rows are locked, without the check of what stands in their places.
 * @returns the change of the bank's statistics, for the caller to count, and how many memories came with vectors that
 * were not stored
 */
export async function reviseLocked (
  tx: Transaction, work: InsertionContext, revised: readonly Revised[],
): Promise<{ counts: Counts, unembedded: number }> {
  const { schema, bank } = work
  const counts = { ...NO_COUNTS }
  for (const part of ['current', 'past'] as const) {
    const some = revised.filter(({ from }) => from === part).map(({ revision }) => revision.memory)
    await keepVersions(tx, schema, bank, part, some.map(({ memoryId, version, changedAt }) => (
      { memoryId, version: version - 1, endedAt: changedAt }
    )))
    addCounts(counts, await removeLocked(tx, schema, bank, some.map(({ memoryId }) => memoryId), part))
  }
  for (const part of ['current', 'past'] as const) {
    const kept = revised.map(({ revision }) => revision)
      .filter(({ memory, passages }) => passages === undefined && partOf(memory) === part)
    for (let start = 0; start < kept.length; start += BATCH) {
      addCounts(counts, await reopen(tx, schema, bank, part, kept.slice(start, start + BATCH)))
    }
  }
  const told = revised.flatMap(({ revision: { memory, fingerprint, passages } }): NewMemory[] => (
    passages === undefined ? [] : [{ ...memory, fingerprint, passages }]
  ))
  if (told.length === 0) return { counts, unembedded: 0 }
  const inserted = await insertMemories(tx, told, { ...work, part: 'current', counted: false })
  if (inserted.outcomes.some(({ stored }) => !stored)) {
    throw serializationFailure('Another transaction has stored the content of the next version')
  }
  addCounts(counts, inserted.counts)
  return { counts, unembedded: inserted.unembedded }
}

/** @returns the counts of the memories, which only current ones have */
async function reopen (
  tx: Queries, schema: string, bank: BankKey, part: Part, revisions: readonly Revision[],
): Promise<Counts> {
  const rows = revisions.map(({ memory: { memoryId, version, expiresAt } }) => (
    { from: versionRowId(memoryId, version - 1), to: memoryId, expiresAt }
  ))
  const arrays = FIELD_COLUMNS.map(({ valueOf }) => arrayOf(revisions.map(({ memory, fingerprint }) => (
    arrayElement(valueOf({ ...memory, fingerprint }))
  ))))
  if (part === 'current') {
    // So that a move of the bank to another model waits for it.
    await tx.query(
      `select 1 from ${schema}.embedding_spaces v where v.bank_key = $1 for key share`, bankParameters(bank),
    )
  }
  await tx.query(reopenStatement(schema, part), [...bankParameters(bank), rows.map((row) => row.from), ...arrays])
  await copySearched(tx, schema, bank, 'past', part, rows)
  if (part === 'past') return NO_COUNTS
  const [counts] = await tx.query<Counts>(`select count(*)::int as memories,
  (count(*) filter (where m.embedded))::int as embedded, count(m.expires_at)::int as expiring,
  coalesce(sum(cardinality(m.passage_starts)), 0)::int as passages, coalesce(sum(m.passages_length), 0) as length
from ${schema}.memories m where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])`,
  [...bankParameters(bank), rows.map((row) => row.to)])
  return counts!
}

/**
 * Locks the memories that revisions follow.
 * @throws MemoryChangedError when one does not exist in that version; PlaceTakenError when another memory has the
 * fingerprint or the key of one that is to be current
 */
export async function lockRevised (
  tx: Queries, schema: string, bank: BankKey, revisions: readonly Revision[], now: number,
): Promise<Revised[]> {
  const ids = revisions.map(({ memory }) => memory.memoryId)
  const found = new Map<string, { part: Part, version: number }>()
  for (const part of ['current', 'past'] as const) {
    const rows = await tx.query<{ memory_id: string, version: number }>(`
select m.memory_id::text as memory_id, m.version
from ${schema}.memories${suffixOf(part)} m where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])
  and ${liveAt('m', '$3::float8::bigint')} ${part === 'past' ? 'and m.version_of is null' : ''}
order by m.memory_id for update`, [...bankParameters(bank), ids, now])
    for (const { memory_id: id, version } of rows) found.set(id, { part, version })
  }
  const revised = revisions.map((revision): Revised => {
    const row = found.get(revision.memory.memoryId)
    if (row?.version !== revision.memory.version - 1) throw new MemoryChangedError()
    return { from: row.part, revision }
  })
  const current = revisions.filter(({ memory }) => memory.state === 'current')
  if (current.length === 0) return revised
  const own = new Set(ids)
  const keys = current.flatMap(({ memory }) => memory.key ?? [])
  const rows = keys.length === 0
    ? []
    : await tx.query<ExistingRow>(lockKeyed(schema), [...bankParameters(bank), keys])
  for (const { memory_id: id, key } of rows) if (!own.has(id)) throw new PlaceTakenError(id, key!)
  const fingerprints = current.map(({ fingerprint }) => fingerprint)
  const equal = await tx.query<ExistingRow>(findExisting(schema), [...bankParameters(bank), [], fingerprints])
  for (const { memory_id: id } of equal) if (!own.has(id)) throw new PlaceTakenError(id)
  return revised
}

/** $1 bank, $2 ids of rows, $3 ids of memories, $4 ends, $5 whether redacted, $6 when they expired: marks versions. */
function markEarlier (schema: string): string {
  return `update ${schema}.memories_past p set version_of = g.version_of, ended_at = g.ended_at,
  redacted = g.redacted, told_expires_at = g.told_expires_at
from unnest($2::text[]::uuid[], $3::text[]::uuid[], $4::text[]::bigint[], $5::text[]::boolean[], $6::text[]::bigint[])
  as g(row_id, version_of, ended_at, redacted, told_expires_at)
where p.bank_key = $1 and p.memory_id = g.row_id`
}

/** Stores earlier versions of an import. */
export async function insertEarlier (
  tx: Transaction, work: InsertionContext, versions: ReadonlyArray<NewMemory & Version>,
): Promise<void> {
  if (versions.length === 0) return
  const rows = versions.map((version) => ({ ...version, memoryId: versionRowId(version.memoryId, version.version) }))
  await insertMemories(tx, rows.map((row) => ({ ...row, expiresAt: null })), { ...work, part: 'past', counted: false })
  for (let start = 0; start < versions.length; start += BATCH) {
    const some = versions.slice(start, start + BATCH)
    await tx.query(markEarlier(work.schema), [
      ...bankParameters(work.bank), rows.slice(start, start + BATCH).map(({ memoryId }) => memoryId),
      some.map(({ memoryId }) => memoryId), some.map(({ endedAt }) => String(endedAt)),
      some.map(({ redacted }) => String(redacted)),
      some.map(({ expiresAt }) => expiresAt === null ? null : String(expiresAt)),
    ])
  }
}

/** Empties an earlier version. @returns whether there is one */
export async function redactVersion (
  tx: Transaction, schema: string, bank: BankKey, memoryId: string, version: number, now: number,
): Promise<boolean> {
  const key = bankParameters(bank)
  const [last] = await tx.query<{ version: number }>(`select m.version from ${schema}.memories m
where m.bank_key = $1 and m.memory_id = $2::text::uuid and ${liveAt('m', '$3::float8::bigint')}
union all
select m.version from ${schema}.memories_past m
where m.bank_key = $1 and m.memory_id = $2::text::uuid and m.version_of is null
  and ${liveAt('m', '$3::float8::bigint')}`, [...key, memoryId, now])
  if (last === undefined) return false
  const rowId = versionRowId(memoryId, version)
  const [row] = await tx.query<{ terms: string[] }>(`select m.terms from ${schema}.memories_past m
where m.bank_key = $1 and m.memory_id = $2::text::uuid for update`, [...key, rowId])
  if (row === undefined) return false
  for (const table of ['postings', 'embeddings'] as const) {
    const terms = table === 'postings' ? ' and p.term = any($3::text[])' : ''
    await tx.query(
      `delete from ${schema}.${table}_past p where p.bank_key = $1 and p.memory_id = $2::text::uuid${terms}`,
      [...key, rowId, ...table === 'postings' ? [row.terms] : []],
    )
  }
  await tx.query(`update ${schema}.memories_past p set redacted = true, text = '', tags = '{}', metadata = '{}',
  document_id = null, source = null, speaker = null, message = null, key = null, occurred_at = null, valid_from = null,
  valid_until = null, reason = null, tokens = 0, terms = '{}',
  fingerprint = '', passage_starts = '{0}', passage_ends = '{0}', passages_length = 0, embedded = false,
  question = false
where p.bank_key = $1 and p.memory_id = $2::text::uuid`, [...key, rowId])
  return true
}
