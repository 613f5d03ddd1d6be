import type { BankKey } from '../../identity/context.js'
import type { RemoveOutcome } from '../vector-store.js'
import { lockDocuments, mendAround, requireLocked } from './context-writes.js'
import type { Param, Queries } from './executor.js'
import { addCounts, NO_COUNTS, type Counts } from './insertion.js'
import { fromMemberRow, type MemberRow } from './members.js'
import type { Member } from './neighbourhood.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Characters of an id. */
const ID_LENGTH = 36
/** Memories that one statement takes away. */
const BATCH = 500

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
 * @returns how many were removed, and the first of their ids, rising
 * @throws SqlError 40001 when the work is to be done anew
 */
export async function removeChosen (tx: Queries, statements: Statements, bank: BankKey, choice: Choice, { documents, shard, idLimit }: { documents: Set<string>, shard: number, idLimit: number }): Promise<RemoveOutcome> {
  await lockDocuments(tx, statements, bank, documents)
  const [chosen] = await tx.query<{ ids: string, documents: string[] }>(statements.removal.choose[choice.kind], parameters(bank, choice))
  const count = chosen!.ids.length / ID_LENGTH
  if (count === 0) return { count, memoryIds: [] }
  requireLocked(documents, chosen!.documents.map((documentId) => ({ document_id: documentId })))
  const idAt = (index: number) => chosen!.ids.slice(index * ID_LENGTH, (index + 1) * ID_LENGTH)
  if (count <= BATCH) {
    const ids = Array.from({ length: count }, (_, index) => idAt(index))
    const { members } = toGone(await tx.query<GoneRow>(statements.removal.remove, [...bankParameters(bank), ids, shard]))
    await mendAround(tx, statements, bank, { gone: members })
    return { count, memoryIds: ids.slice(0, idLimit) }
  }
  const { memories, embedded, expiring, passages, length } = await removeAll(tx, statements, bank, mapRange(count, idAt))
  await tx.query(statements.count, [...bankParameters(bank), shard, memories, embedded, expiring, passages, length])
  return { count, memoryIds: Array.from({ length: Math.min(count, idLimit) }, (_, index) => idAt(index)) }
}

/**
 * Removes memories that are locked, with their documents, and mends the context of their neighbours, some at a time: whatever each has of
 * terms, only a few are here.
 * @returns what the bank's statistics lose, for the caller to count
 */
export async function removeAll (tx: Queries, statements: Statements, bank: BankKey, memoryIds: Iterable<string>): Promise<Counts> {
  const counts = { ...NO_COUNTS }
  let some: string[] = []
  const removeSome = async () => {
    const gone = await removeLocked(tx, statements, bank, some)
    addCounts(counts, gone.counts)
    await mendAround(tx, statements, bank, { gone: gone.members })
    some = []
  }
  for (const id of memoryIds) {
    some.push(id)
    if (some.length === BATCH) await removeSome()
  }
  if (some.length > 0) await removeSome()
  return counts
}

function * mapRange<T> (count: number, map: (index: number) => T): Generator<T> {
  for (let index = 0; index < count; index++) yield map(index)
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
