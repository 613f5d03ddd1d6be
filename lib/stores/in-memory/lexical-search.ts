import type { Steps } from '../../concurrency/steps.js'
import { poolSize, REACH, shareOf, toScore } from '../context.js'
import type { LexicalRequest, Memory } from '../vector-store.js'
import type { Bank } from './bank.js'
import { bestOf } from './best-of.js'
import { byMemoryId, type Entry, type Neighbours, type PassageRef } from './entry.js'
import { NEAR, QueryFactors, scoreLending, scoreTerms, type Lending } from './lexical-scoring.js'
import { giveBack, takeScratch, type Scratch } from './scratch.js'

/** Memories that are looked at in one piece. */
const PIECE = 1024
/** Places from each of the NEAR that borrow of a memory to that memory: first those for whom it comes behind. */
const PLACES = [2, 1, -1, -2] as const

/** Whether a memory is to be found; undefined when all are. */
export type Accept = ((memory: Memory) => boolean) | undefined

export interface LexicalMatch {
  entry: Entry
  score: number
  /** By its own words alone. */
  own: number
  /** Passages with words of the query, in no order; undefined for a memory that has only one. */
  passages: Array<{ ref: PassageRef, score: number }> | undefined
}

/** What a lexical search of one bank comes to. */
export interface LexicalResult {
  /** The best, falling. */
  found: LexicalMatch[]
  total: number
  /** How many of them have no embedding. */
  unembedded: number
  /** The scores of those that were wanted. */
  wanted: ReadonlyMap<Entry, { score: number, own: number }>
}

export interface LexicalSearch {
  limit: number
  /** What is found; lenders need not be accepted. */
  accept: Accept
  /** What counts at all; undefined when everything in the bank does. */
  isLive: Accept
  /** Memories whose scores are told whatever they are. */
  wanted: readonly Entry[]
  /** Whether it is told how many have no embedding. */
  countsUnembedded: boolean
}

/** The lexical strategy over one bank, as lib/stores/context.ts has it. */
export function * lexicalSearch (bank: Bank, request: LexicalRequest, search: LexicalSearch): Steps<LexicalResult> {
  const scratch = takeScratch(bank.lexical.capacity)
  try {
    const factors = new QueryFactors(bank.lexical, request)
    yield * scoreTerms(bank.lexical, request.terms, factors, scratch)
    return yield * new Search(bank, request, search, factors, scratch).run()
  } finally {
    giveBack(scratch)
  }
}

class Search {
  readonly #bank: Bank
  readonly #request: LexicalRequest
  readonly #search: LexicalSearch
  readonly #factors: QueryFactors
  readonly #scratch: Scratch
  readonly #isUnsplit: boolean
  readonly #isCommitted: boolean
  #entries: Entry[] = []
  // By candidate: its score by own words, not yet a share, and NEAR numbers of neighbours, + 1.
  #owns: Float64Array = new Float64Array(0)
  #near: Int32Array = new Int32Array(0)

  constructor (bank: Bank, request: LexicalRequest, search: LexicalSearch, factors: QueryFactors, scratch: Scratch) {
    this.#bank = bank
    this.#request = request
    this.#search = search
    this.#factors = factors
    this.#scratch = scratch
    this.#isUnsplit = bank.isUnsplit
    this.#isCommitted = bank.isCommitted
  }

