import { normalForm } from './normal-form.js'

const BEYOND_ASCII = /[\u0080-\uffff]/
/** Invisible characters: joiners, soft hyphens, controls of direction, tag characters, variation selectors, fillers. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu
const APOSTROPHE = /['\u2019]/
const MARKS = /\p{M}/gu
const WORD = /[\p{L}\p{N}]+|@/gu

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ...pairs('авеіјкмнорсѕтухһԁԛԝ', 'abeijkmhopcstyxhdqw'),
  ...pairs('αβεικνορτυχωγϲϳ', 'abeikvoptuxwycj'),
  ...pairs('ıɡɑʟʀ', 'igalr'),
])
const LOOKALIKE = new RegExp(`[${[...LOOKALIKES.keys()].join('')}]`, 'g')

/** @returns the text as a reader sees it: in compatibility forms (NFKC) and without invisible characters */
export function renderedText (text: string): string {
  return BEYOND_ASCII.test(text) ? normalForm(text.replace(INVISIBLE, ''), 'NFKC') : text
}

/**
 * The words of a text without the usual disguises: case, accents and lookalikes of other scripts are folded, `don't` is
 * `dont` and `you're` is `you are`. An `@` is a word.
 * @param seen a text of renderedText()
 */
export function plainWords (seen: string): string[] {
  return plainText(seen).match(WORD) ?? []
}

function plainText (seen: string): string {
  let text = seen.toLowerCase()
  if (BEYOND_ASCII.test(text)) {
    text = text.normalize('NFD').replace(MARKS, '').replace(LOOKALIKE, (letter) => LOOKALIKES.get(letter)!)
  }
  return APOSTROPHE.test(text) ? text.replace(/n['\u2019]t\b/g, 'nt').replace(/['\u2019]re\b/g, ' are') : text
}

function pairs (letters: string, latin: string): Array<[string, string]> {
  return [...letters].map((letter, index) => [letter, latin[index]!])
}
