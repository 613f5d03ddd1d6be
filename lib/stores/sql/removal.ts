import type { BankKey } from '../../identity/context.js'
import { lockDocuments, mend, planAround, requireLocked } from './context-writes.js'
import type { Param, Queries } from './executor.js'
import { NO_COUNTS, type Counts } from './insertion.js'
import { fromMemberRow, type MemberRow } from './members.js'
import type { Member } from './neighbourhood.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Which memories of a bank go: those with these ids or tags, or a batch of those that have expired. */
export interface Choice {
  kind: 'ids' | 'any' | 'all' | 'expired'
  /** Ids or tags. */
  chosen?: readonly string[]
  now: number
}

interface GoneRow extends Omit<MemberRow, 'own_terms' | 'question'> {
  own_terms: string | null
  question: boolean | null
  embedded: boolean
  passages: number
}

export interface Gone {
  /** What the bank's statistics lose, less than 0. */
  counts: Counts
  members: Member[]
}

/** The documents that a removal will have to lock, as it seems beforehand. */
export async function documentsToLock (queries: Queries, statements: Statements, bank: BankKey, choice: Choice): Promise<Set<string>> {
  const rows = await queries.query<{ document_id: string }>(statements.removal.documents[choice.kind], parameters(bank, choice))
  return new Set(rows.map(({ document_id: documentId }) => documentId))
}

/**
 * Removes memories with all that is theirs, counts it, and mends the context of their neighbours.
 * @param documents those to lock; it grows when that was not enough
 * @returns the ids of what was removed, rising
 * @throws SqlError 40001 when the work is to be done anew
 */
export async function removeChosen (tx: Queries, statements: Statements, bank: BankKey, choice: Choice, { documents, shard }: { documents: Set<string>, shard: number }): Promise<string[]> {
  await lockDocuments(tx, statements, bank, documents)
  const chosen = await tx.query<{ memory_id: string, document_id: string | null }>(statements.removal.choose[choice.kind], parameters(bank, choice))
  if (chosen.length === 0) return []
  requireLocked(documents, chosen)
  const ids = chosen.map(({ memory_id: id }) => id)
  const { members } = toGone(await tx.query<GoneRow>(statements.removal.remove, [...bankParameters(bank), ids, shard]))
  await mend(tx, statements, bank, (await planAround(tx, statements, bank, { gone: members })).mending)
  return ids
}

/** Removes memories that are locked, with their documents, and leaves it to the caller to count them and to mend. */
export async function removeLocked (tx: Queries, statements: Statements, bank: BankKey, memoryIds: readonly string[]): Promise<Gone> {
  if (memoryIds.length === 0) return { counts: { ...NO_COUNTS }, members: [] }
  return toGone(await tx.query<GoneRow>(statements.removal.removeUncounted, [...bankParameters(bank), memoryIds]))
}

function parameters (bank: BankKey, { kind, chosen = [], now }: Choice): Param[] {
  return [...bankParameters(bank), now, ...(kind === 'expired' ? [] : [chosen])]
}

function toGone (rows: readonly GoneRow[]): Gone {
  const counts = { ...NO_COUNTS }
  const members: Member[] = []
  for (const { own_terms: terms, question, embedded, passages, ...row } of rows) {
    counts.memories -= 1
    counts.passages -= passages
    counts.length -= row.passages_length
    if (embedded) counts.embedded -= 1
    if (row.expires_at !== null) counts.expiring -= 1
    if (terms !== null) members.push(fromMemberRow({ ...row, own_terms: terms, question: question === true }))
  }
  return { counts, members }
}