  * run (): Steps<LexicalResult> {
    const { wanted } = this.#search
    const matches = yield * this.#matches()
    const { pool, total, unembedded } = yield * this.#choose(matches)
    const most = pool.length * (this.#request.context ? 1 + 2 * REACH : 1)
    this.#owns = new Float64Array(most)
    this.#near = new Int32Array(most * NEAR)
    for (const ordinal of pool) this.#place(this.#bank.lexical.payloadAt(ordinal).entry)
    let scores: Float64Array = this.#owns
    if (this.#request.context) {
      yield * this.#openWindows()
      scores = yield * this.#lend()
    }
    const { found, near, unembeddedNear } = yield * this.#best(scores)
    const asked = new Map(wanted.map((entry) => {
      const own = this.#share(this.#ownScore(entry))
      const place = this.#scratch.places[entry.head]!
      return [entry, { score: place === 0 ? own : this.#share(scores[Math.abs(place) - 1]!), own }]
    }))
    return { found, total: total + near, unembedded: unembedded + unembeddedNear, wanted: asked }
  }

  /** For each memory that has a term, the ordinal of its best passage. */
  * #matches (): Steps<Uint32Array> {
    const { lexical, isUnsplit } = this.#bank
    const { scores, touched, count, best, heads: memories } = this.#scratch
    if (isUnsplit) {
      let found = 0
      const matches = new Uint32Array(count)
      for (let i = 0; i < count; i++) {
        if (i % PIECE === PIECE - 1) yield
        if (lexical.isFound(touched[i]!)) matches[found++] = touched[i]!
      }
      return matches.subarray(0, found)
    }
    const { heads } = lexical
    for (let i = 0; i < count; i++) {
      if (i % PIECE === PIECE - 1) yield
      const ordinal = touched[i]!
      if (!lexical.isFound(ordinal)) continue
      const head = heads[ordinal]!
      const known = best[head]!
      if (known === 0) memories[this.#scratch.headCount++] = head
      else if (!this.#isBetter(ordinal, known - 1, scores)) continue
      best[head] = ordinal + 1
    }
    return memories.slice(0, this.#scratch.headCount).map((head) => best[head]! - 1)
  }

  /** Whether a passage stands in for its memory rather than another one of it. */
  #isBetter (ordinal: number, other: number, scores: Float64Array): boolean {
    const [score, known] = [this.#share(scores[ordinal]!), this.#share(scores[other]!)]
    const { lexical } = this.#bank
    return score > known || (score === known && lexical.payloadAt(ordinal).start < lexical.payloadAt(other).start)
  }

  /** The pool, by the ordinals of the best passages. */
  * #choose (matches: Uint32Array): Steps<{ pool: readonly number[], total: number, unembedded: number }> {
    const { limit, accept, isLive, countsUnembedded } = this.#search
    const { lexical, embeddedCount, size } = this.#bank
    const isCounting = countsUnembedded && embeddedCount < size
    if (accept === undefined && isLive === undefined && !isCounting) {
      return { pool: yield * this.#first(matches, limit), total: matches.length, unembedded: 0 }
    }
    let [live, passing, unembedded] = [0, 0, 0]
    const [all, accepted] = [new Uint32Array(matches.length), new Uint32Array(matches.length)]
    for (let i = 0; i < matches.length; i++) {
      if (i % PIECE === PIECE - 1) yield
      const { entry } = lexical.payloadAt(matches[i]!)
      if (isLive !== undefined && !isLive(entry.memory)) continue
      all[live++] = matches[i]!
      if (accept !== undefined && !accept(entry.memory)) continue
      accepted[passing++] = matches[i]!
      if (isCounting && !entry.isEmbedded) unembedded++
    }
    const pool = yield * this.#first(all.subarray(0, live), limit)
    const narrowed = accept === undefined ? [] : yield * this.#first(accepted.subarray(0, passing), limit)
    return { pool: [...pool, ...narrowed], total: passing, unembedded }
  }

  /** The best by own words, in no order. */
  * #first (ordinals: Uint32Array, limit: number): Steps<number[]> {
    const { heads } = this.#bank.lexical
    const { scores } = this.#scratch
    const numbers = new Float64Array(ordinals.length)
    for (let i = 0; i < ordinals.length; i++) numbers[i] = scores[ordinals[i]!]!
    const best = yield * bestOf(numbers, numbers.length, poolSize(limit), this.#slack, (a, b) => (
      this.#share(numbers[b]!) - this.#share(numbers[a]!) ||
      this.#compareHeads(heads[ordinals[a]!]!, heads[ordinals[b]!]!)
    ))
    return best.map((index) => ordinals[index]!)
  }

  /** Memories by their ids: as a rule their places in the index are in that order, and ids lie scattered in memory. */
  #compareHeads (a: number, b: number): number {
    const { lexical, isInOrder } = this.#bank
    return isInOrder ? a - b : byMemoryId(lexical.payloadAt(a).entry, lexical.payloadAt(b).entry)
  }

  /** Scores no farther apart may be the same share. */
  get #slack (): number {
    return this.#factors.attainable * 2e-12
  }

  #share (score: number): number {
    return score === 0 ? 0 : toScore(score / this.#factors.attainable)
  }

  /** The number of a candidate, which it is made when it is none. */
  #place (entry: Entry): number {
    const { places, placed } = this.#scratch
    const { head } = entry
    const known = places[head]!
    if (known !== 0) return Math.abs(known) - 1
    const number = this.#entries.push(entry) - 1
    const ordinal = this.#bestPassage(entry)
    this.#owns[number] = this.#ownScore(entry)
    // The counts that belong to a place are those of the best passage.
    places[head] = ordinal === head ? number + 1 : -number - 1
    placed.push(head)
    if (ordinal >= 0 && ordinal !== head) {
      places[ordinal] = number + 1
      placed.push(ordinal)
    }
    return number
  }

