/** Shorter texts are searched for by V8, whose worst case is the product of both lengths. */
const MAX_SHORT_CHARACTERS = 64

/**
 * Whether texts contain the wanted one, by Knuth, Morris and Pratt (1977): in time linear in the length of a text,
 * whatever repeats in it.
 */
export function searchFor (wanted: string): (text: string) => boolean {
  if (wanted.length <= MAX_SHORT_CHARACTERS) return (text) => text.includes(wanted)
  const borders = bordersOf(wanted)
  return (text) => {
    let matched = 0
    for (let at = 0; at < text.length; at++) {
      matched = extended(wanted, borders, matched, text.charCodeAt(at))
      if (matched === wanted.length) return true
    }
    return false
  }
}

/** For each beginning of a text, by its length, the length of the longest shorter one with which it ends. */
function bordersOf (wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length + 1)
  for (let at = 1; at < wanted.length; at++) {
    borders[at + 1] = extended(wanted, borders, borders[at]!, wanted.charCodeAt(at))
  }
  return borders
}

/** How many units of the wanted text match when so many matched before the next unit. */
function extended (wanted: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched
  while (length > 0 && wanted.charCodeAt(length) !== unit) length = borders[length]!
  return wanted.charCodeAt(length) === unit ? length + 1 : length
}
