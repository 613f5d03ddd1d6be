import { normalForm } from './normal-form.js'
import { isFunctionWord, STOP_WORDS } from './stop-words.js'
import { stem, MAX_WORD_CHARACTERS, words } from './words.js'

/** A small letter before a capital (`rateLimit`), or capitals before a word (`HTTPServer`). */
const SEAM = /[a-z][A-Z]|[A-Z]{2}[a-z]/g
const BETWEEN_PARTS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
/** A plural of capitals (`PDFs`, `userIDs`), whose `s` is no part. */
const PLURAL = /(?<=[A-Z]{2})s$/
/** An identifier of more parts, or a longer one than a word can be, is a hash, a key or base64. */
const MAX_IDENTIFIER_PARTS = 8
const MIN_PART_CHARACTERS = 2

const BEYOND_ASCII = /[\u0080-\uffff]/
const HAN = /\p{sc=Han}/gu

/** Letters that Unicode does not decompose, and what people type who have no such key. */
const TYPED: ReadonlyMap<string, string> = new Map(
  [['ß', 'ss'], ['æ', 'ae'], ['œ', 'oe'], ['ø', 'o'], ['ł', 'l'], ['đ', 'd'], ['ð', 'd'], ['þ', 'th'], ['ı', 'i']],
)
const TYPED_LETTER = new RegExp(`[${[...TYPED.keys()].join('')}]`, 'g')

const APOSTROPHE = /['\u2019\u02bc]/g
/** Short words of French and Italian that lose their vowel before another word, at the end of a text. */
const ELIDED = new RegExp([
  String.raw`(?<![\p{L}\p{M}\p{N}'\u2019\u02bc])`,
  '(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|all|dall|dell|nell|sull|quell|quest)$',
].join(''), 'iu')
const MAX_ELIDED_CHARACTERS = 6
/** The last letters of those of several letters: most apostrophes (`don't`) need no more than a look at these. */
const ENDINGS = new Set(['qu', 'un', 'll', 'st'])
const ONE_LETTER = new Set('cdjlmnst')
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u
const WORD = /^\p{L}[\p{L}\p{M}\p{N}]+/u

/**
 * Words with the short forms in which people write them in messages, and words with their British or American spelling.
 * Synonyms (`child`, `kid`) are not among them, and neither are short forms of several words (`doc`, `ad`). `lay laid`
 * is among them because `lay` is also the past of `lie`, and has its stem, and `wi` and `mail` because `words` parts
 * `Wi-Fi` and `e-mail`.
 */
const GROUPS = `
family fam, business biz, picture photo pic, favorite favourite fave, mother mom mum, father dad, grandmother grandma,
grandfather grandpa, brother bro, sister sis, puppy pup, kitten kitty, birthday bday, university uni, vacation vacay,
information info, refrigerator fridge, bicycle bike, motorcycle motorbike, television tv, telephone phone,
airplane aeroplane plane, apartment apt, veterinarian vet, vegetable veggie veg, tournament tourney,
video vid, conversation convo, comfortable comfy, introduction intro, preparation prep, advertisement advert,
examination exam, laboratory lab, math maths mathematics, influenza flu, limousine limo, recommendation rec,
color colour, center centre, theater theatre, neighbor neighbour, neighborhood neighbourhood, gray grey,
jewelry jewellery, humor humour, harbor harbour, flavor flavour, labor labour, favor favour, honor honour,
organize organise, realize realise, recognize recognise, program programme, license licence, practice practise,
pajamas pyjamas, tire tyre, traveler traveller, catalog catalogue, dialog dialogue, cozy cosy, mustache moustache,
lay laid, wifi wi, email mail`

/** By the stem of each word, the stems of the others of its group. */
const OTHERS: ReadonlyMap<string, readonly string[]> = new Map(GROUPS.split(',').flatMap((group) => {
  const stems = [...new Set(group.trim().split(/\s+/).map(stem))]
  return stems.map((one): [string, string[]] => [one, stems.filter((other) => other !== one)])
}))

const NONE: readonly string[] = []

/**
 * The terms under which a text is found beside its words: the parts of identifiers, and words after elided ones.
 * @returns stems, in lists
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
  if (parts.length < 2 || parts.length > MAX_IDENTIFIER_PARTS) return []
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
 * The words of a text that follow an elided one: `orgue` of `l'orgue`, which `words` joins, so that a query for `orgue`
 * finds it. Function words (`c'est`) give none.
 * @returns stems, in lists
 */
export function * elidedWords (text: string): Generator<string[]> {
  for (let at = 0; ;) {
    APOSTROPHE.lastIndex = at
    const found = APOSTROPHE.exec(text)
    if (found === null) return
    at = found.index + 1
    const word = mayFollowElided(text, found.index) ? wordAfter(text, found.index) : undefined
    if (word !== undefined) yield [word]
  }
}

function mayFollowElided (text: string, apostrophe: number): boolean {
  const last = text.charAt(apostrophe - 1).toLowerCase()
  const before = text.charAt(apostrophe - 2).toLowerCase()
  return WORD_CHARACTER.test(before) ? ENDINGS.has(before + last) : ONE_LETTER.has(last)
}

function wordAfter (text: string, apostrophe: number): string | undefined {
  // A letter before the word may have two UTF-16 units.
  const before = text.slice(Math.max(0, apostrophe - MAX_ELIDED_CHARACTERS - 2), apostrophe)
  if (!ELIDED.test(before)) return undefined
  const [found] = WORD.exec(text.slice(apostrophe + 1, apostrophe + 1 + MAX_WORD_CHARACTERS)) ?? []
  const [word] = found === undefined ? [] : words(found)
  return word === undefined || STOP_WORDS.has(word) || isFunctionWord(word) ? undefined : stem(word)
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
  const typed = word.replace(TYPED_LETTER, (letter) => TYPED.get(letter)!)
  return typed === word || typed.length > MAX_WORD_CHARACTERS ? undefined : stem(typed)
}

/**
 * The terms under which the same word may be written otherwise.
 * @param term a stem
 */
export function otherForms (term: string): readonly string[] {
  return OTHERS.get(term) ?? NONE
}

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
const MAX_MIXED_PARTS = 3
const TELLING_PART = /^(?:[a-z]{3,}|\d{2,})$/
/** `us` is a word of its own, which most conversations contain. */
const PRONOUN = 'us'

const UMLAUT = /[äöüåø]/i
const WORD_WITH_UMLAUT = /(?<![\p{L}\p{M}])\p{L}*[äöüåø]\p{L}*/giu
const ANY_UMLAUT = /[äöüåø]/g
const UMLAUTS_TYPED: ReadonlyMap<string, string> = new Map(
  [['ä', 'ae'], ['ö', 'oe'], ['ü', 'ue'], ['å', 'aa'], ['ø', 'oe']],
)
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
  if (parts.length > MAX_MIXED_PARTS) return
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
    add(folded.replace(ANY_UMLAUT, (letter) => UMLAUTS_TYPED.get(letter)!))
  }
}
