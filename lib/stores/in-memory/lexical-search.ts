import type { Steps } from '../../steps.js'
import { poolSize, REACH, shareOf, toScore } from '../context.js'
import type { LexicalRequest, Memory } from '../vector-store.js'
import type { Bank } from './bank.js'
import { bestOf } from './best-of.js'
import { compareText, type Entry, type PassageRef } from './entry.js'
import { NEAR, QueryFactors, scoreLending, scoreTerms, type Lending } from './lexical-scoring.js'
import { giveBack, takeScratch, type Scratch } from './scratch.js'

/** Memories that are looked at in one piece. */
const PIECE = 1024
/** Where a neighbour's number stands among NEAR, by its place: two before, one before, one behind, two behind. */
const SLOTS: Readonly<Record<number, number>> = { [-2]: 0, [-1]: 1, 1: 2, 2: 3 }

/** Whether a memory is to be found; undefined when all are. */
export type Accept = ((memory: Memory) => boolean) | undefined

export interface LexicalFind {
  entry: Entry
  score: number
  /** By its own words alone. */
  own: number
  /** Passages with words of the query, in no order; undefined for a memory that has only one. */
  passages: Array<{ ref: PassageRef, score: number }> | undefined
}

/** What a lexical search of one bank comes to. */
export interface ByWords {
  /** The best, falling. */
  found: LexicalFind[]
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
  /** Memories that are looked at whatever their words. */
  wanted: readonly Entry[]
  /** Whether it is told how many have no embedding. */
  countsUnembedded: boolean
}

