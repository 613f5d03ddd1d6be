import type { BankKey } from '../../access/context.js'
import { readTrust } from '../../access/trust.js'
import { type ExistingMemory, type ImportPlan, planImport as planConflicts } from '../import-plan.js'
import type { Standing, Standings } from '../insert-plan.js'
import type { NewMemory, OnConflict, Part } from '../vector-store.js'
import type { Transaction } from './executor.js'
import { type ExistingRow, hasExpired, lockExisting, lockKeyed, lockPast } from './insertion.js'
import { bankParameters, type MemoryRow, READ_COLUMNS, toMemory } from './rows.js'

/** Memories of an import whose conflicts are looked up by one statement. */
const LOOKUP_BATCH = 1000

interface ImportConflictsOptions {
  bank: BankKey
  memories: readonly NewMemory[]
  /** The memories ordered by id; all transactions lock conflicting rows in this order. */
  ordered: readonly NewMemory[]
  onConflict: OnConflict
  now: number
  schema: string
}

interface StandingRow extends MemoryRow {
  fingerprint: string
  passages: number
}

/**
 * Locks the current memories that new ones repeat or supersede.
 * @returns them, and those that have expired and are in the way
 */
export async function lockStandings (
  tx: Transaction, schema: string, bank: BankKey, memories: readonly NewMemory[], now: number,
): Promise<{ standings: Standings, expired: Array<{ memory_id: string, part: Part }> }> {
  const key = bankParameters(bank)
  const named = [...new Set(memories.flatMap(({ supersedes }) => supersedes))]
  const rows = await tx.query<StandingRow>(`select ${READ_COLUMNS}, m.fingerprint,
  cardinality(m.passage_starts) as passages
from ${schema}.memories m where m.bank_key = $1
  and (m.memory_id = any($2::text[]::uuid[]) or m.fingerprint = any($3::text[]) or m.key = any($4::text[]))
order by m.memory_id for update`, [
    ...key, [...named, ...memories.map(({ memoryId }) => memoryId)], memories.map(({ fingerprint }) => fingerprint),
    [...new Set(memories.flatMap(({ key }) => key ?? []))],
  ])
  const past = named.length === 0 ? [] : await tx.query<ExistingRow>(lockPast(schema), [...key, named])
  const expired = rows.filter((row) => hasExpired(row, now)).map(({ memory_id: id }) => (
    { memory_id: id, part: 'current' as const }
  ))
  const live = rows.filter((row) => !hasExpired(row, now)).map((row): Standing => (
    { memory: toMemory(row), fingerprint: row.fingerprint, passageCount: row.passages }
  ))
  const by = <K>(valueOf: (standing: Standing) => K) => new Map(live.map((each) => [valueOf(each), each]))
  const [byFingerprint, byKey, byId] = [
    by(({ fingerprint }) => fingerprint), by(({ memory }) => memory.key), by(({ memory }) => memory.memoryId),
  ]
  const known = new Set(past.filter((row) => !hasExpired(row, now)).map(({ memory_id: id }) => id))
  return {
    standings: {
      byFingerprint: (fingerprint) => byFingerprint.get(fingerprint),
      byKey: (key) => byKey.get(key),
      byId: (memoryId) => byId.get(memoryId),
      isKnown: (memoryId) => byId.has(memoryId) || known.has(memoryId),
    },
    expired,
  }
}

/** A memory that an import conflicts with, in the part of the bank where it is. */
export interface ConflictingRow extends ExistingRow {
  part: Part
}

/**
 * Looks up and locks the memories of the bank that an import conflicts with, and plans the import.
 * @returns the plan, whose `removed` includes expired memories that still have an id, a fingerprint or a key of it
 */
export async function planImport (
  tx: Transaction, options: ImportConflictsOptions,
): Promise<ImportPlan<ConflictingRow>> {
  const { memories, onConflict, now } = options
  const found = {
    byId: new Map<string, ConflictingRow>(),
    byFingerprint: new Map<string, ConflictingRow>(),
    byKey: new Map<string, ConflictingRow>(),
  }
  const expired: ConflictingRow[] = []
  const seen = new Set<string>()
  for await (const row of lockConflicting(tx, options)) {
    if (seen.has(row.memory_id)) continue
    seen.add(row.memory_id)
    if (hasExpired(row, now)) {
      expired.push(row)
      continue
    }
    found.byId.set(row.memory_id, row)
    if (row.part === 'past') continue
    found.byFingerprint.set(row.fingerprint, row)
    if (row.key !== null) found.byKey.set(row.key, row)
  }
  const existing = {
    byId: (id: string) => found.byId.get(id),
    byFingerprint: (fingerprint: string) => found.byFingerprint.get(fingerprint),
    byKey: (key: string) => found.byKey.get(key),
  }
  const plan = planConflicts(memories, existing, toExisting, onConflict)
  return { ...plan, removed: [...expired, ...plan.removed] }
}

async function * lockConflicting (
  tx: Transaction, { schema, bank, ordered }: ImportConflictsOptions,
): AsyncGenerator<ConflictingRow> {
  for (let start = 0; start < ordered.length; start += LOOKUP_BATCH) {
    const batch = ordered.slice(start, start + LOOKUP_BATCH)
    const [key, ids] = [bankParameters(bank), batch.map(({ memoryId }) => memoryId)]
    const keys = batch.flatMap(({ key }) => key ?? [])
    const fingerprints = batch.map(({ fingerprint }) => fingerprint)
    const rows = await tx.query<ExistingRow>(lockExisting(schema), [...key, ids, fingerprints])
    if (keys.length > 0) rows.push(...await tx.query<ExistingRow>(lockKeyed(schema), [...key, keys]))
    for (const row of rows) yield { ...row, part: 'current' }
    for (const row of await tx.query<ExistingRow>(lockPast(schema), [...key, ids])) yield { ...row, part: 'past' }
  }
}

function toExisting (row: ConflictingRow): ExistingMemory {
  const { memory_id: memoryId, fingerprint, key, version } = row
  return { memoryId, fingerprint, trust: readTrust(row.trust), key, version, isCurrent: row.part === 'current' }
}
