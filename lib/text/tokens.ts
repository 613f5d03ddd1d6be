import { createRequire } from 'node:module'
import type ranks from 'gpt-tokenizer/bpeRanks/o200k_base'
import type * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import type * as parameters from 'gpt-tokenizer/encodingParams/constants'
import { isLowSurrogate } from '../base/code-points.js'
import { giveWay, isDue } from '../base/event-loop.js'
import { fnv1a, fnv1aOfPart } from './words.js'

/** The vocabulary of an encoding: the text of each token, or its bytes where these are no text, by rank. */
type Vocabulary = ReadonlyArray<string | readonly number[]>

const ASCII = /^[\0-\x7f]*$/
/** Slots of the table: a power of two, and more than twice as many as o200k_base has tokens of ASCII. */
const SLOTS = 1 << 18
const NO_RANK = 0x7fff_ffff

/** Whether all characters are ASCII. */
function isAscii (text: string): boolean {
  return ASCII.test(text)
}

/**
 * Counts the tokens of ASCII texts as the encoder of gpt-tokenizer does. Words that are no token take a ninth of the
 * time, because their parts are looked up in place: the encoder makes bytes and a string of each.
 */
class AsciiTokenCounter {
  readonly #vocabulary: Vocabulary
  readonly #pieces: RegExp
  /** An open-addressing hash table of the tokens of ASCII: in each slot the rank plus one, and the hash. */
  readonly #table = new Int32Array(2 * SLOTS)
  /** Of the piece that is being merged: where its parts start, and the rank of each part with the next one. */
  #starts = new Int32Array(0)
  #pairs = new Int32Array(0)

  /** @param pieces a global expression of the pieces, which together are the whole text */
  constructor (vocabulary: Vocabulary, pieces: RegExp) {
    this.#vocabulary = vocabulary
    this.#pieces = pieces
    for (const [rank, token] of vocabulary.entries()) {
      if (typeof token === 'string' && isAscii(token)) this.#add(token, rank)
    }
  }

  /** Takes time quadratic in the length of a piece. */
  count (text: string): number {
    let total = 0
    for (const piece of text.match(this.#pieces) ?? []) {
      total += this.#rankOf(piece, 0, piece.length) === NO_RANK ? this.#merge(piece) : 1
    }
    return total
  }

  #add (token: string, rank: number): void {
    const hash = fnv1a(token)
    let slot = slotOf(hash)
    while (this.#table[2 * slot] !== 0) slot = (slot + 1) % SLOTS
    this.#table[2 * slot] = rank + 1
    this.#table[2 * slot + 1] = hash
  }

  #rankOf (piece: string, from: number, to: number): number {
    const hash = fnv1aOfPart(piece, from, to)
    for (let slot = slotOf(hash); ; slot = (slot + 1) % SLOTS) {
      const rank = this.#table[2 * slot]! - 1
      if (rank === -1) return NO_RANK
      if (this.#table[2 * slot + 1] === hash && isAt(piece, from, to, this.#vocabulary[rank] as string)) return rank
    }
  }

  /**
   * Byte pair encoding: of the pairs of adjacent parts that are a token, the one of the lowest rank is merged, the
   * first of equals, until no pair is a token.
   * @returns the number of parts that remain
   */
  #merge (piece: string): number {
    let parts = piece.length
    if (parts >= this.#starts.length) {
      this.#starts = new Int32Array(parts + 1)
      this.#pairs = new Int32Array(parts + 1)
    }
    const starts = this.#starts
    const pairs = this.#pairs
    for (let part = 0; part < parts; part++) {
      starts[part] = part
      pairs[part] = part + 1 < parts ? this.#rankOf(piece, part, part + 2) : NO_RANK
    }
    starts[parts] = parts
    for (;;) {
      let lowest = NO_RANK
      let first = -1
      for (let part = 0; part < parts - 1; part++) {
        if (pairs[part]! < lowest) {
          lowest = pairs[part]!
          first = part
        }
      }
      if (first === -1) return parts
      starts.copyWithin(first + 1, first + 2, parts + 1)
      pairs.copyWithin(first, first + 1, parts)
      parts--
      pairs[first] = first + 1 < parts ? this.#rankOf(piece, starts[first]!, starts[first + 2]!) : NO_RANK
      if (first > 0) pairs[first - 1] = this.#rankOf(piece, starts[first - 1]!, starts[first + 1]!)
    }
  }
}

function slotOf (hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1)
}

function isAt (text: string, from: number, to: number, token: string): boolean {
  if (token.length !== to - from) return false
  for (let at = 0; at < token.length; at++) if (text.charCodeAt(from + at) !== token.charCodeAt(at)) return false
  return true
}

