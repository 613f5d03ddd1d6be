import type { Steps } from '../../concurrency/steps.js'
import { lengthNorm } from '../context.js'
import type { LexicalRequest } from '../vector-store.js'
import type { LexicalIndex } from './lexical-index.js'
import { MAX_NEIGHBOURS, type CandidateArrays, type Scratch } from './lexical-scratch.js'
import type { LexicalStatistics } from './live-statistics.js'

/** Number of postings that one step reads, in some tenths of a millisecond. */
const POSTINGS_PER_STEP = 16_384

/** The length normalization of a search, as numbers that are quickly applied. */
export class LengthNorms {
  // The saturation of a length is flat + slope · length, and at least `minSaturation`.
  readonly minSaturation: number
  readonly flat: number
  readonly slope: number
  /** `lengthNorm` of a length. */
  readonly norm: (length: number) => number

  /** @param average length of the bank's passages; 0 when all have the length 0 */
  constructor (length: LexicalRequest['length'], k1: number, average: number) {
    // If all passages have the length 0, b has no effect.
    const averageLength = average > 0 ? average : Infinity
    this.norm = (value) => lengthNorm(value, length, averageLength)
    this.minSaturation = 'pivot' in length ? k1 : 0
    this.flat = 'pivot' in length ? 0 : k1 * (1 - length.b)
    this.slope = k1 * ('pivot' in length ? 1 / length.pivot : length.b / averageLength)
  }

  /** k1 · norm of a length. */
  saturation (length: number): number {
    return Math.max(this.minSaturation, this.flat + this.slope * length)
  }
}

/** The factors of BM25 that depend on the query and the index but not on a passage. */
export class QueryFactors {
  /** By term: the term adds gain · weight / (weight + saturation) to a score. */
  readonly gains: readonly number[]
  /** An upper bound of any score; includes terms that no passage contains. */
  readonly maxScore: number
  readonly norms: LengthNorms

  constructor (statistics: LexicalStatistics, { terms, k1, length }: Pick<LexicalRequest, 'terms' | 'k1' | 'length'>) {
    this.gains = terms.map((term) => {
      const frequency = statistics.frequency(term)
      return (k1 + 1) * Math.log(1 + (statistics.size - frequency + 0.5) / (frequency + 0.5))
    })
    this.maxScore = this.gains.reduce((sum, gain) => sum + gain, 0)
    this.norms = new LengthNorms(length, k1, statistics.averageLength)
  }
}

/**
 * Writes the own scores of passages to the scratch, with the ordinals that have one. They may include passages that
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
      addScores(list.ordinals, list.weights, from, to, index.lengths, factors.gains[at]!, factors.norms, scratch)
      postingsLeft -= to - from
      read += to - from
    }
  }
}

// A separate function, so that it runs often enough for V8 to optimize it.
function addScores (
  ordinals: Uint32Array, weights: Float32Array, from: number, to: number, lengths: Float32Array, gain: number,
  { minSaturation, flat, slope }: LengthNorms, scratch: Scratch,
): void {
  const { scores, scoredOrdinals } = scratch
  let { count } = scratch
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i]!
    const weight = weights[i]!
    const score = scores[ordinal]!
    if (score === 0) scoredOrdinals[count++] = ordinal
    const saturation = flat + slope * lengths[ordinal]!
    scores[ordinal] = score + gain * weight / (weight + (saturation > minSaturation ? saturation : minSaturation))
  }
  scratch.count = count
}

/**
 * Scores candidates by their own weights and those of their neighbours.
 * @param scratch contains the candidates, and is the one that `scoreTerms` used for the same terms
 * @param candidates their number
 * @param addsOwn whether the scores by their own weights are added to their own scores
 */
export function * scoreWithNeighbours (
  index: LexicalIndex<unknown>, terms: readonly string[], gains: readonly number[], scratch: Scratch,
  candidates: number, addsOwn: boolean,
): Steps<void> {
  const arrays = scratch.candidates
  arrays.scores.fill(0, 0, candidates)
  // A search that was abandoned may have left counts.
  arrays.counts.fill(0, 0, candidates)
  arrays.addedCounts.fill(0, 0, candidates)
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
      count = addWeights(list.ordinals, list.weights, from, to, scratch.candidateNumbers, arrays, count)
      postingsLeft -= to - from
      read += to - from
    }
    if (addsOwn) addOwnGains(gains[at]!, arrays, count)
    addGains(gains[at]!, arrays, count)
    postingsLeft -= count
  }
}

function addWeights (
  ordinals: Uint32Array, weights: Float32Array, from: number, to: number, numbers: Int32Array,
  { neighbours, neighbourWeights, counts, addedCounts, changed }: CandidateArrays, already: number,
): number {
  let count = already
  for (let i = from; i < to; i++) {
    const number = numbers[ordinals[i]!]!
    if (number <= 0) continue
    const weight = weights[i]!
    if (counts[number - 1] === 0 && addedCounts[number - 1] === 0) changed[count++] = number - 1
    counts[number - 1] = weight
    for (let slot = (number - 1) * MAX_NEIGHBOURS; slot < number * MAX_NEIGHBOURS; slot++) {
      const neighbour = neighbours[slot]! - 1
      if (neighbour < 0) continue
      const added = addedCounts[neighbour]!
      if (added === 0 && counts[neighbour] === 0) changed[count++] = neighbour
      addedCounts[neighbour] = added + weight * neighbourWeights[slot]!
    }
  }
  return count
}

function addOwnGains (
  gain: number, { saturation, ownScores, counts, changed }: CandidateArrays, count: number,
): void {
  for (let i = 0; i < count; i++) {
    const candidate = changed[i]!
    const own = counts[candidate]!
    if (own > 0) ownScores[candidate] = ownScores[candidate]! + gain * own / (own + saturation[candidate]!)
  }
}

function addGains (
  gain: number, { saturation, scores, counts, addedCounts, changed, withoutDocument }: CandidateArrays, count: number,
): void {
  for (let i = 0; i < count; i++) {
    const candidate = changed[i]!
    const own = counts[candidate]!
    const weight = own > 0 && withoutDocument[candidate] === 1 ? own : own + addedCounts[candidate]!
    scores[candidate] = scores[candidate]! + gain * weight / (weight + saturation[candidate]!)
    counts[candidate] = 0
    addedCounts[candidate] = 0
  }
}
