import { turns } from '../../turn-budget.js'
import { REACH, withContext, type Lender, type TermWeights } from '../context.js'
import { sortInTurns } from './sorting.js'

/** A memory that takes part in the context of its document. Terms and weights are as the index has them. */
export interface Member extends Lender {
  memoryId: string
  documentId: string
  /** Its place in the document, before the id (sequenceInstant). */
  at: number
  expiresAt: number | null
  /** Of its only passage. */
  length: number
}

/** Rows of the index that are to be written anew, and those that are to go. */
export interface Mending {
  written: Array<{ member: Member, term: string, weights: TermWeights }>
  dropped: Array<{ memoryId: string, term: string }>
}

export interface Change {
  /** Members that stay, at least 2 · REACH on either side of every place where one goes or comes. */
  present: readonly Member[]
  /** Their own terms have left the index already. */
  gone?: readonly Member[]
  /** Their terms will be put into the index with what `planContext` says. */
  added?: readonly Member[]
  /** Their own terms are in the index, as those of memories without context. */
  entering?: readonly Member[]
}

const LARGEST = (2 - 2 ** -23) * 2 ** 127

/** A weight as it is stored, in 32 bits. */
export function storedWeight (weight: number): number {
  return Math.min(Math.fround(weight), LARGEST)
}

export interface Plan {
  /** The index terms of an added memory; undefined for another. */
  termsOf: (memoryId: string) => Map<string, TermWeights> | undefined
}

export interface Mender {
  /** As in TurnBudget.next. */
  caller: string
  /** Rows after which `mend` is called. */
  most: number
  mend: (mending: Mending) => Promise<void>
}

/** What becomes of the index when memories come into documents or leave them: it is a function of what stands before and after. */
export async function planContext ({ present, gone = [], added = [], entering = [] }: Change, { caller, most, mend }: Mender): Promise<Plan> {
  let mending: Mending = { written: [], dropped: [] }
  const rest = async (rows: number): Promise<void> => {
    if (turns.isSpent) await turns.next(caller)
    if (mending.written.length + mending.dropped.length < rows) return
    const full = mending
    mending = { written: [], dropped: [] }
    await mend(full)
  }
  const places = new Map<string, { sequence: readonly Member[], position: number }>()
  const coming = new Set([...added, ...entering])
  const leaving = new Set(gone)
  const before = await byDocument([...present, ...gone], caller)
  const after = await byDocument([...present, ...coming], caller)
  const affected = new Set([...await near(before, leaving, caller), ...await near(after, coming, caller)])
  for (const [documentId, sequence] of before) {
    const follows = await positions(after.get(documentId) ?? [], caller)
    for (const [position, member] of sequence.entries()) {
      await rest(most)
      if (leaving.has(member)) {
        for (const [term, { own }] of contextAt(sequence, position)) {
          if (own === 0) mending.dropped.push({ memoryId: member.memoryId, term })
        }
      } else if (affected.has(member)) {
        note(mending, member, contextAt(sequence, position), contextAt(after.get(documentId)!, follows.get(member)!))
      }
    }
  }
  const entrants = new Set(entering)
  for (const sequence of after.values()) {
    for (const [position, member] of sequence.entries()) {
      await rest(most)
      if (!coming.has(member)) continue
      if (entrants.has(member)) note(mending, member, withContext(member, [], []), contextAt(sequence, position))
      else places.set(member.memoryId, { sequence, position })
    }
  }
  await rest(1)
  return {
    termsOf: (memoryId) => {
      const place = places.get(memoryId)
      return place === undefined ? undefined : contextAt(place.sequence, place.position)
    },
  }
}

/** Each document's members in their order. */
async function byDocument (members: readonly Member[], caller: string): Promise<Map<string, Member[]>> {
  const documents = new Map<string, Member[]>()
  for (const member of members) {
    if (turns.isSpent) await turns.next(caller)
    const sequence = documents.get(member.documentId)
    if (sequence === undefined) documents.set(member.documentId, [member])
    else sequence.push(member)
  }
  for (const [documentId, sequence] of documents) {
    if (turns.isSpent) await turns.next(caller)
    documents.set(documentId, await sortInTurns(sequence, (a, b) => a.at - b.at || (a.memoryId < b.memoryId ? -1 : 1), caller))
  }
  return documents
}

/** The index terms of the member at a position of its document, with weights as they are stored. */
function contextAt (sequence: readonly Member[], position: number): Map<string, TermWeights> {
  const before = sequence.slice(Math.max(0, position - REACH), position).reverse()
  const behind = sequence.slice(position + 1, position + 1 + REACH)
  const context = withContext(sequence[position]!, before, behind)
  for (const [term, weights] of context) {
    weights.context = storedWeight(weights.context)
    // A share of next to nothing may be nothing in 32 bits.
    if (weights.context === 0) context.delete(term)
  }
  return context
}

/** Those within reach of one of the members, which lend to it and are lent to. */
async function near (documents: ReadonlyMap<string, readonly Member[]>, members: ReadonlySet<Member>, caller: string): Promise<Set<Member>> {
  const found = new Set<Member>()
  for (const sequence of documents.values()) {
    for (const [position, member] of sequence.entries()) {
      if (turns.isSpent) await turns.next(caller)
      if (!members.has(member)) continue
      for (const neighbour of sequence.slice(Math.max(0, position - REACH), position + 1 + REACH)) {
        if (!members.has(neighbour)) found.add(neighbour)
      }
    }
  }
  return found
}

async function positions (sequence: readonly Member[], caller: string): Promise<Map<Member, number>> {
  const found = new Map<Member, number>()
  for (const [position, member] of sequence.entries()) {
    if (turns.isSpent) await turns.next(caller)
    found.set(member, position)
  }
  return found
}

function note ({ written, dropped }: Mending, member: Member, old: ReadonlyMap<string, TermWeights>, now: ReadonlyMap<string, TermWeights>): void {
  for (const [term, weights] of now) {
    if (old.get(term)?.context !== weights.context) written.push({ member, term, weights })
  }
  for (const term of old.keys()) {
    if (!now.has(term)) dropped.push({ memoryId: member.memoryId, term })
  }
}
