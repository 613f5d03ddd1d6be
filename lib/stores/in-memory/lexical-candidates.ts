import type { Steps } from '../../concurrency/steps.js'
import {
  isAssistants, MIN_NOTES, neighbourWeight, NOTES_QUESTIONS, WINDOW_REACH, WITHOUT_DOCUMENT, WITHOUT_OWN_TERMS,
} from '../context.js'
import type { LexicalRequest } from '../vector-store.js'
import type { Bank } from './bank.js'
import type { Accept, Entry, Neighbours } from './entry.js'
import { LengthNorms, scoreWithNeighbours, type QueryFactors } from './lexical-scoring.js'
import { candidateArraysOf, MAX_NEIGHBOURS, type CandidateArrays, type Scratch } from './lexical-scratch.js'

/** Number of candidates that one step processes. */
const CANDIDATES_PER_STEP = 1024
/** The distance in places from the neighbour in each slot to the candidate. */
const PLACES = [2, 1, -1, -2] as const
/** The slot of the neighbour directly before the candidate. */
const SLOT_BEFORE = 1

export interface CandidatesOptions {
  bank: Bank
  request: LexicalRequest
  factors: QueryFactors
  /** Contains the own scores of passages (`scoreTerms`), and the best passage of each memory. */
  scratch: Scratch
  /** Which memories exist for the search; undefined when every memory of the bank does. */
  isLive: Accept
  /** Whether also the scores of memories matter that the search does not find. */
  needsAll: boolean
}

/**
 * The candidates of a lexical search, by number: steps 4 to 6 of lib/stores/context.ts. Its arrays are those of the
 * scratch, and are valid until that is released.
 */
export class Candidates {
  readonly entries: Entry[] = []
  readonly #arrays: CandidateArrays
  readonly #options: CandidatesOptions
  readonly #isUnsplit: boolean
  readonly #isCommitted: boolean
  /** Whether a candidate has a neighbour. */
  #hasNeighbours = false

  /** @param pool number of memories in the pool */
  constructor (options: CandidatesOptions, pool: number) {
    const { bank, request, scratch } = options
    this.#arrays = candidateArraysOf(scratch, pool * (request.context ? 1 + 2 * WINDOW_REACH : 1))
    this.#options = options
    this.#isUnsplit = bank.isUnsplit
    this.#isCommitted = bank.isCommitted
  }

  /** Own scores of the candidates, before the division by the highest score that the query can reach. */
  get ownScores (): Float64Array {
    return this.#arrays.ownScores
  }

  /** Ordinals of the first passages of the candidates. */
  get heads (): Uint32Array {
    return this.#arrays.heads
  }

  /** Adds the windows of the candidates. @returns the scores of all candidates */
  * scoreInContext (): Steps<Float64Array> {
    const norms = this.#normsOfNotes()
    yield * this.#openWindows()
    if (norms !== undefined) return yield * this.#scores(norms, true)
    return this.#hasNeighbours ? yield * this.#scores(this.#options.factors.norms, false) : this.ownScores
  }