/** The longest run, in UTF-16 units, that the encoder is given whole. */
const MAX_RUN_CHARACTERS = 256
/** Every run over MAX_RUN_CHARACTERS contains a match of this cheap expression. */
const MAY_BE_LONG = /\S{128}|[\s/]{128}/
/** Covers what the encoder treats as one piece: a word, punctuation with its line ends, or white space. */
const RUN = /[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+[\r\n/]*|\s+/gu

/**
 * The length of the slices that are counted, and of a slice in which no boundary is found. The latter is a multiple
 * of three, because the encoding cuts numbers into groups of three digits.
 */
const SLICE_CHARACTERS = 512
const MAX_SLICE_CHARACTERS = 4_095
/**
 * The boundaries at which a piece of the encoding always ends: between a letter or number and white space; before white
 * space that is not a line end; after a line end; and after a letter with its marks or a number, before a character
 * that cannot continue it (an apostrophe can, before the letters of a contraction).
 */
const BETWEEN = new RegExp([
  String.raw`(?<=[\p{L}\p{N}])(?=\s)`,
  String.raw`(?<=\S)(?=[^\S\r\n])`,
  String.raw`(?<=[\r\n])(?=[^\s/])`,
  String.raw`(?<=\p{L}\p{M}{0,4})(?=[^\p{L}\p{M}'])`,
  String.raw`(?<=\p{L})(?='[^smtdlrvSMTDLRVſ])`,
  String.raw`(?<=\p{N})(?=\P{N})`,
].join('|'), 'gu')

const asOrdinaryText = { disallowedSpecial: new Set<string>() }

interface Encoding {
  ascii: AsciiTokenCounter
  any: typeof o200k
}

let encoding: Encoding | undefined

/**
 * Loading the vocabulary blocks for a fifth of a second, so a server does it before it listens, and a program that
 * counts nothing does not do it at all.
 */
export function loadVocabulary (): Encoding {
  if (encoding === undefined) {
    const require = createRequire(import.meta.url)
    const any = require('gpt-tokenizer/encoding/o200k_base') as typeof o200k
    // The encoder's cache is keyed by pieces that keep the texts they were cut from alive; its default holds 100,000.
    any.setMergeCacheSize(1_000)
    const { default: vocabulary } = require('gpt-tokenizer/bpeRanks/o200k_base') as { default: typeof ranks }
    const { O200K_TOKEN_SPLIT_REGEX: pieces } = require('gpt-tokenizer/encodingParams/constants') as typeof parameters
    encoding = { ascii: new AsciiTokenCounter(vocabulary, pieces), any }
  }
  return encoding
}

function count (text: string): number {
  const { ascii, any } = loadVocabulary()
  return isAscii(text) ? ascii.count(text) : any.countTokens(text, asOrdinaryText)
}

/**
 * Tokens of a text in OpenAI's o200k_base encoding. Text that spells a special token (`<|endoftext|>`) counts as
 * the ordinary text it is.
 *
 * Merging takes time quadratic in the length of a piece (a word, a run of punctuation or of blanks), which lets
 * 50,000 spaces block the process for more than a second. A run of over 256 letters, signs or blanks is therefore cut
 * every 256 UTF-16 units: time is linear, and the count of such a run may be off by a token or two a cut. Every other
 * text is counted exactly.
 * @param enough stops counting as soon as the count is higher
 */
export function countTokens (text: string, enough = Infinity): number {
  if (text.length <= MAX_RUN_CHARACTERS) return count(text)
  let total = 0
  for (const part of splitLongRuns(text)) {
    for (const slice of splitIntoSlices(part)) {
      total += count(slice)
      if (total > enough) return total
    }
  }
  return total
}

/** Cuts a text inside its long runs. */
function * splitLongRuns (text: string): Generator<string> {
  let from = 0
  if (text.length > MAX_RUN_CHARACTERS && MAY_BE_LONG.test(text)) {
    for (const run of text.matchAll(RUN)) {
      const end = run.index + run[0].length
      for (let cut = run.index + MAX_RUN_CHARACTERS; cut < end; cut += MAX_RUN_CHARACTERS) {
        const at = isLowSurrogate(text.charCodeAt(cut)) ? cut + 1 : cut
        yield text.slice(from, at)
        from = at
      }
    }
  }
  yield from === 0 ? text : text.slice(from)
}

/** Cuts a text between two pieces of the encoding, so that the counts of the slices add up to that of the whole. */
function * splitIntoSlices (text: string): Generator<string> {
  let from = 0
  while (text.length - from > SLICE_CHARACTERS) {
    const window = text.slice(from, from + MAX_SLICE_CHARACTERS)
    BETWEEN.lastIndex = SLICE_CHARACTERS
    const found = BETWEEN.exec(window)
    const at = from + (found === null ? window.length : found.index)
    const to = isLowSurrogate(text.charCodeAt(at)) ? at + 1 : at
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length) yield from === 0 ? text : text.slice(from)
}

/**
 * The number of tokens of one text, counted on first use. Copies of a memory share it. Counting takes longer than the
 * rest of a retain, and most memories are stored without their tokens ever being needed.
 */
export class TokenCount {
  /** The text until it is counted, then undefined. */
  #text: string | undefined
  #value = 0

  private constructor (text: string | undefined, value: number) {
    this.#text = text
    this.#value = value
  }

  static of (text: string): TokenCount {
    return new TokenCount(text, 0)
  }

  /** A count that was made before. */
  static known (value: number): TokenCount {
    return new TokenCount(undefined, value)
  }

  /** Whether the text has been counted. */
  get isKnown (): boolean {
    return this.#text === undefined
  }

  get value (): number {
    if (this.#text !== undefined) {
      this.#value = countTokens(this.#text)
      this.#text = undefined
    }
    return this.#value
  }

  toJSON (): number {
    return this.value
  }
}

/**
 * The sum of the counts. It gives the event loop back in between.
 * @param enough stops counting as soon as the sum is higher
 */
export async function sumTokens (counts: Iterable<TokenCount>, enough = Infinity): Promise<number> {
  let sum = 0
  for (const count of counts) {
    if (!count.isKnown && isDue()) await giveWay()
    sum += count.value
    if (sum > enough) break
  }
  return sum
}
