/**
 * The longest text, in UTF-16 units, that is processed without a yield. One that expands (U+FDFA becomes 18 letters)
 * takes some milliseconds.
 */
export const PART_CHARACTERS = 2_048
/** UTF-16 units that are checked on either side of a possible cut. No script has more marks on a letter. */
const CONTEXT_CHARACTERS = 64
/**
 * Stands for what precedes those units. A final Σ has its own small letter if a cased letter stands anywhere before it
 * with only combining and invisible characters between them.
 */
const CASED_LETTER = 'a'
/** Positions that are checked for the cut after one part. */
const MAX_TRIES = 16

/**
 * A cut lies between two independent characters: neither is a combining mark, a case-ignorable or an invisible
 * character. Folding one side then depends on at most the next few characters of the other.
 */
const INDEPENDENT_CHARACTER = '(?!\\p{Default_Ignorable_Code_Point})[\\p{Lu}\\p{Ll}\\p{Lo}\\p{N}\\p{So}\\s]'
const BOUNDARY = new RegExp(`${INDEPENDENT_CHARACTER}(?=${INDEPENDENT_CHARACTER})`, 'gu')

/**
 * Splits a text into parts of PART_CHARACTERS units or a little more, for functions whose result for a character
 * depends on a few neighbours only (normalization, case folding, replacements): the results for the parts, joined,
 * equal the result for the whole text. A part is longer where no cut is found.
 */
export function * splitForFolding (text: string, change: (part: string) => string): Generator<string> {
  let from = 0
  while (text.length - from > PART_CHARACTERS) {
    const to = boundaryAfter(text, from + PART_CHARACTERS, change)
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length || text === '') yield text.slice(from)
}

function boundaryAfter (text: string, start: number, change: (part: string) => string): number {
  for (let from = start; from < text.length; from += PART_CHARACTERS) {
    // The search runs on a slice, so that it never goes beyond it.
    const window = text.slice(from - 2 * CONTEXT_CHARACTERS, from + PART_CHARACTERS)
    BOUNDARY.lastIndex = CONTEXT_CHARACTERS
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = BOUNDARY.exec(window)
      if (found === null) break
      const at = found.index + found[0].length
      const before = CASED_LETTER + window.slice(at - CONTEXT_CHARACTERS, at)
      const after = window.slice(at, at + CONTEXT_CHARACTERS)
      BOUNDARY.lastIndex = at
      if (change(before + after) === change(before) + change(after)) return from - 2 * CONTEXT_CHARACTERS + at
      BOUNDARY.lastIndex = at
    }
  }
  return text.length
}
