import {
  lengthNorm, MIN_NOTES, neighbourWeight, NOTES_QUESTIONS, toScore, WINDOW_REACH, WITHOUT_DOCUMENT, WITHOUT_OWN_TERMS,
} from './context.js'
import { bestOf, descendingOrder } from './top-k.js'
import { MAX_PASSAGES, type LexicalRequest } from './vector-store.js'

/** Flags of a member. */
export const HAS_DOCUMENT = 1
/** It ends in a question. */
export const IS_QUESTION = 2
/** As `isAssistants` says. Matters only in the pool. */
export const IS_ASSISTANT = 4
/** It passes the filters. */
export const PASSES = 8

/** The places of a window: a member of the pool in the middle, and what is before and after it in its sequence. */
export const WINDOW_PLACES = 2 * WINDOW_REACH + 1
/** No member, in a window; no passage, among those of a member. */
export const NONE = -1

/**
 * What the scores of memories depend on: a store retrieves it for the pool and for the windows of the pool. Members are
 * numbered from 0, as are their passages that have terms of the query, all together.
 */
export class Members {
  readonly #terms: number
  readonly flags: number[] = []
  /** Of the passages of each member. */
  readonly meanLengths: number[] = []
  /** By member: its first passage. */
  readonly firsts: number[] = []
  /** By passage: the next one of the same member. */
  readonly nexts: number[] = []
  readonly ordinals: number[] = []
  readonly lengths: number[] = []
  /** By passage, and in it by term. */
  counts: Float32Array

  /** @param terms of the query @param capacity the passages that are expected */
  constructor (terms: number, capacity: number) {
    this.#terms = terms
    this.counts = new Float32Array(terms * capacity)
  }

  /** @returns its number */
  add (flags: number, meanLength: number): number {
    this.flags.push(flags)
    this.meanLengths.push(meanLength)
    return this.firsts.push(NONE) - 1
  }

