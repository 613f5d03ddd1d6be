import type { Steps } from '../../concurrency/steps.js'
import { lengthNorm } from '../context.js'
import type { LexicalRequest } from '../vector-store.js'
import type { LexicalIndex } from './lexical-index.js'
import type { LexicalStatistics } from './live-statistics.js'

/** Number of postings that one step reads, in some tenths of a millisecond. */
const POSTINGS_PER_STEP = 16_384
/** Maximum number of scratches kept for reuse. */
const MAX_POOLED_SCRATCHES = 4
/** Minimum number of documents of a scratch. */
const MIN_SCRATCH_DOCUMENTS = 64

/** Accumulators of a search, by ordinal of a document: all zero between searches. */
export interface Scratch {
  scores: Float64Array
  /** Ordinals with a score, in the order in which they first received it. */
  scoredOrdinals: Uint32Array
  /** Number of ordinals in `scoredOrdinals`. */
  count: number
  /**
   * By ordinal of a memory's first document: the ordinal, plus 1, of its document with the best score. Only if memories
   * have several documents.
   */
  best: Uint32Array
  /** The first documents of the memories in `best`. */
  heads: Uint32Array
  headCount: number
  /**
   * By ordinal: the number, plus 1, of the candidate whose counts these are; negative if the ordinal only identifies
   * the candidate's memory.
   */
  candidateNumbers: Int32Array
  /** The ordinals with a value in `candidateNumbers`. */
  numberedOrdinals: number[]
  /** By term of the query: the number of its postings when the search began. */
  postingCounts: number[]
}

const scratchPool: Scratch[] = []

/**
 * Shared by all indexes, because there are thousands of small banks.
 * @param documents upper bound of the ordinals
 */
export function takeScratch (documents: number): Scratch {
  const scratch = scratchPool.pop()
  if (scratch !== undefined && scratch.scores.length >= documents) return scratch
  const length = Math.max(MIN_SCRATCH_DOCUMENTS, 2 ** Math.ceil(Math.log2(documents)))
  return {
    scores: new Float64Array(length),
    scoredOrdinals: new Uint32Array(length),
    count: 0,
    best: new Uint32Array(length),
    heads: new Uint32Array(length),
    headCount: 0,
    candidateNumbers: new Int32Array(length),
    numberedOrdinals: [],
    postingCounts: [],
  }
}

/** To be called once for each scratch taken. */
export function releaseScratch (scratch: Scratch): void {
  const { scores, scoredOrdinals, count, best, heads, headCount, candidateNumbers, numberedOrdinals } = scratch
  for (let i = 0; i < count; i++) scores[scoredOrdinals[i]!] = 0
  for (let i = 0; i < headCount; i++) best[heads[i]!] = 0
  for (const ordinal of numberedOrdinals) candidateNumbers[ordinal] = 0
  scratch.count = 0
  scratch.headCount = 0
  numberedOrdinals.length = 0
  if (scratchPool.length < MAX_POOLED_SCRATCHES) scratchPool.push(scratch)
}

/** The factors of BM25 that depend on the query and the index but not on a document. */
export class QueryFactors {
  /** By term: the term adds gain · weight / (weight + saturation) to a score. */
  readonly gains: readonly number[]
  /** An upper bound of any score; includes terms that no document contains. */
  readonly maxScore: number
  // The saturation of a length is flat + slope · length, and at least `minSaturation`.
  readonly minSaturation: number
  readonly flat: number
  readonly slope: number
  readonly #norm: (length: number) => number

  constructor (statistics: LexicalStatistics, { terms, k1, length }: Pick<LexicalRequest, 'terms' | 'k1' | 'length'>) {
    this.gains = terms.map((term) => {
      const frequency = statistics.frequency(term)
      return (k1 + 1) * Math.log(1 + (statistics.size - frequency + 0.5) / (frequency + 0.5))
    })
    this.maxScore = this.gains.reduce((sum, gain) => sum + gain, 0)
    // If all documents have the length 0, b has no effect.
    const averageLength = statistics.averageLength > 0 ? statistics.averageLength : Infinity
    this.#norm = (value) => lengthNorm(value, length, averageLength)
    this.minSaturation = 'pivot' in length ? k1 : 0
    this.flat = 'pivot' in length ? 0 : k1 * (1 - length.b)
    this.slope = k1 * ('pivot' in length ? 1 / length.pivot : length.b / averageLength)
  }

  norm (length: number): number {
    return this.#norm(length)
  }

  /** k1 · norm of a length. */
  saturation (length: number): number {
    return Math.max(this.minSaturation, this.flat + this.slope * length)
  }
}

/**
 * Writes the own scores of documents to the scratch, with the ordinals that have one. They may include documents that
 * are not visible (`LexicalIndex.isVisible`). After each `yield` the postings are looked up again: a change that is not
 * committed yet may have moved them to a wider block, but it only appends to them. What it appends is not read, because
 * it is not visible and its ordinals may lie beyond the scratch.
 * @param scratch taken for the current capacity of the index
 */
