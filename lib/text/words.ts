import { stemmer } from 'stemmer'
import { beginningOf } from '../base/shorten.js'
import { normalForm } from './normal-form.js'

/** Words are cut to this many UTF-16 units. A longer one is a hash, a key or base64, and its start identifies it. */
export const MAX_WORD_CHARACTERS = 64

const BEYOND_ASCII = /[\u0080-\uffff]/
const ASCII_WORD = /[a-z0-9]+(?:'[a-z0-9]+)*/g

const APOSTROPHES = /[\u2019\u02bc]/g
/** Signs that NFKD would spell out and append to the name before them: `Acme™` is `acme`, not `acmetm`. */
const TRADE_SIGNS = /[©®™℠]/g
/** Accents, and characters that only affect the display: soft hyphen, joiners, variation selectors, keycap. */
const IGNORED = /[\u0300-\u036f]|\u00ad|\u200c|\u200d|\u2060|\ufeff|[\ufe00-\ufe0f]|\u20e3|[\u{e0100}-\u{e01ef}]/gu
/** A flag (two regional indicators), another pictograph, or letters and numbers with the marks they carry. */
const WORD =
  /\p{RI}\p{RI}|\p{Extended_Pictographic}|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:'[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu

/**
 * Scripts written without spaces, or with spaces too far apart to be words. Kanji and kana count as one script, because
 * Japanese words mix them; U+30FC and U+3006 belong to no script of their own.
 */
const UNSPACED = [
  '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\u30fc\u3006]',
  '\\p{sc=Hangul}',
  '\\p{sc=Thai}',
  '\\p{sc=Lao}',
  '\\p{sc=Khmer}',
  '\\p{sc=Myanmar}',
]
const ANY_UNSPACED = new RegExp(UNSPACED.join('|'), 'u')
/** Stretches of one script; the first groups are the unspaced ones, the last is everything else. */
const STRETCH = new RegExp([
  ...UNSPACED.map((script) => `(?:${script}\\p{M}*)+`),
  `(?:(?!${UNSPACED.join('|')})[\\p{L}\\p{N}']\\p{M}*)+`,
].join('|'), 'gu')
/** What a reader perceives as one character: a letter with its marks. */
const CHARACTER = /\P{M}\p{M}*/gu

/**
 * The words of a text, in order and with repeats, as every index and query of the service splits them.
 *
 * Words are folded: compatibility forms (NFKD), accents (U+0300–U+036F) and case are gone, so `Café` is `cafe`. An
 * apostrophe inside a word joins it (`don't` is `dont`) and a closing `'s` is dropped. Chinese, Japanese, Korean,
 * Thai, Lao, Khmer and Burmese become overlapping pairs of characters (a lone character stays single), the way
 * Lucene's CJKBigramFilter splits them; a run that changes to or from these scripts is split there. An emoji is
 * a word, without its skin tone. Words are cut to 64 UTF-16 units.
 * @returns words that are never empty; never throws, lone surrogates included
 */
export function words (text: string): string[] {
  if (BEYOND_ASCII.test(text)) return unicodeWordsOf(fold(text))
  return (text.toLowerCase().match(ASCII_WORD) ?? []).map(finished)
}

function unicodeWordsOf (folded: string): string[] {
  const result: string[] = []
  for (const run of folded.match(WORD) ?? []) {
    if (ANY_UNSPACED.test(run)) pushStretches(run, result)
    else result.push(finished(run))
  }
  return result
}

function fold (text: string): string {
  const read = normalForm(text.replace(TRADE_SIGNS, ' '), 'NFKD').replace(IGNORED, '')
  // The replacement above removed the joiners of the stream-safe format, so they are inserted again.
  return normalForm(read, 'NFC').toLowerCase().replace(APOSTROPHES, "'")
}

function pushStretches (run: string, result: string[]): void {
  for (const stretch of run.match(STRETCH) ?? []) {
    if (ANY_UNSPACED.test(stretch)) {
      pushPairs(stretch, result)
    } else {
      const word = finished(stretch)
      if (word !== '') result.push(word)
    }
  }
}

function pushPairs (stretch: string, result: string[]): void {
  const characters = stretch.match(CHARACTER) ?? []
  let before: string | undefined
  for (const character of characters) {
    if (before !== undefined) result.push(finished(before + character))
    before = character
  }
  if (characters.length === 1 && before !== undefined) result.push(finished(before))
}

/** Removes apostrophes and bounds the length. */
function finished (word: string): string {
  let result = word
  if (result.includes("'")) {
    if (result.endsWith("'s")) result = result.slice(0, -2)
    result = result.replaceAll("'", '')
  }
  // A cut through a surrogate pair would leave a lone surrogate, which no query contains.
  return result.length <= MAX_WORD_CHARACTERS ? result : beginningOf(result, MAX_WORD_CHARACTERS)
}

/**
 * English words whose forms no suffix rule maps to one stem: the word, then its other forms, folded as `words` folds
 * them. Where a form is also a word of its own (`saw`, `left`, `rose`), both become one term, in texts and queries
 * alike.
 */
const FORMS = `
arise arose arisen, awake awoke awoken, bear bore borne born, beat beaten, become became, begin began begun, bend bent,
bet, bind bound, bite bit bitten, bleed bled, blow blew blown, break broke broken, breed bred, bring brought,
build built, burn burnt, buy bought, catch caught, choose chose chosen, cling clung, come came, creep crept, deal dealt,
dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, dwell dwelt, eat ate eaten,
fall fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fling flung, fly flew flown,
forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze frozen, get got gotten,
give gave given, go went gone, grind ground, grow grew grown, hang hung, hear heard, hide hid hidden, hold held,
keep kept, kneel knelt, know knew known, lay laid, lead led, leap leapt, learn learnt, leave left, lend lent,
lie lay lain, light lit, lose lost, make made, mean meant, meet met, mistake mistook mistaken, overcome overcame,
pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran, say said, see saw seen, seek sought, sell sold,
send sent, sew sewn, shake shook shaken, shine shone, shoot shot, show shown, shrink shrank shrunk, sing sang sung,
sink sank sunk, sit sat, sleep slept, slide slid, speak spoke spoken, speed sped, spend spent, spill spilt, spin spun,
spring sprang sprung, stand stood, steal stole stolen, stick stuck, sting stung, strike struck stricken, string strung,
strive strove striven, swear swore sworn, sweep swept, swell swollen, swim swam swum, swing swung, take took taken,
teach taught, tear tore torn, tell told, think thought, throw threw thrown, understand understood,
undergo underwent undergone, undertake undertook undertaken, undo undid undone, upset, wake woke woken, wear wore worn,
weave wove woven, weep wept, win won, wind wound, withdraw withdrew withdrawn, write wrote written, man men,
woman women, child children, foot feet, tooth teeth, goose geese, mouse mice, louse lice, ox oxen, knife knives,
wife wives, wolf wolves, shelf shelves, half halves, thief thieves, loaf loaves, scarf scarves, calf calves, elf elves,
good better best, bad worse worst
`

/** The word by each of its irregular forms. */
const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(FORMS.split(',').flatMap((line) => {
  const [word, ...forms] = line.trim().split(/\s+/)
  return forms.map((form): [string, string] => [form, word!])
}))

const PLAIN = /^[a-z]+$/
const CACHE_SIZE = 50_000
/**
 * In V8 a substring of 13 or more characters is a sliced string, which keeps the whole string alive. Only shorter words
 * may enter the cache, so that it does not keep the texts of deleted memories.
 */
const MAX_CACHED_CHARACTERS = 12

const cache = new Map<string, string>()

/**
 * The stem of an English word: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, and before it
 * the word that an irregular form belongs to (`bought` is `buy`). A word with anything but `a`–`z` in it is returned as
 * it is.
 * @param word folded as `words` folds it
 */
export function stem (word: string): string {
  if (word.length > MAX_CACHED_CHARACTERS) return stemmed(word)
  const known = cache.get(word)
  if (known !== undefined) return known
  const result = stemmed(word)
  if (cache.size >= CACHE_SIZE) cache.clear()
  cache.set(word, result)
  return result
}

function stemmed (word: string): string {
  return PLAIN.test(word) ? stemmer(IRREGULAR_FORMS.get(word) ?? word) : word
}

/** FNV-1a, 32 bits, over UTF-16 code units. @returns a signed 32-bit integer */
export function fnv1a (text: string): number {
  return fnv1aOfPart(text, 0, text.length)
}

/** The same of the code units from `from` to before `to`. */
export function fnv1aOfPart (text: string, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let index = from; index < to; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash | 0
}