/** The lexical strategy over one bank, as lib/stores/context.ts has it. */
export function * lexicalSearch (bank: Bank, request: LexicalRequest, search: LexicalSearch): Steps<ByWords> {
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
  readonly #entries: Entry[] = []
  /** By candidate, its score by own words, not yet a share. */
  readonly #owns: number[] = []
  /** NEAR for each candidate: the number of a neighbour, + 1. */
  #near: number[] = []

  constructor (bank: Bank, request: LexicalRequest, search: LexicalSearch, factors: QueryFactors, scratch: Scratch) {
    this.#bank = bank
    this.#request = request
    this.#search = search
    this.#factors = factors
    this.#scratch = scratch
  }

  * run (): Steps<ByWords> {
    const matches = yield * this.#matches()
    const { pool, total, unembedded } = yield * this.#choose(matches)
    for (const ordinal of pool) this.#place(this.#bank.lexical.payloadAt(ordinal).entry)
    for (const entry of this.#search.wanted) this.#place(entry)
    let scores = this.#owns
    if (this.#request.context) {
      yield * this.#openWindows()
      scores = [...yield * this.#lend()]
    }
    const found = yield * this.#best(scores)
    const wanted = new Map(this.#search.wanted.map((entry) => {
      const candidate = this.#place(entry)
      return [entry, { score: this.#share(scores[candidate]!), own: this.#share(this.#owns[candidate]!) }]
    }))
    return { found, total, unembedded, wanted }
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

  /** The pool but for what is wanted, by the ordinals of the best passages. */
  * #choose (matches: Uint32Array): Steps<{ pool: Iterable<number>, total: number, unembedded: number }> {
    const { limit, accept, isLive, countsUnembedded } = this.#search
    const { lexical, embeddedCount, size } = this.#bank
    const isCounting = countsUnembedded && embeddedCount < size
    if (accept === undefined && isLive === undefined && !isCounting) return { pool: yield * this.#first(matches, limit), total: matches.length, unembedded: 0 }
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
    const { lexical } = this.#bank
    const { scores } = this.#scratch
    const numbers = new Float64Array(ordinals.length)
    for (let i = 0; i < ordinals.length; i++) numbers[i] = scores[ordinals[i]!]!
    const idOf = (index: number) => lexical.payloadAt(ordinals[index]!).entry.memory.memoryId
    const best = yield * bestOf(numbers, numbers.length, poolSize(limit), this.#slack, (a, b) => (
      this.#share(numbers[b]!) - this.#share(numbers[a]!) || compareText(idOf(a), idOf(b))
    ))
    return best.map((index) => ordinals[index]!)
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
    const { places, placed, best, scores } = this.#scratch
    const head = entry.passages[0]!.lexical!.ordinal
    const known = places[head]!
    if (known !== 0) return Math.abs(known) - 1
    const number = this.#entries.push(entry) - 1
    const ordinal = entry.passages.length === 1 ? head : best[head]! - 1
    this.#owns.push(ordinal < 0 ? 0 : scores[ordinal]!)
    this.#near.push(0, 0, 0, 0)
    // The counts that belong to a place are those of the best passage.
    places[head] = ordinal === head ? number + 1 : -number - 1
    placed.push(head)
    if (ordinal >= 0 && ordinal !== head) {
      places[ordinal] = number + 1
      placed.push(ordinal)
    }
    return number
  }

  /** Brings the neighbours of the pool in. */
  * #openWindows (): Steps<void> {
    const pool = this.#entries.length
    for (let member = 0; member < pool; member++) {
      if (member % (PIECE / 4) === PIECE / 4 - 1) yield
      const entry = this.#entries[member]!
      if (entry.memory.documentId === null) continue
      const window = [member]
      for (let other = this.#beside(entry, 'before'); other !== undefined && window.length <= REACH; other = this.#beside(other, 'before')) window.unshift(this.#place(other))
      const before = window.length
      for (let other = this.#beside(entry, 'behind'); other !== undefined && window.length < before + REACH; other = this.#beside(other, 'behind')) window.push(this.#place(other))
      for (let i = 0; i < window.length; i++) {
        for (let places = 1; places <= REACH && i + places < window.length; places++) {
          this.#near[window[i]! * NEAR + SLOTS[places]!] = window[i + places]! + 1
          this.#near[window[i + places]! * NEAR + SLOTS[-places]!] = window[i]! + 1
        }
      }
    }
  }

  #beside (entry: Entry, side: 'before' | 'behind'): Entry | undefined {
    const { isLive } = this.#search
    for (let other = this.#bank.neighbours(entry)[side]; other !== undefined; other = this.#bank.neighbours(other)[side]) {
      if (isLive === undefined || isLive(other.memory)) return other
    }
    return undefined
  }

  /** The scores of the candidates with what they are lent. */
  * #lend (): Steps<Float64Array> {
    const count = this.#entries.length
    const lending: Lending = { against: new Float64Array(count), borrowers: Int32Array.from(this.#near), shares: new Float64Array(count * NEAR), scores: new Float64Array(count) }
    for (let candidate = 0; candidate < count; candidate++) {
      if (candidate % PIECE === PIECE - 1) yield
      const entry = this.#entries[candidate]!
      lending.against[candidate] = this.#factors.against(this.#lengthOf(entry, this.#owns[candidate]!))
      if (this.#owns[candidate] === 0) continue
      const norm = this.#factors.norm(this.#lengthOf(entry, this.#owns[candidate]!))
      for (const [places, slot] of PLACES) {
        const borrower = this.#near[candidate * NEAR + slot]! - 1
        // As the borrower sees it, the lender stands on the other side.
        if (borrower >= 0) lending.shares[candidate * NEAR + slot] = shareOf(-places, entry.question, this.#entries[borrower]!.question) / norm
      }
    }
    yield * scoreLending(this.#bank.lexical, this.#request.terms, this.#factors, lending, this.#scratch)
    return lending.scores
  }

  /** That of the best passage; of a memory without a term, the mean. */
  #lengthOf ({ passages }: Entry, own: number): number {
    const { lengths } = this.#bank.lexical
    const head = passages[0]!.lexical!.ordinal
    if (passages.length === 1) return lengths[head]!
    if (own > 0) return lengths[this.#scratch.best[head]! - 1]!
    let sum = 0
    for (const { lexical } of passages) sum += lengths[lexical!.ordinal]!
    return sum / passages.length
  }

  * #best (scores: ArrayLike<number>): Steps<LexicalFind[]> {
    const { limit, accept } = this.#search
    const candidates: number[] = []
    for (let candidate = 0; candidate < this.#entries.length; candidate++) {
      if (candidate % PIECE === PIECE - 1) yield
      if (scores[candidate]! > 0 && (accept === undefined || accept(this.#entries[candidate]!.memory))) candidates.push(candidate)
    }
    const numbers = Float64Array.from(candidates, (candidate) => scores[candidate]!)
    const idOf = (index: number) => this.#entries[candidates[index]!]!.memory.memoryId
    const best = yield * bestOf(numbers, numbers.length, limit, this.#slack, (a, b) => this.#share(numbers[b]!) - this.#share(numbers[a]!) || compareText(idOf(a), idOf(b)))
    const found = best.map((index): LexicalFind => {
      const candidate = candidates[index]!
      const entry = this.#entries[candidate]!
      const score = this.#share(numbers[index]!)
      return { entry, score, own: this.#share(this.#owns[candidate]!), passages: this.#passagesOf(entry, score) }
    })
    return found.sort((a, b) => b.score - a.score || compareText(a.entry.memory.memoryId, b.entry.memory.memoryId))
  }

  #passagesOf ({ passages }: Entry, score: number): LexicalFind['passages'] {
    if (passages.length === 1) return undefined
    const { scores } = this.#scratch
    const matching = passages.map((ref) => ({ ref, score: this.#share(scores[ref.lexical!.ordinal]!) })).filter((passage) => passage.score > 0)
    return matching.length > 0 ? matching : [{ ref: passages[0]!, score }]
  }
}

const PLACES = Object.entries(SLOTS).map(([places, slot]) => [Number(places), slot] as const)
