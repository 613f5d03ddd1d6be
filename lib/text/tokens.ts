import { createRequire } from 'node:module'
import type * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { atOnce, inTurns, type Steps } from '../concurrency/steps.js'

/** Longest piece, in UTF-16 units, that goes to the encoder whole. */
const LONGEST_PIECE = 256
/** A piece over LONGEST_PIECE holds one of these; cheap enough to try on every text. */
const SUSPECT = /\S{128}|[\s/]{128}/
/** Covers what the encoder takes as one piece: a word, punctuation with its line ends, or white space. */
const RUN = /[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+[\r\n/]*|\s+/gu

/**
 * Length of the slices that are counted at a time, and of one in which no place to end it is found: of threes, as
 * numbers are cut.
 */
const SLICE = 512
const LONGEST_SLICE = 4_095
/**
 * Where a piece of the encoding always ends: before white space behind a letter or a number, before white space that is
 * no line end, behind a line end, and before or behind a number or a letter with its marks where something else stands
 * that could not be part of it (an apostrophe could, before the letters of a contraction).
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

let encoding: typeof o200k | undefined

/**
 * The vocabulary takes a fifth of a second to load, in one piece: a server loads it before it listens, a program that
 * counts nothing never.
 */
export function loadVocabulary (): typeof o200k {
  if (encoding === undefined) {
    encoding = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as typeof o200k
    // The encoder's cache is keyed by pieces that keep the texts they were cut from alive; its default holds 100,000.
    encoding.setMergeCacheSize(1_000)
  }
  return encoding
}

function count (text: string): number {
  return loadVocabulary().countTokens(text, asOrdinaryText)
}

/**
 * Tokens of a text in OpenAI's o200k_base encoding. Text that spells a special token (`<|endoftext|>`) counts as
 * the ordinary text it is.
 *
 * Merging takes time quadratic in the length of a piece (a word, a run of punctuation or of blanks), which lets
 * 50,000 spaces block the process for more than a second. A run of over 256 letters, signs or blanks is therefore cut
 * every 256 UTF-16 units: time is linear, and the count of such a run may be off by a token or two a cut. Every other
 * text is counted exactly.
 */
export function countTokens (text: string): number {
  return text.length <= LONGEST_PIECE ? count(text) : atOnce(countSteps(text))
}

/**
 * countTokens in steps.
 * @param enough where a higher count than this does; what is behind is then not counted
 */
export function * countSteps (text: string, enough = Infinity): Steps<number> {
  let total = 0
  for (const part of partsOf(text)) {
    for (const slice of slicesOf(part)) {
      total += count(slice)
      if (total > enough) return total
      yield
    }
  }
  return total
}

/** The parts of a text between the cuts through its long runs. */
function * partsOf (text: string): Generator<string> {
  let from = 0
  if (text.length > LONGEST_PIECE && SUSPECT.test(text)) {
    for (const run of text.matchAll(RUN)) {
      const end = run.index + run[0].length
      for (let cut = run.index + LONGEST_PIECE; cut < end; cut += LONGEST_PIECE) {
        const at = isLowSurrogate(text, cut) ? cut + 1 : cut
        yield text.slice(from, at)
        from = at
      }
    }
  }
  yield from === 0 ? text : text.slice(from)
}

/** A text in slices that end between two pieces of the encoding, so that their counts are the count of the whole. */
function * slicesOf (text: string): Generator<string> {
  let from = 0
  while (text.length - from > SLICE) {
    const window = text.slice(from, from + LONGEST_SLICE)
    BETWEEN.lastIndex = SLICE
    const found = BETWEEN.exec(window)
    const at = from + (found === null ? window.length : found.index)
    const to = isLowSurrogate(text, at) ? at + 1 : at
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length) yield from === 0 ? text : text.slice(from)
}

/**
 * The tokens of one text: counted when somebody first asks, then remembered. Copies of a memory share it. To count
 * takes longer than all else of a retain, and most memories are stored more often than their tokens are asked for.
 */
export class TokenCount {
  /** Kept until it has been counted. */
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

  /** Whether asking for the value takes no counting. */
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

  /** Counts in steps. Whoever asks for the value before they are done counts at once. */
  * steps (): Steps<undefined> {
    if (this.#text === undefined) return undefined
    this.#value = yield * countSteps(this.#text)
    this.#text = undefined
    return undefined
  }

  toJSON (): number {
    return this.value
  }
}

/**
 * The sum of the counts. What has to be counted for it is counted in slices, between which others have their turn.
 * @param enough where a higher sum than this does; what is behind is then not counted
 * @param caller as in TurnBudget.next; who counts for nobody in particular names none
 */
export async function sumTokens (counts: Iterable<TokenCount>, enough = Infinity, caller = 'tokens'): Promise<number> {
  return await inTurns(sumSteps(counts, enough), caller)
}

/** sumTokens in steps. */
export function * sumSteps (counts: Iterable<TokenCount>, enough = Infinity): Steps<number> {
  let sum = 0
  for (const count of counts) {
    if (!count.isKnown) yield * count.steps()
    sum += count.value
    if (sum > enough) break
  }
  return sum
}

function isLowSurrogate (text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit < 0xe000
}
