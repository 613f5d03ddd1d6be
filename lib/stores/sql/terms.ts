import { createHash } from 'node:crypto'
import type { Passage } from '../vector-store.js'

/**
 * Bytes of a term that the index keeps as it is: an entry of a B-tree has to fit a third of a page, with tenant and
 * bank beside it.
 */
const MAX_BYTES = 256

/**
 * A term as the postings have it. A long one, as a text without spaces gives, is kept as its digest: behind a sign that
 * no word has. No text has U+0000, so a query's term with it is one that no memory has, and stays one.
 */
export function indexTerm (term: string): string {
  // A UTF-16 unit is at most three bytes.
  if (term.length * 3 > MAX_BYTES && Buffer.byteLength(term) > MAX_BYTES) return `#${createHash('sha256').update(term).digest('hex')}`
  return term.includes('\u0000') ? '#' : term
}

/**
 * A passage's terms as the index has them: weights in 32 bits, of which too small and too large a number leave nothing
 * to score by. Mostly they are what they were, and then no copy is made.
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
