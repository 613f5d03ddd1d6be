import { fnv1a, fnv1aOfPart } from './stems.js'

/** The vocabulary of an encoding: the text of each token, or its bytes where these are no text, by rank. */
export type Vocabulary = ReadonlyArray<string | readonly number[]>

const ASCII = /^[\0-\x7f]*$/
/** Slots of the table: a power of two, and more than twice as many as o200k_base has tokens of ASCII. */
const SLOTS = 1 << 18
const NO_RANK = 0x7fff_ffff

/** Whether all characters are ASCII. */
export function isAscii (text: string): boolean {
  return ASCII.test(text)
}

/**
 * Counts the tokens of ASCII texts as the encoder of gpt-tokenizer does. Words that are no token take a ninth of the
 * time, because their parts are looked up in place: the encoder makes bytes and a string of each.
 */
export class AsciiTokenCounter {
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
