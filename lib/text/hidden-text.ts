import type { Steps } from '../concurrency/steps.js'

/** Flags of England, Scotland and Wales: the emoji that are written with tag characters. */
const TAG_FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}|\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}|\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}/gu
const BEYOND_ASCII = /[\u0080-\uffff]/

const LETTER = '[\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}]'
const HIDING = [
  // Tag characters are invisible to people, but models read them.
  /[\u{e0000}-\u{e007f}]/u,
  // Direction overrides display text in another order than it is stored in. Direction marks, embeddings and isolates
  // are ordinary in copied text.
  /[\u202d\u202e]/,
  // Words of these scripts contain no invisible characters. Persian, Indic scripts and emoji need joiners, and Thai
  // needs the zero-width space.
  new RegExp(`${LETTER}[\u180e\u200b-\u200d\u202a-\u202c\u2060-\u2064\u2066-\u2069\ufeff]+${LETTER}`, 'u'),
  // Longer sequences than any script or emoji uses can encode bits.
  /[\u180e\u200b-\u200f\u2060-\u2064\ufeff]{5}/,
  /[\ufe00-\ufe0f]{3}/,
  /[\u115f\u1160\u3164\uffa0]{3}/,
  // These select variants of ideographs; after any other character they can encode bytes.
  /(?:^|[^\p{sc=Han}])[\u{e0100}-\u{e01ef}]/u,
  /[\ufff9-\ufffb]/,
]

/** Whether a text contains characters that hide text from a human reader, one pattern a step. */
export function * hidingSteps (text: string): Steps<boolean> {
  if (!BEYOND_ASCII.test(text)) return false
  const rest = text.replace(TAG_FLAGS, '')
  for (const pattern of HIDING) {
    yield
    if (pattern.test(rest)) return true
  }
  return false
}
