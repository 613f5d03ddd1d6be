import { normalForm } from './normal-form.js'
import { beginningOf } from '../validation/shorten.js'

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
  return BEYOND_ASCII.test(text) ? unicodeWordsOf(fold(text)) : asciiWordsOf(text.toLowerCase())
}

function asciiWordsOf (folded: string): string[] {
  const found = folded.match(ASCII_WORD)
  if (found === null) return []
  const result: string[] = []
  for (const word of found) result.push(finished(word))
  return result
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
