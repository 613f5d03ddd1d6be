import { isFunctionWord } from './function-words.js'
import { stem } from './stems.js'
import { STOP_WORDS } from './stop-words.js'
import { MAX_WORD_CHARACTERS, words } from './words.js'

const APOSTROPHE = /['\u2019\u02bc]/g
/** Short words of French and Italian that lose their vowel before another word, at the end of a text. */
const ELIDED =
  /(?<![\p{L}\p{M}\p{N}'\u2019\u02bc])(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|all|dall|dell|nell|sull|quell|quest)$/iu
const MAX_ELIDED_CHARACTERS = 6
/** The last letters of those of several letters: most apostrophes (`don't`) need no more than a look at these. */
const ENDINGS = new Set(['qu', 'un', 'll', 'st'])
const ONE_LETTER = new Set('cdjlmnst')
const LETTER = /[\p{L}\p{M}\p{N}]/u
const WORD = /^\p{L}[\p{L}\p{M}\p{N}]+/u
const BATCH_APOSTROPHES = 256

/**
 * The words of a text that follow an elided one: `orgue` of `l'orgue`, which `words` joins, so that a query for `orgue`
 * finds it. Function words (`c'est`) give none.
 * @returns stems, in lists that may be empty, so that a text of apostrophes can be read in turns
 */
export function * elidedWords (text: string): Generator<string[]> {
  let count = 0
  for (let at = 0; ;) {
    // Texts are read in turns, so another one may have used the expression since.
    APOSTROPHE.lastIndex = at
    const found = APOSTROPHE.exec(text)
    if (found === null) return
    at = found.index + 1
    const word = mayFollowElided(text, found.index) ? wordAfter(text, found.index) : undefined
    if (word !== undefined) yield [word]
    else if (++count % BATCH_APOSTROPHES === 0) yield []
  }
}

function mayFollowElided (text: string, apostrophe: number): boolean {
  const last = text.charAt(apostrophe - 1).toLowerCase()
  const before = text.charAt(apostrophe - 2).toLowerCase()
  return LETTER.test(before) ? ENDINGS.has(before + last) : ONE_LETTER.has(last)
}

function wordAfter (text: string, apostrophe: number): string | undefined {
  // A letter before the word may have two UTF-16 units.
  const before = text.slice(Math.max(0, apostrophe - MAX_ELIDED_CHARACTERS - 2), apostrophe)
  if (!ELIDED.test(before)) return undefined
  const [found] = WORD.exec(text.slice(apostrophe + 1, apostrophe + 1 + MAX_WORD_CHARACTERS)) ?? []
  const [word] = found === undefined ? [] : words(found)
  return word === undefined || STOP_WORDS.has(word) || isFunctionWord(word) ? undefined : stem(word)
}
