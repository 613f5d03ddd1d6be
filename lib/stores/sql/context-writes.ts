import type { BankKey } from '../../identity/context.js'
import type { NewMemory } from '../vector-store.js'
import { MOST_DOCUMENTS } from './context-statements.js'
import { SqlError, type Queries } from './executor.js'
import { fromMemberRow, toMembers, type MemberRow } from './members.js'
import { planContext, type Change, type Member, type Mending, type Plan } from './neighbourhood.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Rows of the index that one statement writes or drops at most. */
const MEND_BATCH = 10_000

export function documentsOf (memories: readonly NewMemory[]): Set<string> {
  return new Set(toMembers(memories).map(({ documentId }) => documentId))
}

/**
 * Keeps others from these documents until the transaction ends: who is to change the context of a document has to have it alone, and to
 * look at it after that.
 */
export async function lockDocuments (tx: Queries, statements: Statements, bank: BankKey, documents: ReadonlySet<string>): Promise<void> {
  if (documents.size === 0) return
  if (documents.size > MOST_DOCUMENTS) await tx.query(statements.context.lockBank, bankParameters(bank))
  else await tx.query(statements.context.lockDocuments, [...bankParameters(bank), [...documents]])
}

/**
 * Sees to it that the documents of memories that will be removed are locked. A document that is not joins the set, for the next attempt:
 * locks are taken before rows are, so that nobody waits for another in a ring.
 * @throws SqlError 40001: the work is to be done anew
 */
export function requireLocked (documents: Set<string>, found: ReadonlyArray<{ document_id: string | null }>): void {
  if (documents.size > MOST_DOCUMENTS) return
  const locked = documents.size
  for (const { document_id: documentId } of found) {
    if (documentId !== null) documents.add(documentId)
  }
  if (documents.size > locked) throw undone('A memory is in a document that was not locked')
}

export function undone (reason: string): SqlError {
  return new SqlError('statement', reason, { code: '40001' })
}

/** Looks at the neighbours of what changes, in a transaction that has their documents locked and from which what is gone has gone. */
export async function planAround (tx: Queries, statements: Statements, bank: BankKey, change: Omit<Change, 'present'>): Promise<Plan> {
  const places: Member[] = Object.values(change).flat()
  if (places.length === 0) return planContext({ present: [] })
  const coming = new Set(places.map(({ memoryId }) => memoryId))
  const rows = await tx.query<MemberRow>(statements.context.neighbours, [
    ...bankParameters(bank), places.map(({ documentId }) => documentId), places.map(({ at }) => String(at)), places.map(({ memoryId }) => memoryId),
  ])
  return planContext({ ...change, present: rows.filter(({ memory_id: id }) => !coming.has(id)).map(fromMemberRow) })
}

export async function mend (tx: Queries, statements: Statements, bank: BankKey, { written, dropped }: Mending): Promise<void> {
  const key = bankParameters(bank)
  for (let start = 0; start < dropped.length; start += MEND_BATCH) {
    const rows = dropped.slice(start, start + MEND_BATCH)
    await tx.query(statements.context.drop, [...key, rows.map(({ term }) => term), rows.map(({ memoryId }) => memoryId)])
  }
  for (let start = 0; start < written.length; start += MEND_BATCH) {
    const rows = written.slice(start, start + MEND_BATCH)
    await tx.query(statements.context.write, [
      ...key,
      rows.map(({ term }) => term),
      rows.map(({ member }) => member.memoryId),
      rows.map(({ weights }) => String(weights.context)),
      rows.map(({ weights }) => String(weights.own)),
      rows.map(({ member }) => String(member.length)),
      rows.map(({ member: { expiresAt } }) => expiresAt === null ? null : String(expiresAt)),
    ])
  }
}
