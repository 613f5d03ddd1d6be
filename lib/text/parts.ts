/**
 * The longest text, in UTF-16 units, that is processed without a yield. One that expands (U+FDFA becomes 18 letters)
 * takes some milliseconds.
 */
export const AT_ONCE = 2_048
/** UTF-16 units that are checked on either side of a possible cut. No script has more marks on a letter. */
const CONTEXT = 64
/** Positions that are checked for the cut after one part. */
const TRIES = 16

/**
 * A cut lies between two independent characters: neither is a combining mark, a case-ignorable or an invisible
 * character. Folding one side then depends on at most the next few characters of the other.
 */
const OF_ITS_OWN = '(?!\\p{Default_Ignorable_Code_Point})[\\p{Lu}\\p{Ll}\\p{Lo}\\p{N}\\p{So}\\s]'
const SEAM = new RegExp(`${OF_ITS_OWN}(?=${OF_ITS_OWN})`, 'gu')

/**
 * Splits a text into parts of AT_ONCE units or a little more, for functions whose result for a character depends on a
 * few neighbours only (normalization, case folding, replacements): the results for the parts, joined, equal the result
 * for the whole text. A part is longer where no cut is found.
 */
export function * partsFor (text: string, change: (part: string) => string): Generator<string> {
  let from = 0
  while (text.length - from > AT_ONCE) {
    const to = seamAfter(text, from + AT_ONCE, change)
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length || text === '') yield text.slice(from)
}

function seamAfter (text: string, start: number, change: (part: string) => string): number {
  for (let from = start; from < text.length; from += AT_ONCE) {
    // The search runs on a slice, so that it never goes beyond it.
    const window = text.slice(from - 2 * CONTEXT, from + AT_ONCE)
    SEAM.lastIndex = CONTEXT
    for (let tries = 0; tries < TRIES; tries++) {
      const found = SEAM.exec(window)
      if (found === null) break
      const at = found.index + found[0].length
      const before = window.slice(at - CONTEXT, at)
      const after = window.slice(at, at + CONTEXT)
      SEAM.lastIndex = at
      if (change(before + after) === change(before) + change(after)) return from - 2 * CONTEXT + at
      SEAM.lastIndex = at
    }
  }
  return text.length
}
