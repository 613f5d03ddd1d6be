/** The halfwidth sound marks of Japanese are letters that become combining marks in NFKC and NFKD. */
const STACKED_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu
/** ASCII text is in every normal form. */
const BEYOND_ASCII = /[\u0080-\uffff]/
/** U+034F COMBINING GRAPHEME JOINER: of class 0, so nothing is ordered across it. */
const JOINER = '$&\u034f'

/**
 * Normalizes a text that is first brought into Stream-Safe Text Format (UAX #15, section 13), which inserts a joiner
 * after every thirty combining marks. Without it, canonical ordering of thousands of marks in a row takes quadratic
 * time. No script uses so many.
 */
export function normalForm (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  if (!BEYOND_ASCII.test(text)) return text
  return text.replace(STACKED_MARKS, JOINER).normalize(form)
}

/** Where the characters with case lie; there are none outside (test/lib/text/fold-case.test.ts). */
const BLOCKS: ReadonlyArray<readonly [start: number, end: number]> = [
  [0x41, 0x2fff], [0xa640, 0xabff], [0xff00, 0xffff], [0x10400, 0x11900], [0x16e40, 0x16eff], [0x1e900, 0x1e960],
]

/** By folded character, the other characters that fold to it. Made at the first use. */
let variants: Map<string, string[]> | undefined

/**
 * Equal for texts that differ only in case. Each character is folded to one character, without regard to its neighbours
 * and to any locale, so that a database can do the same with a table (`foldingTable`).
 */
export function foldCase (text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return Array.from(text, foldCharacter).join('')
}

/** By way of the capital, which the variants of a small letter share. */
function foldCharacter (character: string): string {
  const small = orSame(character.toLowerCase(), character)
  return orSame(orSame(small.toUpperCase(), small).toLowerCase(), small)
}

/** The result of a change of case, unless it has more than one character. */
function orSame (changed: string, character: string): string {
  return changed.length === String.fromCodePoint(changed.codePointAt(0)!).length ? changed : character
}

/**
 * What a text has to be translated by, character by character, to be compared with these folded texts: it then equals
 * one of them exactly when its folded form does. Characters of `from` become those of `to` at the same place.
 */
export function foldingTable (folded: readonly string[]): { from: string, to: string } {
  variants ??= allVariants()
  const table = { from: '', to: '' }
  for (const character of new Set(folded.flatMap((text) => [...text]))) {
    for (const variant of variants.get(character) ?? []) {
      table.from += variant
      table.to += character
    }
  }
  return table
}

function allVariants (): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [start, end] of BLOCKS) {
    for (let code = start; code <= end; code++) {
      const character = String.fromCodePoint(code)
      const folded = foldCharacter(character)
      if (folded === character) continue
      const known = found.get(folded)
      if (known === undefined) found.set(folded, [character])
      else known.push(character)
    }
  }
  return found
}

/** Compares in code-unit order, which does not depend on a locale. @returns a number for Array.prototype.sort */
export function compareText (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
