import { isFunctionWord } from './function-words.js'
import { stem } from './stems.js'
import { STOP_WORDS } from './stop-words.js'
import { MAX_WORD_CHARACTERS, words } from './words.js'

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
const LETTER = /[\p{L}\p{M}\p{N}]/u
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