  /** The ordinal of the best passage; below 0 for a memory of several without a term. */
  #bestPassage ({ head, passages }: Entry): number {
    return this.#isUnsplit || passages.length === 1 ? head : this.#scratch.best[head]! - 1
  }

  /** By own words, not yet a share. */
  #ownScore (entry: Entry): number {
    const ordinal = this.#bestPassage(entry)
    return ordinal < 0 ? 0 : this.#scratch.scores[ordinal]!
  }

  /** Brings the neighbours of the pool in. */
  * #openWindows (): Steps<void> {
    const pool = this.#entries.length
    for (let member = 0; member < pool; member++) {
      if (member % (PIECE / 4) === PIECE / 4 - 1) yield
      const entry = this.#entries[member]!
      const before = this.#before(entry)
      const behind = this.#behind(entry)
      if (before !== undefined) {
        const one = this.#place(before)
        this.#pair(one, member, 1)
        if (behind !== undefined) this.#pair(one, this.#place(behind), 2)
        const second = this.#before(before)
        if (second !== undefined) {
          const two = this.#place(second)
          this.#pair(two, one, 1)
          this.#pair(two, member, 2)
        }
      }
      if (behind !== undefined) {
        const one = this.#place(behind)
        this.#pair(member, one, 1)
        const second = this.#behind(behind)
        if (second !== undefined) {
          const two = this.#place(second)
          this.#pair(one, two, 1)
          this.#pair(member, two, 2)
        }
      }
    }
  }

  /** Notes that two candidates stand so many places apart and lend each other. */
  #pair (first: number, second: number, places: 1 | 2): void {
    this.#near[first * NEAR + 1 + places] = second + 1
    this.#near[second * NEAR + 2 - places] = first + 1
  }

  #before (entry: Entry): Entry | undefined {
    const { isLive } = this.#search
    let { before } = this.#neighbours(entry)
    for (; before !== undefined && isLive?.(before.memory) === false; before = this.#neighbours(before).before);
    return before
  }

  #behind (entry: Entry): Entry | undefined {
    const { isLive } = this.#search
    let { behind } = this.#neighbours(entry)
    for (; behind !== undefined && isLive?.(behind.memory) === false; behind = this.#neighbours(behind).behind);
    return behind
  }

  #neighbours (entry: Entry): Neighbours {
    return this.#isCommitted ? entry.staged ?? entry : entry
  }

  /** The scores of the candidates with what they are lent. */
  * #lend (): Steps<Float64Array> {
    const count = this.#entries.length
    const shares = new Float64Array(count * NEAR)
    const against = new Float64Array(count)
    for (let candidate = 0; candidate < count; candidate++) {
      if (candidate % PIECE === PIECE - 1) yield
      const entry = this.#entries[candidate]!
      const length = this.#lengthOf(entry, this.#owns[candidate]!)
      against[candidate] = this.#factors.against(length)
      if (this.#owns[candidate] === 0) continue
      const norm = this.#factors.norm(length)
      for (let slot = 0; slot < NEAR; slot++) {
        const borrower = this.#near[candidate * NEAR + slot]! - 1
        if (borrower < 0) continue
        const share = shareOf(PLACES[slot]!, entry.question, this.#entries[borrower]!.question)
        shares[candidate * NEAR + slot] = share / norm
      }
    }
    const lending: Lending = { against, borrowers: this.#near, shares, scores: new Float64Array(count) }
    yield * scoreLending(this.#bank.lexical, this.#request.terms, this.#factors, lending, this.#scratch)
    return lending.scores
  }

  /** That of the best passage; of a memory without a term, the mean. */
  #lengthOf ({ passages, head }: Entry, own: number): number {
    const { lengths } = this.#bank.lexical
    if (this.#isUnsplit || passages.length === 1) return lengths[head]!
    if (own > 0) return lengths[this.#scratch.best[head]! - 1]!
    let sum = 0
    for (const { lexical } of passages) sum += lengths[lexical!.ordinal]!
    return sum / passages.length
  }

  /** The best candidates, and how many only their neighbours' words find. */
  * #best (scores: Float64Array): Steps<{ found: LexicalMatch[], near: number, unembeddedNear: number }> {
    const { limit, accept } = this.#search
    const candidates: number[] = []
    let [near, unembeddedNear] = [0, 0]
    for (let candidate = 0; candidate < this.#entries.length; candidate++) {
      if (candidate % PIECE === PIECE - 1) yield
      const entry = this.#entries[candidate]!
      if (scores[candidate] === 0 || accept?.(entry.memory) === false) continue
      candidates.push(candidate)
      if (this.#owns[candidate] !== 0) continue
      near++
      if (!entry.isEmbedded) unembeddedNear++
    }
    const numbers = Float64Array.from(candidates, (candidate) => scores[candidate]!)
    const headOf = (index: number) => this.#entries[candidates[index]!]!.head
    const shares = numbers.map((score) => this.#share(score))
    const compare = (a: number, b: number) => shares[b]! - shares[a]! || this.#compareHeads(headOf(a), headOf(b))
    const best = yield * bestOf(numbers, numbers.length, limit, this.#slack, compare)
    const found = best.sort(compare).map((index) => {
      const candidate = candidates[index]!
      const entry = this.#entries[candidate]!
      const score = shares[index]!
      return { entry, score, own: this.#share(this.#owns[candidate]!), passages: this.#passagesOf(entry, score) }
    })
    return { found, near, unembeddedNear }
  }

  #passagesOf ({ passages }: Entry, score: number): LexicalMatch['passages'] {
    if (passages.length === 1) return undefined
    const { scores } = this.#scratch
    const matching = passages
      .map((ref) => ({ ref, score: this.#share(scores[ref.lexical!.ordinal]!) }))
      .filter((passage) => passage.score > 0)
    return matching.length > 0 ? matching : [{ ref: passages[0]!, score }]
  }
}
