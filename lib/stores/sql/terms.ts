import { createHash } from 'node:crypto'

/** Bytes of a term that the index keeps as it is: an entry of a B-tree has to fit a third of a page, with tenant and bank beside it. */
const MAX_BYTES = 256

/**
 * A term as the postings have it. A long one, as a text without spaces gives, is kept as its digest: behind a sign that no word has. No
 * text has U+0000, so a query's term with it is one that no memory has, and stays one.
 */
export function indexTerm (term: string): string {
  // A UTF-16 unit is at most three bytes.
  if (term.length * 3 > MAX_BYTES && Buffer.byteLength(term) > MAX_BYTES) return `#${createHash('sha256').update(term).digest('hex')}`
  return term.includes('\u0000') ? '#' : term
}
