/**
 * Other spellings of the words of a query: joined and parted (`e-mail` and `email`, `COVID19` and `COVID-19`), and
 * umlauts as people type them who have no key for them (`Müller` and `Mueller`). Each is a term, and a term that no
 * memory has lowers the share of the query that is found, so only likely ones are added. Each regular expression takes
 * linear time.
 */
import { isFunctionWord } from './function-words.js'
import { normalForm } from './normal-form.js'
import { stem } from './stems.js'
import { STOP_WORDS } from './stop-words.js'
import { MAX_WORD_CHARACTERS, words } from './words.js'

const BEYOND_ASCII = /[\u0080-\uffff]/
/** Without one of these a query has no words to join or to part. */
const SIGN = /[-\u2010\u2011.\d]/
/**
 * Words with a hyphen: two of which one is short or a number (`Wi-Fi`, `follow-up`, `E-5032`), or an id (`PO-2291-B`).
 */
const HYPHENATED = /(?<![\p{L}\p{M}\p{N}-])[\p{L}\p{N}]+(?:[-\u2010\u2011][\p{L}\p{N}]+){1,4}(?![\p{L}\p{M}\p{N}-])/gu
const HYPHEN = /[-\u2010\u2011]/
const SHORT_OR_NUMBER = /^(?:[\p{L}\p{N}]{1,3}|\p{N}+)$/u
const LETTER = /\p{L}/u
const DIGIT = /\d/
/** An abbreviation (`U.K.`, `Ph.D.`) or a number with separators (`81,344`). */
const ABBREVIATED = /(?<![\p{L}\p{M}\p{N}.])(?:\p{L}{1,2}\.){2,5}(?![\p{L}\p{M}\p{N}])/gu
const SEPARATED = /(?<![\d,.])\d{1,3}(?:,\d{3}){1,4}(?![\d,])/g
/** A number before a unit: `500 g`. */
const NUMBER = /^\d+$/
const UNITS = new Set(words(`km m cm mm kg g mg l ml h hr hrs min s sec pm kwh kw w v mb gb tb hz mhz ghz eur ft lb
  oz`))
/** Letters and digits in one word: `E5032`, `500g`; not the ordinal `21st`. */
const MIXED = /^(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]+$/
const ORDINAL = /^\d+(?:st|nd|rd|th)$/
const PARTS = /[a-z]+|\d+/g
/** A word of more parts is a hash or a key. */
const MAX_PARTS = 3
const TELLING_PART = /^(?:[a-z]{3,}|\d{2,})$/
/** `us` is a word of its own, which most conversations contain. */
const PRONOUN = 'us'

const UMLAUT = /[äöüåø]/i
const WORD_WITH_UMLAUT = /(?<![\p{L}\p{M}])\p{L}*[äöüåø]\p{L}*/giu
const ANY_UMLAUT = /[äöüåø]/g
const TYPED: ReadonlyMap<string, string> = new Map([['ä', 'ae'], ['ö', 'oe'], ['ü', 'ue'], ['å', 'aa'], ['ø', 'oe']])
const TYPED_LETTERS = /[ao]e|ue[a-z]{2}|aa/i
/** A word with `ae` and the like. */
const TYPED_WORD = /(?<![\p{L}\p{M}\p{N}])\p{L}*(?:[ao]e|ue\p{L}{2}|(?<![\p{L}\p{M}])aa)\p{L}*/giu
/** Not the `ue` of `Feuer`, `Bauer`, `Quelle` and `values`. */
const TYPED_UMLAUT = /[ao]e|(?<![aeq])ue(?=\p{L}{2})|^aa/gu
const MIN_TYPED_CHARACTERS = 5
const CAPITAL = /^\p{Lu}/u
/** The most spellings that are added: a question has few, and a long text in its place takes little time. */
const MAX_SPELLINGS = 64
/** Common names of English texts that have no umlaut. */
const PLAIN_NAMES = new Set(words('tuesday tuesdays michael raphael rafael israel samuel manuel miguel phoenix chloe ' +
  'puerto venezuela noel joel israeli aaron'))

type Add = (spelling: string) => void

/**
 * Adds the stems of the other spellings.
 * @param found the words of the query, in order, without stop words
 * @param mayBeGerman if it is not, only a name can have a typed umlaut
 */
export function addSpellings (
  query: string, found: readonly string[], mayBeGerman: boolean, alternatives: Set<string>,
): void {
  const seen = new Set<string>()
  const add = (text: string) => {
    if (text.length > MAX_WORD_CHARACTERS || seen.size >= MAX_SPELLINGS || seen.has(text)) return
    seen.add(text)
    for (const word of words(text)) if (!STOP_WORDS.has(word) && word !== PRONOUN) alternatives.add(stem(word))
  }
  if (SIGN.test(query)) {
    addJoined(query, add)
    addMixed(found, add)
  }
  if (TYPED_LETTERS.test(query)) addMeantUmlauts(query, mayBeGerman, add)
  if (BEYOND_ASCII.test(query)) addTypedUmlauts(query, add)
}

function addJoined (query: string, add: Add): void {
  for (const [text] of query.matchAll(HYPHENATED)) {
    const parts = text.split(HYPHEN)
    const joined = parts.join('')
    if (!LETTER.test(joined)) continue
    const isLikely = parts.length === 2 ? parts.some((part) => SHORT_OR_NUMBER.test(part)) : DIGIT.test(joined)
    if (isLikely) add(joined)
  }
  for (const [text] of query.matchAll(ABBREVIATED)) add(text.replaceAll('.', ''))
  for (const [text] of query.matchAll(SEPARATED)) add(text.replaceAll(',', ''))
}

function addMixed (found: readonly string[], add: Add): void {
  for (const [place, word] of found.entries()) {
    const next = found[place + 1]
    if (next !== undefined && NUMBER.test(word) && UNITS.has(next)) add(word + next)
    if (MIXED.test(word) && !ORDINAL.test(word)) addParts(word, add)
  }
}

function addParts (word: string, add: Add): void {
  const parts = word.match(PARTS)!
  if (parts.length > MAX_PARTS) return
  for (const part of parts) if (TELLING_PART.test(part)) add(part)
}

function addMeantUmlauts (query: string, mayBeGerman: boolean, add: Add): void {
  for (const { 0: word, index } of query.matchAll(TYPED_WORD)) {
    if (!mayBeGerman && (index === 0 || !CAPITAL.test(word))) continue
    const folded = word.toLowerCase()
    if (folded.length < MIN_TYPED_CHARACTERS || PLAIN_NAMES.has(folded)) continue
    add(folded.replace(TYPED_UMLAUT, (letters) => letters.charAt(0)))
  }
}

function addTypedUmlauts (query: string, add: Add): void {
  const composed = normalForm(query, 'NFC')
  if (!UMLAUT.test(composed)) return
  for (const [word] of composed.matchAll(WORD_WITH_UMLAUT)) {
    const folded = word.toLowerCase()
    if (words(folded).some(isFunctionWord)) continue
    add(folded.replace(ANY_UMLAUT, (letter) => TYPED.get(letter)!))
  }
}