  /** The norms for a pool of notes or articles; undefined when the pool is not known to be one. */
  #normsOfNotes (): LengthNorms | undefined {
    const { entries } = this
    const { request: { length, k1 } } = this.#options
    if (!('pivot' in length) || length.notesPivot === undefined || entries.length < MIN_NOTES) return undefined
    let questions = 0
    for (const { endsAsQuestion } of entries) if (endsAsQuestion) questions++
    if (100 * questions >= NOTES_QUESTIONS * entries.length) return undefined
    if (entries.some(({ memory }) => isAssistants(memory))) return undefined
    return new LengthNorms({ pivot: length.notesPivot }, k1, 0)
  }

  /** The score of a memory, whether or not it is a candidate. @param scores by candidate */
  scoreOf (entry: Entry, scores: Float64Array): number {
    const number = this.#options.scratch.candidateNumbers[entry.head]!
    return number === 0 ? this.ownScoreOf(entry) : scores[Math.abs(number) - 1]!
  }

  /**
   * Whether a candidate without any term of the query is found by those of its neighbours: in a document, and after a
   * question with such a term.
   */
  isFoundByContext (candidate: number): boolean {
    return this.#arrays.withoutDocument[candidate] === 0 || this.#answersQuestion(candidate)
  }

  /** Whether the candidate directly before it ends in a question and has a term of the query. */
  #answersQuestion (candidate: number): boolean {
    const before = this.#arrays.neighbours[candidate * MAX_NEIGHBOURS + SLOT_BEFORE]! - 1
    return before >= 0 && this.ownScores[before]! > 0 && this.entries[before]!.endsAsQuestion
  }

  /** Makes a memory a candidate, unless it is one already. @returns its number */
  add (entry: Entry): number {
    const { candidateNumbers, numberedOrdinals } = this.#options.scratch
    const { head } = entry
    const known = candidateNumbers[head]!
    if (known !== 0) return Math.abs(known) - 1
    const number = this.entries.push(entry) - 1
    const ordinal = this.#bestPassage(entry)
    const { heads, ownScores, neighbours, withoutDocument } = this.#arrays
    heads[number] = head
    ownScores[number] = this.ownScoreOf(entry)
    withoutDocument[number] = entry.memory.documentId === null ? 1 : 0
    for (let slot = number * MAX_NEIGHBOURS; slot < (number + 1) * MAX_NEIGHBOURS; slot++) neighbours[slot] = 0
    // The counts of a candidate are those of its best passage. A negative number means that the head is not that
    // passage.
    candidateNumbers[head] = ordinal === head ? number + 1 : -number - 1
    numberedOrdinals.push(head)
    if (ordinal >= 0 && ordinal !== head) {
      candidateNumbers[ordinal] = number + 1
      numberedOrdinals.push(ordinal)
    }
    return number
  }

  /** The ordinal of the best passage; negative for a memory of several passages without a term of the query. */
  #bestPassage ({ head, passages }: Entry): number {
    return this.#isUnsplit || passages.length === 1 ? head : this.#options.scratch.best[head]! - 1
  }

  /** The own score of a memory, before the division by the highest score that the query can reach. */
  ownScoreOf (entry: Entry): number {
    const ordinal = this.#bestPassage(entry)
    return ordinal < 0 ? 0 : this.#options.scratch.scores[ordinal]!
  }

  /** Adds the neighbours of the pool, and pairs the candidates that share a window. */
  * #openWindows (): Steps<void> {
    const pool = this.entries.length
    const numbers = new Int32Array(2 * WINDOW_REACH + 1)
    for (let member = 0; member < pool; member++) {
      if (member % (CANDIDATES_PER_STEP / 4) === CANDIDATES_PER_STEP / 4 - 1) yield
      const entry = this.entries[member]!
      const needsAll = this.#options.needsAll || this.#arrays.withoutDocument[member] === 0
      numbers[WINDOW_REACH] = member + 1
      let [before, after]: Array<Entry | undefined> = [entry, entry]
      for (let places = 1; places <= WINDOW_REACH; places++) {
        before = before && this.#before(before)
        after = after && this.#after(after)
        numbers[WINDOW_REACH - places] = this.#numberOf(before, needsAll)
        numbers[WINDOW_REACH + places] = this.#numberOf(after, needsAll)
      }
      for (let at = 0; at < numbers.length - 1; at++) {
        if (numbers[at] === 0) continue
        if (numbers[at + 1]! > 0) this.#pair(numbers[at]! - 1, numbers[at + 1]! - 1, 1)
        if (numbers[at + 2]! > 0) this.#pair(numbers[at]! - 1, numbers[at + 2]! - 1, 2)
      }
    }
  }

  /**
   * Makes a memory in a window a candidate, unless it neither adds to the score of another nor can be found.
   * @param needsAll whether it is one in any case
   * @returns its number plus 1, or 0
   */
  #numberOf (entry: Entry | undefined, needsAll: boolean): number {
    if (entry === undefined) return 0
    return needsAll || this.ownScoreOf(entry) > 0 || this.#followsQuestion(entry) ? this.add(entry) + 1 : 0
  }

  #followsQuestion (entry: Entry): boolean {
    const before = this.#before(entry)
    return before?.endsAsQuestion === true && this.ownScoreOf(before) > 0
  }

  /** Records two candidates as neighbours with this distance in places. */
  #pair (first: number, second: number, places: 1 | 2): void {
    const { neighbours } = this.#arrays
    neighbours[first * MAX_NEIGHBOURS + 1 + places] = second + 1
    neighbours[second * MAX_NEIGHBOURS + 2 - places] = first + 1
    this.#hasNeighbours = true
  }

  #before (entry: Entry): Entry | undefined {
    const { isLive } = this.#options
    let { before } = this.#neighboursOf(entry)
    for (; before !== undefined && isLive?.(before.memory) === false; before = this.#neighboursOf(before).before);
    return before
  }

  #after (entry: Entry): Entry | undefined {
    const { isLive } = this.#options
    let { after } = this.#neighboursOf(entry)
    for (; after !== undefined && isLive?.(after.memory) === false; after = this.#neighboursOf(after).after);
    return after
  }

  #neighboursOf (entry: Entry): Neighbours {
    return this.#isCommitted ? entry.staged ?? entry : entry
  }

  /**
   * The scores of the candidates with the counts of their neighbours.
   * @param addsOwn whether the own scores are also computed again
   */
  * #scores (norms: LengthNorms, addsOwn: boolean): Steps<Float64Array> {
    const { bank, request, factors, scratch } = this.#options
    const { ownScores, scores, saturation, neighbours, neighbourWeights, withoutDocument } = this.#arrays
    const count = this.entries.length
    for (let candidate = 0; candidate < count; candidate++) {
      if (candidate % CANDIDATES_PER_STEP === CANDIDATES_PER_STEP - 1) yield
      const entry = this.entries[candidate]!
      const length = this.#lengthOf(entry, ownScores[candidate]!)
      saturation[candidate] = norms.saturation(length)
      // It has no counts to add to those of its neighbours.
      if (ownScores[candidate] === 0) continue
      const norm = norms.norm(length)
      // Still above 0, which says that it has a term of the query.
      if (addsOwn) ownScores[candidate] = Number.MIN_VALUE
      const factor = withoutDocument[candidate] === 1 ? WITHOUT_DOCUMENT : 1
      for (let slot = candidate * MAX_NEIGHBOURS; slot < (candidate + 1) * MAX_NEIGHBOURS; slot++) {
        const scored = neighbours[slot]! - 1
        if (scored < 0) continue
        const places = PLACES[slot % MAX_NEIGHBOURS]!
        const weight = neighbourWeight(places, entry.endsAsQuestion, this.entries[scored]!.endsAsQuestion)
        neighbourWeights[slot] = weight * factor / norm
      }
    }
    yield * scoreWithNeighbours(bank.lexical, request.terms, factors.gains, scratch, count, addsOwn)
    for (let candidate = 0; candidate < count; candidate++) {
      if (ownScores[candidate] === 0 && !this.#answersQuestion(candidate)) scores[candidate]! *= WITHOUT_OWN_TERMS
    }
    return scores
  }

  /** The length of the best passage; for a memory without a term of the query, the mean length of its passages. */
  #lengthOf ({ passages, head }: Entry, own: number): number {
    const { lengths } = this.#options.bank.lexical
    if (this.#isUnsplit || passages.length === 1) return lengths[head]!
    if (own > 0) return lengths[this.#options.scratch.best[head]! - 1]!
    let sum = 0
    for (const { lexical } of passages) sum += lengths[lexical!.ordinal]!
    return sum / passages.length
  }
}