export function * scoreTerms (
  index: LexicalIndex<unknown>, terms: readonly string[], factors: QueryFactors, scratch: Scratch,
): Steps<void> {
  const { postingCounts } = scratch
  const lists = terms.map((term) => index.postingsOf(term))
  for (const [at, list] of lists.entries()) postingCounts[at] = list === undefined ? 0 : list.to - list.from
  let postingsLeft = POSTINGS_PER_STEP
  let areCurrent = true
  for (const [at, term] of terms.entries()) {
    const count = postingCounts[at]!
    if (count === 0) continue
    let list = areCurrent ? lists[at]! : index.postingsOf(term)!
    for (let read = 0; read < count;) {
      if (postingsLeft <= 0) {
        yield
        postingsLeft = POSTINGS_PER_STEP
        areCurrent = false
        list = index.postingsOf(term)!
      }
      const from = list.from + read
      const to = Math.min(list.from + count, from + postingsLeft)
      addScores(list.ordinals, list.weights, from, to, index.lengths, factors.gains[at]!, factors, scratch)
      postingsLeft -= to - from
      read += to - from
    }
  }
}

// A separate function, so that it runs often enough for V8 to optimize it.
function addScores (
  ordinals: Uint32Array, weights: Float32Array, from: number, to: number, lengths: Float32Array, gain: number,
  { minSaturation, flat, slope }: QueryFactors, scratch: Scratch,
): void {
  const { scores, scoredOrdinals } = scratch
  let { count } = scratch
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i]!
    const weight = weights[i]!
    const score = scores[ordinal]!
    if (score === 0) scoredOrdinals[count++] = ordinal
    const norm = flat + slope * lengths[ordinal]!
    scores[ordinal] = score + gain * weight / (weight + (norm > minSaturation ? norm : minSaturation))
  }
  scratch.count = count
}

/** Maximum number of neighbours of a candidate. */
export const MAX_NEIGHBOURS = 4

/** Candidates that are scored together with their neighbours. */
export interface NeighbourScoring {
  /** k1 · norm, by candidate. */
  saturation: Float64Array
  /** MAX_NEIGHBOURS slots for each candidate: the number of a neighbour plus 1, or 0. */
  neighbours: Int32Array
  /** For each slot: the factor of the candidate's weights in the score of that neighbour. */
  neighbourWeights: Float64Array
  /** The result, by candidate. */
  scores: Float64Array
}

/**
 * Scores candidates by their own weights and those of their neighbours.
 * @param scratch contains their `candidateNumbers`, and is the one that `scoreTerms` used for the same terms
 */
export function * scoreWithNeighbours (
  index: LexicalIndex<unknown>, terms: readonly string[], factors: QueryFactors, scoring: NeighbourScoring,
  scratch: Scratch,
): Steps<void> {
  const sums = new Float64Array(scoring.saturation.length)
  const changed = new Int32Array(scoring.saturation.length)
  let postingsLeft = POSTINGS_PER_STEP
  for (const [at, term] of terms.entries()) {
    const postingCount = scratch.postingCounts[at]!
    if (postingCount === 0) continue
    let list = index.postingsOf(term)!
    let count = 0
    for (let read = 0; read < postingCount;) {
      if (postingsLeft <= 0) {
        yield
        postingsLeft = POSTINGS_PER_STEP
        list = index.postingsOf(term)!
      }
      const from = list.from + read
      const to = Math.min(list.from + postingCount, from + postingsLeft)
      count = addWeights(list.ordinals, list.weights, from, to, scratch.candidateNumbers, scoring, sums, changed, count)
      postingsLeft -= to - from
      read += to - from
    }
    addGains(factors.gains[at]!, scoring, sums, changed, count)
    postingsLeft -= count
  }
}

function addWeights (
  ordinals: Uint32Array, weights: Float32Array, from: number, to: number, places: Int32Array,
  { neighbours, neighbourWeights }: NeighbourScoring, sums: Float64Array, changed: Int32Array, already: number,
): number {
  let count = already
  for (let i = from; i < to; i++) {
    const place = places[ordinals[i]!]!
    if (place <= 0) continue
    const weight = weights[i]!
    const own = sums[place - 1]!
    if (own === 0) changed[count++] = place - 1
    sums[place - 1] = own + weight
    for (let slot = (place - 1) * MAX_NEIGHBOURS; slot < place * MAX_NEIGHBOURS; slot++) {
      const neighbour = neighbours[slot]! - 1
      if (neighbour < 0) continue
      const sum = sums[neighbour]!
      if (sum === 0) changed[count++] = neighbour
      sums[neighbour] = sum + weight * neighbourWeights[slot]!
    }
  }
  return count
}

function addGains (
  gain: number, { saturation, scores }: NeighbourScoring, sums: Float64Array, changed: Int32Array, count: number,
): void {
  for (let i = 0; i < count; i++) {
    const candidate = changed[i]!
    const weight = sums[candidate]!
    scores[candidate] = scores[candidate]! + gain * weight / (weight + saturation[candidate]!)
    sums[candidate] = 0
  }
}
