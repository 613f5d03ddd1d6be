import { elidedWords } from './elisions.js'
import { stem } from './stems.js'
import { STOP_WORDS } from './stop-words.js'
import { MAX_WORD_CHARACTERS } from './words.js'

/** A small letter before a capital (`rateLimit`), or capitals before a word (`HTTPServer`). */
const SEAM = /[a-z][A-Z]|[A-Z]{2}[a-z]/g
const BETWEEN_PARTS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
/** A plural of capitals (`PDFs`, `userIDs`), whose `s` is no part. */
const PLURAL = /(?<=[A-Z]{2})s$/
/** An identifier of more parts, or a longer one than a word can be, is a hash, a key or base64. */
const MAX_PARTS = 8
const MIN_PART_CHARACTERS = 2

const BEYOND_ASCII = /[\u0080-\uffff]/
const HAN = /\p{sc=Han}/gu

/** Letters that Unicode does not decompose, and what people type who have no such key. */
const TYPED: ReadonlyMap<string, string> = new Map(
  [['ß', 'ss'], ['æ', 'ae'], ['œ', 'oe'], ['ø', 'o'], ['ł', 'l'], ['đ', 'd'], ['ð', 'd'], ['þ', 'th'], ['ı', 'i']],
)
const LETTER = new RegExp(`[${[...TYPED.keys()].join('')}]`, 'g')

const NONE: readonly string[] = []

/**
 * The terms under which a text is found beside its words: the parts of identifiers, and words after elided ones.
 * @returns stems, in lists that may be empty, so that a long text can be read in turns
 */
export function * furtherTerms (text: string): Generator<string[]> {
  yield * identifierParts(text)
  yield * elidedWords(text)
}

/**
 * The parts of each identifier in a text: `rate` and `limit` of `RateLimiter`, so that a query in plain words finds it.
 * Names with one such part (`iPhone`) and stop words give none.
 * @returns stems, one list for each identifier
 */
export function * identifierParts (text: string): Generator<string[]> {
  for (let at = 0; ;) {
    // Texts are read in turns, so another one may have used the expression since.
    SEAM.lastIndex = at
    const seam = SEAM.exec(text)
    if (seam === null) return
    const to = wordEnd(text, SEAM.lastIndex)
    const from = wordStart(text, seam.index, to - MAX_WORD_CHARACTERS)
    if (to - from <= MAX_WORD_CHARACTERS) yield partsOf(text.slice(from, to))
    at = to
  }
}

function partsOf (identifier: string): string[] {
  const parts = identifier.replace(PLURAL, '').split(BETWEEN_PARTS)
    .filter(({ length }) => length >= MIN_PART_CHARACTERS)
  if (parts.length < 2 || parts.length > MAX_PARTS) return []
  return parts.map((part) => part.toLowerCase()).filter((part) => !STOP_WORDS.has(part)).map(stem)
}

/** @param least one before this position is not looked for */
function wordStart (text: string, at: number, least: number): number {
  let start = at
  while (start > 0 && start >= least && isWordCharacter(text.charCodeAt(start - 1))) start--
  return start
}

function wordEnd (text: string, at: number): number {
  let end = at
  while (end < text.length && isWordCharacter(text.charCodeAt(end))) end++
  return end
}

/** Letters and digits of ASCII. */
function isWordCharacter (code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

/**
 * Adds the terms under which a word of a memory is found too: its typed form and each of its Han characters.
 * @param word one of words()
 */
export function addAlternatives (word: string, alternatives: Set<string>): void {
  if (!BEYOND_ASCII.test(word)) return
  const typed = typedForm(word)
  if (typed !== undefined) alternatives.add(typed)
  // `words` has them in pairs, and `猫` is a word of its own.
  for (const character of word.match(HAN) ?? NONE) alternatives.add(character)
}

/**
 * The same for a query, with its further terms. Of its Han characters only those are added that stand
 * between other scripts, as a Japanese word of one character does: the others are found in pairs.
 * @param stems of the query's words
 */
export function addQueryAlternatives (query: string, stems: readonly string[], alternatives: Set<string>): void {
  for (const terms of furtherTerms(query)) for (const term of terms) alternatives.add(term)
  const lone = new Set<string>()
  const paired = new Set<string>()
  for (const stem of stems) {
    if (!BEYOND_ASCII.test(stem)) continue
    const typed = typedForm(stem)
    if (typed !== undefined) alternatives.add(typed)
    const characters = stem.match(HAN) ?? NONE
    for (const character of characters) (characters.length === 1 ? lone : paired).add(character)
  }
  for (const character of lone) if (!paired.has(character)) alternatives.add(character)
}

/**
 * A word as people type it who have no key for `ß`, `ø` and such letters.
 * @returns a term, or undefined where the word has no such letter
 */
function typedForm (word: string): string | undefined {
  const typed = word.replace(LETTER, (letter) => TYPED.get(letter)!)
  return typed === word || typed.length > MAX_WORD_CHARACTERS ? undefined : stem(typed)
}
