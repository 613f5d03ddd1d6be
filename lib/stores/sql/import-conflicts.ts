import type { BankKey } from '../../identity/context.js'
import { readTrust } from '../../identity/trust.js'
import { planImport as planConflicts, type ExistingMemory, type ImportPlan } from '../import-plan.js'
import type { NewMemory, OnConflict } from '../vector-store.js'
import type { Transaction } from './executor.js'
import { hasExpired, type ExistingRow } from './insertion.js'
import { bankParameters } from './rows.js'

/** Memories of an import whose conflicts are looked up by one statement. */
const LOOKUP_BATCH = 1000

interface ImportConflictsOptions {
  bank: BankKey
  memories: readonly NewMemory[]
  /** The memories ordered by id; all transactions lock conflicting rows in this order. */
  ordered: readonly NewMemory[]
  onConflict: OnConflict
  now: number
  /** `lockExisting` of statements.ts. */
  statement: string
}

/**
 * Looks up and locks the memories of the bank that an import conflicts with, and plans the import.
 * @returns the plan, whose `removed` includes expired memories that still have an id or a fingerprint of the import
 */
export async function planImport (
  tx: Transaction, options: ImportConflictsOptions,
): Promise<ImportPlan<ExistingRow>> {
  const { memories, onConflict, now } = options
  const [byId, byFingerprint] = [new Map<string, ExistingRow>(), new Map<string, ExistingRow>()]
  const expired: ExistingRow[] = []
  for await (const row of lockExisting(tx, options)) {
    if (byId.get(row.memory_id) !== undefined) continue
    byId.set(row.memory_id, row)
    if (hasExpired(row, now)) expired.push(row)
    else byFingerprint.set(row.fingerprint, row)
  }
  const existing = {
    byId: (id: string) => {
      const row = byId.get(id)
      return row === undefined || hasExpired(row, now) ? undefined : row
    },
    byFingerprint: (fingerprint: string) => byFingerprint.get(fingerprint),
  }
  const plan = planConflicts(memories, existing, toExisting, onConflict)
  for (const row of plan.removed) expired.push(row)
  return { ...plan, removed: expired }
}

async function * lockExisting (
  tx: Transaction, { bank, ordered, statement }: ImportConflictsOptions,
): AsyncGenerator<ExistingRow> {
  for (let start = 0; start < ordered.length; start += LOOKUP_BATCH) {
    const batch = ordered.slice(start, start + LOOKUP_BATCH)
    yield * await tx.query<ExistingRow>(statement, [
      ...bankParameters(bank), batch.map(({ memoryId }) => memoryId), batch.map(({ fingerprint }) => fingerprint),
    ])
  }
}

function toExisting (row: ExistingRow): ExistingMemory {
  return { memoryId: row.memory_id, fingerprint: row.fingerprint, trust: readTrust(row.trust) }
}
