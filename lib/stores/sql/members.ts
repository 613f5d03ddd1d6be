import { sequenceInstant, takesPart, toLender } from '../context.js'
import type { NewMemory, Passage } from '../vector-store.js'
import { storedWeight, type Member } from './neighbourhood.js'
import { indexTerm } from './terms.js'

/** A member as the statements answer it. */
export interface MemberRow {
  memory_id: string
  document_id: string
  at: number
  expires_at: number | null
  passages_length: number
  question: boolean
  /** JSON pairs. */
  own_terms: string
}

/** @returns undefined for a memory that takes no part */
export function toMember (memory: NewMemory): Member | undefined {
  const { memoryId, documentId, expiresAt, passages } = memory
  if (!takesPart(memory, passages)) return undefined
  const { question } = toLender(passages[0]!)
  return { memoryId, documentId: documentId!, at: sequenceInstant(memory), expiresAt, length: passages[0]!.length, terms: ownTerms(passages[0]!), question }
}

export function fromMemberRow (row: MemberRow): Member {
  return {
    memoryId: row.memory_id,
    documentId: row.document_id,
    at: row.at,
    expiresAt: row.expires_at,
    length: row.passages_length,
    question: row.question,
    terms: new Map((JSON.parse(row.own_terms) as Array<[string, number]>).map(([term, weight]) => [term, storedWeight(weight)])),
  }
}

/** The text of own_terms. */
export function memberText (terms: ReadonlyMap<string, number>): string {
  return JSON.stringify([...terms])
}

/**
 * A passage's terms as the index has them: weights in 32 bits, of which too small and too large a number leave nothing to score by. Mostly
 * they are what they were, and then no copy is made.
 */
export function ownTerms ({ terms }: Pick<Passage, 'terms'>): ReadonlyMap<string, number> {
  let same = true
  for (const [term, count] of terms) {
    same = count > 0 && count < Infinity && Math.fround(count) === count && indexTerm(term) === term
    if (!same) break
  }
  if (same) return terms
  const own = new Map<string, number>()
  for (const [term, count] of terms) {
    const weight = Math.fround(count)
    if (weight > 0 && weight < Infinity) own.set(indexTerm(term), weight)
  }
  return own
}
