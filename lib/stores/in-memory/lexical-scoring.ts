import type { Steps } from '../../concurrency/steps.js'
import { lengthNorm } from '../context.js'
import type { LexicalRequest } from '../vector-store.js'
import type { LexicalIndex } from './lexical-index.js'
import type { Scratch } from './scratch.js'

/** Postings that a search looks at in one piece: some tenths of a millisecond. */
const PIECE = 16_384

/**
 * The half of BM25 that is the query's: what each term is worth in an index, and what documents pay for their lengths.
 */
export class QueryFactors {
  /** By term: what it adds to a score is gain · weight / (weight + against). */
  readonly gains: readonly number[]
  /** An upper bound of any score, terms in no document included. */
  readonly attainable: number
  // k1 · norm of a length is at least `least`, and else flat + slope · length.
  readonly least: number
  readonly flat: number
  readonly slope: number
  readonly #norm: (length: number) => number

  constructor (index: LexicalIndex<unknown>, { terms, k1, length }: Pick<LexicalRequest, 'terms' | 'k1' | 'length'>) {
    this.gains = terms.map((term) => {
      const frequency = index.frequency(term)
      return (k1 + 1) * Math.log(1 + (index.size - frequency + 0.5) / (frequency + 0.5))
    })
    this.attainable = this.gains.reduce((sum, gain) => sum + gain, 0)
    // Where no document has a length, b normalises nothing.
    const averageLength = index.averageLength > 0 ? index.averageLength : Infinity
    this.#norm = (value) => lengthNorm(value, length, averageLength)
    this.least = 'pivot' in length ? k1 : 0
    this.flat = 'pivot' in length ? 0 : k1 * (1 - length.b)
    this.slope = k1 * ('pivot' in length ? 1 / length.pivot : length.b / averageLength)
  }

  norm (length: number): number {
    return this.#norm(length)
  }

  /** k1 · norm. */
  against (length: number): number {
    return Math.max(this.least, this.flat + this.slope * length)
  }
}

/**
 * Leaves the scores of documents by their own words in the scratch, and the ordinals that have one; some may not be
 * found.
 */
export function * scoreTerms (
  index: LexicalIndex<unknown>, terms: readonly string[], factors: QueryFactors, scratch: Scratch,
): Steps<void> {
  let left = PIECE
  for (const [at, term] of terms.entries()) {
    const list = index.listOf(term)
    if (list === undefined) continue
    for (let { from } = list; from < list.to;) {
      if (left <= 0) {
        yield
        left = PIECE
      }
      const to = Math.min(list.to, from + left)
      addScores(list.ordinals, list.weights, from, to, index.lengths, factors.gains[at]!, factors, scratch)
      left -= to - from
      from = to
    }
  }
}

// A function of its own, which runs often enough to be compiled.
function addScores (
  ordinals: Uint32Array, weights: Float32Array, from: number, to: number, lengths: Float32Array, gain: number,
  { least, flat, slope }: QueryFactors, scratch: Scratch,
): void {
  const { scores, touched } = scratch
  let { count } = scratch
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i]!
    const weight = weights[i]!
    const score = scores[ordinal]!
    if (score === 0) touched[count++] = ordinal
    const norm = flat + slope * lengths[ordinal]!
    scores[ordinal] = score + gain * weight / (weight + (norm > least ? norm : least))
  }
  scratch.count = count
}

/** Borrowers of one candidate at most. */
export const NEAR = 4

/** Candidates that lend each other what they have of the query's terms. */
export interface Lending {
  /** k1 · norm, by candidate. */
  against: Float64Array
  /** NEAR for each candidate: the number of one that it lends to, + 1; 0 for none. */
  borrowers: Int32Array
  /** Beside them, what share of its weights that is. */
  shares: Float64Array
  /** What comes of it, by candidate. */
  scores: Float64Array
}

/** Scores candidates, which have their places in the scratch, by their own weights and those that they are lent. */
export function * scoreLending (
  index: LexicalIndex<unknown>, terms: readonly string[], factors: QueryFactors, lending: Lending, scratch: Scratch,
): Steps<void> {
  const sums = new Float64Array(lending.against.length)
  const changed = new Int32Array(lending.against.length)
  let left = PIECE
  for (const [at, term] of terms.entries()) {
    const list = index.listOf(term)
    if (list === undefined) continue
    let count = 0
    for (let { from } = list; from < list.to;) {
      if (left <= 0) {
        yield
        left = PIECE
      }
      const to = Math.min(list.to, from + left)
      count = addWeights(list.ordinals, list.weights, from, to, scratch.places, lending, sums, changed, count)
      left -= to - from
      from = to
    }
    addGains(factors.gains[at]!, lending, sums, changed, count)
    left -= count
  }
}

function addWeights (
  ordinals: Uint32Array, weights: Float32Array, from: number, to: number, places: Int32Array,
  { borrowers, shares }: Lending, sums: Float64Array, changed: Int32Array, already: number,
): number {
  let count = already
  for (let i = from; i < to; i++) {
    const place = places[ordinals[i]!]!
    if (place <= 0) continue
    const weight = weights[i]!
    const own = sums[place - 1]!
    if (own === 0) changed[count++] = place - 1
    sums[place - 1] = own + weight
    for (let near = (place - 1) * NEAR; near < place * NEAR; near++) {
      const borrower = borrowers[near]! - 1
      if (borrower < 0) continue
      const sum = sums[borrower]!
      if (sum === 0) changed[count++] = borrower
      sums[borrower] = sum + weight * shares[near]!
    }
  }
  return count
}

function addGains (
  gain: number, { against, scores }: Lending, sums: Float64Array, changed: Int32Array, count: number,
): void {
  for (let i = 0; i < count; i++) {
    const candidate = changed[i]!
    const weight = sums[candidate]!
    scores[candidate] = scores[candidate]! + gain * weight / (weight + against[candidate]!)
    sums[candidate] = 0
  }
}
