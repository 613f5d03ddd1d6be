import { bankKeyString, type BankKey } from '../../identity/context.js'
import { turns } from '../../turn-budget.js'
import { takesPart } from '../context.js'
import type { NewMemory } from '../vector-store.js'
import { MOST_DOCUMENTS } from './context-statements.js'
import { SqlError, type Queries } from './executor.js'
import { fromMemberRow, toMember, type MemberRow } from './members.js'
import { planContext, type Change, type Member, type Mending, type Plan } from './neighbourhood.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Rows of the index that one statement writes or drops at most. */
const MEND_BATCH = 5000
/** Places in documents that one statement looks around. */
const PLACES = 500

/** The documents in whose context memories take part. @param caller as in TurnBudget.next, also below */
export async function documentsOf (memories: readonly NewMemory[], caller: string): Promise<Set<string>> {
  const documents = new Set<string>()
  for (const memory of memories) {
    if (turns.isSpent) await turns.next(caller)
    if (takesPart(memory, memory.passages)) documents.add(memory.documentId!)
  }
  return documents
}

/** Those of the memories that take part in their documents' context. */
export async function membersOf (memories: readonly NewMemory[], caller: string): Promise<Member[]> {
  const members: Member[] = []
  for (const memory of memories) {
    if (turns.isSpent) await turns.next(caller)
    const member = toMember(memory)
    if (member !== undefined) members.push(member)
  }
  return members
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

/**
 * Looks at the neighbours of what changes, and mends their context, in a transaction that has their documents locked and from which what is
 * gone has gone.
 * @returns the index terms of what is added
 */
export async function mendAround (tx: Queries, statements: Statements, bank: BankKey, change: Omit<Change, 'present'>): Promise<Plan['termsOf']> {
  const places: Member[] = Object.values(change).flat()
  if (places.length === 0) return () => undefined
  const caller = bankKeyString(bank)
  const coming = new Set(places.map(({ memoryId }) => memoryId))
  const present = new Map<string, Member>()
  for (let start = 0; start < places.length; start += PLACES) {
    const some = places.slice(start, start + PLACES)
    const rows = await tx.query<MemberRow>(statements.context.neighbours, [
      ...bankParameters(bank), some.map(({ documentId }) => documentId), some.map(({ at }) => String(at)), some.map(({ memoryId }) => memoryId),
    ])
    for (const row of rows) {
      if (turns.isSpent) await turns.next(caller)
      if (!coming.has(row.memory_id) && !present.has(row.memory_id)) present.set(row.memory_id, fromMemberRow(row))
    }
  }
  const { termsOf } = await planContext({ ...change, present: [...present.values()] }, {
    caller,
    most: MEND_BATCH,
    mend: async (mending) => { await mend(tx, statements, bank, mending) },
  })
  return termsOf
}

async function mend (tx: Queries, statements: Statements, bank: BankKey, { written, dropped }: Mending): Promise<void> {
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
