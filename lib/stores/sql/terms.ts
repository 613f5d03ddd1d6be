import { createHash } from 'node:crypto'
import type { Passage } from '../vector-store.js'

/**
 * Maximum bytes of a term stored unchanged: an entry of a B-tree index is limited to a third of a page, and also
 * contains tenant and bank.
 */
const MAX_BYTES = 256

/** Separates terms in the text that an insert sends them in. */
const SEPARATOR = '\u001f'

/**
 * A term as stored in postings. A long one, as text without spaces produces, is replaced by its digest after `#`, which
 * no term contains; so is one with the separator. A query term with U+0000, which no stored text contains, becomes `#`,
 * which matches no memory.
 */
export function indexTerm (term: string): string {
  // A UTF-16 code unit is at most three bytes of UTF-8.
  const isLong = term.length * 3 > MAX_BYTES && Buffer.byteLength(term) > MAX_BYTES
  if (isLong || term.includes(SEPARATOR)) return `#${createHash('sha256').update(term).digest('hex')}`
  return term.includes('\u0000') ? '#' : term
}

/**
 * Terms as one text, which SQL reads with termsOf. It is shorter than an array of them in PostgreSQL's syntax within
 * another, whose quotes would be escaped.
 */
export function termsText (terms: Iterable<string>): string {
  return [...terms].join(SEPARATOR)
}

/** An SQL expression of the terms in a termsText. */
export function termsOf (text: string): string {
  return `string_to_array(${text}, chr(${SEPARATOR.charCodeAt(0)}))`
}

/**
 * A passage's terms as stored in the index: weights are 32-bit floats, and terms whose weight becomes 0 or infinite are
 * left out. Usually nothing changes, and no copy is made.
 */
export function indexTerms ({ terms }: Pick<Passage, 'terms'>): ReadonlyMap<string, number> {
  let same = true
  for (const [term, count] of terms) {
    same = count > 0 && count < Infinity && Math.fround(count) === count && indexTerm(term) === term
    if (!same) break
  }
  if (same) return terms
  const known = new Map<string, number>()
  for (const [term, count] of terms) {
    const weight = Math.fround(count)
    if (weight > 0 && weight < Infinity) known.set(indexTerm(term), weight)
  }
  return known
}
