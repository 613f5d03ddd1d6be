/**
 * Longest text, in UTF-16 units, that is worked on in one go: an expanding one (U+FDFA becomes 18 letters) takes some
 * milliseconds.
 */
export const AT_ONCE = 2_048
/** UTF-16 units on either side of a seam that show whether it is one. No writing has more marks on a letter. */
const CONTEXT = 64
/** Places that are looked at for a seam of one part. */
const TRIES = 16

/**
 * Between two characters of which each stands for itself: none is a mark, is skipped where letters are cased, or is not
 * seen. What becomes of a text on one side then depends on the other by the next few characters at most.
 */
const OF_ITS_OWN = '(?!\\p{Default_Ignorable_Code_Point})[\\p{Lu}\\p{Ll}\\p{Lo}\\p{N}\\p{So}\\s]'
const SEAM = new RegExp(`${OF_ITS_OWN}(?=${OF_ITS_OWN})`, 'gu')

/**
 * A text in parts of AT_ONCE or a little more, for a function that works on the next few characters around each (a
 * normal form, a change of case, replacements): what it makes of the parts, put together, is what it makes of the
 * whole. Where no such place is found, a part is longer.
 */
export function * partsFor (text: string, change: (part: string) => string): Generator<string> {
  let from = 0
  while (text.length - from > AT_ONCE) {
    const to = seamBehind(text, from + AT_ONCE, change)
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length || text === '') yield text.slice(from)
}

function seamBehind (text: string, least: number, change: (part: string) => string): number {
  for (let from = least; from < text.length; from += AT_ONCE) {
    // A copy of what is looked through, so that a search never goes beyond it.
    const window = text.slice(from - 2 * CONTEXT, from + AT_ONCE)
    SEAM.lastIndex = CONTEXT
    for (let tries = 0; tries < TRIES; tries++) {
      const found = SEAM.exec(window)
      if (found === null) break
      const at = found.index + found[0].length
      const before = window.slice(at - CONTEXT, at)
      const behind = window.slice(at, at + CONTEXT)
      SEAM.lastIndex = at
      if (change(before + behind) === change(before) + change(behind)) return from - 2 * CONTEXT + at
      SEAM.lastIndex = at
    }
  }
  return text.length
}