  /** Adds a term to a passage. */
  addMatch (member: number, ordinal: number, length: number, term: number, count: number): void {
    let passage = this.firsts[member]!
    while (passage !== NONE && this.ordinals[passage] !== ordinal) passage = this.nexts[passage]!
    if (passage === NONE) {
      passage = this.ordinals.push(ordinal) - 1
      this.lengths.push(length)
      this.nexts.push(this.firsts[member]!)
      this.firsts[member] = passage
      if ((passage + 1) * this.#terms > this.counts.length) this.#grow()
    }
    this.counts[passage * this.#terms + term] = count
  }

  #grow (): void {
    const grown = new Float32Array(2 * this.counts.length + this.#terms)
    grown.set(this.counts)
    this.counts = grown
  }
}

/** What BM25 uses of a bank. */
export interface BankStatistics {
  readonly passages: number
  /** 0 when all passages have the length 0. */
  readonly meanLength: number
  /** For each term of the query, in how many passages it is. */
  readonly frequencies: readonly number[]
}

interface LexicalScores {
  /** Step 7. */
  readonly best: ReadonlyArray<{ member: number, score: number, own: number }>
  /** The candidates that pass the filters and are found, but only by the terms of their neighbours. */
  readonly byContext: readonly number[]
  /** The scores of any member, whether or not it is a candidate. */
  scoresOf (member: number): { score: number, own: number }
  /** The best passages that have terms of the query; empty when only its neighbours have. */
  passagesOf (member: number): Array<{ ordinal: number, score: number }>
}

/** The factors of BM25 that depend on the query and the bank, but not on a passage: step 1 of lib/stores/context.ts. */
export class QueryWeights {
  readonly k1: number
  /** By term: it adds gain · tf / (tf + k1 · norm) to a score. */
  readonly gains: readonly number[]
  /** The highest score that the query can reach. */
  readonly highest: number
  readonly #length: LexicalRequest['length']
  /** Of the request; 0 without one. */
  readonly #pivot: number
  readonly #meanLength: number

  constructor ({ passages, meanLength, frequencies }: BankStatistics, { k1, length }: LexicalRequest) {
    this.k1 = k1
    this.gains = frequencies.map((frequency) => (
      (k1 + 1) * Math.log(1 + (Math.max(0, passages - frequency) + 0.5) / (frequency + 0.5))
    ))
    this.highest = this.gains.reduce((sum, gain) => sum + gain, 0)
    this.#length = length
    this.#pivot = 'pivot' in length ? length.pivot : 0
    // If all passages have the length 0, b has no effect.
    this.#meanLength = meanLength > 0 ? meanLength : Infinity
  }

  /** @param pivot replaces that of the request */
  normOf (length: number, pivot = this.#pivot): number {
    return pivot > 0 ? Math.max(1, length / pivot) : lengthNorm(length, this.#length, this.#meanLength)
  }

  toShare (sum: number): number {
    return sum === 0 ? 0 : toScore(sum / this.highest)
  }
}

/**
 * Steps 2 to 7 of lib/stores/context.ts.
 * @param windows the members at the places of each window, one window after the other; empty without `context`
 * @param compareIds orders members by their ids
 */
export function lexicalScores (
  query: QueryWeights, request: LexicalRequest, members: Members, pool: readonly number[], windows: Int32Array,
  limit: number, compareIds: (a: number, b: number) => number,
): LexicalScores {
  const scoring = new Scoring(query, members, request.context ? notesPivot(request, members, pool) : undefined)
  for (const member of pool) scoring.addCandidate(member)
  for (let from = 0; from < windows.length; from += WINDOW_PLACES) scoring.addWindow(windows, from)
  const scores = new Float64Array(members.flags.length)
  const found = new Int32Array(scoring.candidates.length)
  let foundCount = 0
  const byContext: number[] = []
  for (const member of scoring.candidates) {
    const score = scores[member] = scoring.scoreOf(member)
    if (score === 0 || (members.flags[member]! & PASSES) === 0) continue
    const own = scoring.owns[member]!
    if (own === 0 && (members.flags[member]! & HAS_DOCUMENT) === 0 && !scoring.answersQuestion(member)) continue
    found[foundCount++] = member
    if (own === 0) byContext.push(member)
  }
  const best = descendingOrder(bestOf(found.subarray(0, foundCount), scores, limit, compareIds), scores, compareIds)
  return {
    best: best.map((member) => ({ member, score: scores[member]!, own: scoring.owns[member]! })),
    byContext,
    scoresOf (member) {
      const own = scoring.ownOf(member)
      return { score: scoring.isCandidate(member) ? scores[member]! : own, own }
    },
    passagesOf: (member) => scoring.passagesOf(member),
  }
}

/** The pivot for a pool of notes or articles; undefined when the pool is not known to be one. */
function notesPivot ({ length }: LexicalRequest, { flags }: Members, pool: readonly number[]): number | undefined {
  if (!('pivot' in length) || length.notesPivot === undefined || pool.length < MIN_NOTES) return undefined
  let questions = 0
  for (const member of pool) {
    if ((flags[member]! & IS_ASSISTANT) !== 0) return undefined
    if ((flags[member]! & IS_QUESTION) !== 0) questions++
  }
  return 100 * questions < NOTES_QUESTIONS * pool.length ? length.notesPivot : undefined
}

/** The values of the candidates, by member. */
class Scoring {
  readonly candidates: number[] = []
  readonly owns: Float64Array
  readonly #query: QueryWeights
  readonly #members: Members
  readonly #pivot: number | undefined
  /** Of their best passages; 0 of members that are no candidates. */
  readonly #norms: Float64Array
  /** The best passages. */
  readonly #bests: Int32Array
  /** By member, and by the distance in places plus WINDOW_REACH: the number of the neighbour plus 1, or 0. */
  readonly #neighbours: Int32Array
  readonly #isCandidate: Uint8Array
  /** Of the neighbours of one candidate: where their counts begin, and their weights. */
  readonly #from: number[] = [0, 0, 0, 0]
  readonly #weights: number[] = [0, 0, 0, 0]

  constructor (query: QueryWeights, members: Members, pivot: number | undefined) {
    const { length } = members.flags
    this.#query = query
    this.#members = members
    this.#pivot = pivot
    this.owns = new Float64Array(length)
    this.#norms = new Float64Array(length)
    this.#bests = new Int32Array(length)
    this.#neighbours = new Int32Array(length * WINDOW_PLACES)
    this.#isCandidate = new Uint8Array(length)
  }

  isCandidate (member: number): boolean {
    return this.#isCandidate[member] === 1
  }

  /** Step 2. */
  addCandidate (member: number): void {
    if (this.#isCandidate[member] === 1) return
    this.#isCandidate[member] = 1
    this.candidates.push(member)
    const { lengths, meanLengths } = this.#members
    const best = this.#bests[member] = this.#bestOf(member)
    const norm = this.#norms[member] =
      this.#query.normOf(best === NONE ? meanLengths[member]! : lengths[best]!, this.#pivot)
    if (best !== NONE) this.owns[member] = this.#query.toShare(this.#sumOf(best, norm))
  }

  addWindow (windows: Int32Array, from: number): void {
    for (let at = from; at < from + WINDOW_PLACES; at++) if (windows[at] !== NONE) this.addCandidate(windows[at]!)
    for (let at = from; at < from + WINDOW_PLACES; at++) {
      const member = windows[at]!
      if (member === NONE) continue
      for (let places = 1; places <= WINDOW_REACH && at + places < from + WINDOW_PLACES; places++) {
        const other = windows[at + places]!
        if (other === NONE) continue
        this.#neighbours[member * WINDOW_PLACES + WINDOW_REACH + places] = other + 1
        this.#neighbours[other * WINDOW_PLACES + WINDOW_REACH - places] = member + 1
      }
    }
  }

  /** The own score of any member. */
  ownOf (member: number): number {
    if (this.#isCandidate[member] === 1) return this.owns[member]!
    const best = this.#bestOf(member)
    return best === NONE ? 0 : this.#scoreOfPassage(best)
  }

  /** Whether the neighbour directly before ends in a question and has a term of the query. */
  answersQuestion (member: number): boolean {
    const before = this.#neighbours[member * WINDOW_PLACES + WINDOW_REACH - 1]! - 1
    return before >= 0 && (this.#members.flags[before]! & IS_QUESTION) !== 0 && this.owns[before]! > 0
  }

  /** Steps 5 and 6, of a candidate. */
  scoreOf (member: number): number {
    const { flags, counts } = this.#members
    const { gains, k1 } = this.#query
    const [from, weights] = [this.#from, this.#weights]
    const hasDocument = (flags[member]! & HAS_DOCUMENT) !== 0
    const isQuestion = (flags[member]! & IS_QUESTION) !== 0
    let neighbours = 0
    for (let place = 0; place < WINDOW_PLACES; place++) {
      const other = this.#neighbours[member * WINDOW_PLACES + place]! - 1
      // The norm can be 0 where b is 1.
      if (other < 0 || this.#bests[other] === NONE || this.#norms[other] === 0) continue
      from[neighbours] = this.#bests[other]! * gains.length
      weights[neighbours++] = neighbourWeight(place - WINDOW_REACH, (flags[other]! & IS_QUESTION) !== 0, isQuestion) *
        (hasDocument ? 1 : WITHOUT_DOCUMENT) / this.#norms[other]!
    }
    const own = this.owns[member]!
    if (neighbours === 0) return own
    const best = this.#bests[member]!
    const saturation = k1 * this.#norms[member]!
    let sum = 0
    for (let term = 0; term < gains.length; term++) {
      let count = best === NONE ? 0 : counts[best * gains.length + term]!
      if (count === 0 || hasDocument) {
        for (let at = 0; at < neighbours; at++) count += counts[from[at]! + term]! * weights[at]!
      }
      if (count > 0) sum += gains[term]! * count / (count + saturation)
    }
    return this.#query.toShare(own > 0 || this.answersQuestion(member) ? sum : sum * WITHOUT_OWN_TERMS)
  }

  passagesOf (member: number): Array<{ ordinal: number, score: number }> {
    const { firsts, nexts, ordinals } = this.#members
    const passages: Array<{ ordinal: number, score: number }> = []
    for (let passage = firsts[member]!; passage !== NONE; passage = nexts[passage]!) {
      const score = this.#scoreOfPassage(passage)
      if (score > 0) passages.push({ ordinal: ordinals[passage]!, score })
    }
    return passages.sort((a, b) => b.score - a.score || a.ordinal - b.ordinal).slice(0, MAX_PASSAGES)
  }

  /** The best passage of a member that has terms of the query. */
  #bestOf (member: number): number {
    const { firsts, nexts, ordinals } = this.#members
    let best = firsts[member]!
    if (best === NONE || nexts[best] === NONE) return best
    let highest = this.#scoreOfPassage(best)
    for (let passage = nexts[best]!; passage !== NONE; passage = nexts[passage]!) {
      const score = this.#scoreOfPassage(passage)
      if (score < highest || (score === highest && ordinals[passage]! > ordinals[best]!)) continue
      best = passage
      highest = score
    }
    return best
  }

  #scoreOfPassage (passage: number): number {
    return this.#query.toShare(this.#sumOf(passage, this.#query.normOf(this.#members.lengths[passage]!)))
  }

  /** The sum of step 1, from which `toShare` makes a score. */
  #sumOf (passage: number, norm: number): number {
    const { gains, k1 } = this.#query
    const { counts } = this.#members
    let sum = 0
    for (let term = 0; term < gains.length; term++) {
      const count = counts[passage * gains.length + term]!
      if (count > 0) sum += gains[term]! * count / (count + k1 * norm)
    }
    return sum
  }
}
