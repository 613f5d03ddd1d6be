import type { Steps } from '../../concurrency/steps.js'
import { poolSize, toScore } from '../context.js'
import { bestOf, descendingOrder } from '../top-k.js'
import { byMemoryId, type LexicalRequest, type Memory } from '../vector-store.js'
import type { Bank } from './bank.js'
import { isUnexpired, type Accept, type Entry, type PassageRef } from './entry.js'
import { Candidates, type CandidatesOptions } from './lexical-candidates.js'
import { QueryFactors, scoreTerms } from './lexical-scoring.js'
import { releaseScratch, takeScratch, type Scratch } from './lexical-scratch.js'
import { statisticsWithout } from './live-statistics.js'

/** Number of memories that one step processes. */
const MEMORIES_PER_STEP = 1024
const NO_SCORES: LexicalResult['requested'] = new Map()

export type MatchedPassages = Array<{ ref: PassageRef, score: number }>

/** Memories that were found, best first. */
export interface LexicalMatches {
  entries: readonly Entry[]
  scores: readonly number[]
  /** The scores without neighbours. */
  ownScores: readonly number[]
  /** Passages with terms of the query, in no particular order; undefined for a memory of one passage. */
  passages: ReadonlyArray<MatchedPassages | undefined>
}

/** The result of a lexical search of one bank. */
export interface LexicalResult {
  found: LexicalMatches
  total: number
  /** Number of memories in `total` without an embedding; only with `countsUnembedded`. */
  unembedded: number
  /** The scores of the memories in `LexicalSearch.requested`. */
  requested: ReadonlyMap<Entry, { score: number, own: number }>
}

interface LexicalSearch {
  limit: number
  /** Which memories are found. The neighbours of a memory add to its score whether or not they are accepted. */
  accept: Accept
  /** Memories that have expired at this time do not exist for the search, even while they are being removed. */
  now: number
  /** Memories whose scores the caller needs, whether or not they are among the best. */
  requested: readonly Entry[]
  /** Whether `unembedded` is counted. */
  countsUnembedded: boolean
}

/** Searches one bank by the lexical strategy, as lib/stores/context.ts defines it. */
export function * lexicalSearch (bank: Bank, request: LexicalRequest, search: LexicalSearch): Steps<LexicalResult> {
  const { now } = search
  const hasExpired = now >= bank.entries.nextExpiry
  const statistics = hasExpired ? yield * statisticsWithout(bank, now, request.terms) : bank.lexical
  const factors = new QueryFactors(statistics, request)
  const scratch = takeScratch(bank.lexical.capacity)
  try {
    yield * scoreTerms(bank.lexical, request.terms, factors, scratch)
    const isLive = hasExpired ? (memory: Memory) => isUnexpired(memory, now) : undefined
    const needsAll = search.requested.length > 0
    return yield * new Search({ bank, request, factors, scratch, isLive, needsAll }, search).run()
  } finally {
    releaseScratch(scratch)
  }
}

class Search {
  readonly #bank: Bank
  readonly #options: CandidatesOptions
  readonly #search: LexicalSearch
  readonly #factors: QueryFactors
  readonly #scratch: Scratch

  constructor (options: CandidatesOptions, search: LexicalSearch) {
    this.#bank = options.bank
    this.#options = options
    this.#search = search
    this.#factors = options.factors
    this.#scratch = options.scratch
  }

  * run (): Steps<LexicalResult> {
    const { requested } = this.#search
    const matches = yield * this.#matches()
    const { pool, total, unembedded } = yield * this.#choosePool(matches)
    const candidates = new Candidates(this.#options, pool.length)
    for (const ordinal of pool) candidates.add(this.#bank.lexical.payloadAt(ordinal))
    const scores = this.#options.request.context ? yield * candidates.scoreInContext() : candidates.ownScores
    const best = yield * this.#best(candidates, scores)
    const requestedScores = requested.length === 0
      ? NO_SCORES
      : new Map(requested.map((entry) => {
        const own = this.#normalize(candidates.ownScoreOf(entry))
        return [entry, { score: this.#normalize(candidates.scoreOf(entry, scores)), own }]
      }))
    return {
      found: best.found,
      total: total + best.byContext,
      unembedded: unembedded + best.unembeddedByContext,
      requested: requestedScores,
    }
  }

  /** The ordinal of the best passage of each memory that has a term of the query. */
  * #matches (): Steps<Uint32Array> {
    const { lexical, isUnsplit } = this.#bank
    const { scores, scoredOrdinals, count, best, heads: memories, matches } = this.#scratch
    if (isUnsplit) {
      let found = 0
      for (let i = 0; i < count; i++) {
        if (i % MEMORIES_PER_STEP === MEMORIES_PER_STEP - 1) yield
        if (lexical.isVisible(scoredOrdinals[i]!)) matches[found++] = scoredOrdinals[i]!
      }
      return matches.subarray(0, found)
    }
    const { heads } = lexical
    for (let i = 0; i < count; i++) {
      if (i % MEMORIES_PER_STEP === MEMORIES_PER_STEP - 1) yield
      const ordinal = scoredOrdinals[i]!
      if (!lexical.isVisible(ordinal)) continue
      const head = heads[ordinal]!
      const known = best[head]!
      if (known === 0) memories[this.#scratch.headCount++] = head
      else if (!this.#isBetter(ordinal, known - 1, scores)) continue
      best[head] = ordinal + 1
    }
    const { headCount } = this.#scratch
    for (let at = 0; at < headCount; at++) matches[at] = best[memories[at]!]! - 1
    return matches.subarray(0, headCount)
  }

  /** Whether a passage is better than another of the same memory. */
  #isBetter (ordinal: number, other: number, scores: Float64Array): boolean {
    const [score, known] = [this.#normalize(scores[ordinal]!), this.#normalize(scores[other]!)]
    return score > known || (score === known && this.#startOf(ordinal) < this.#startOf(other))
  }

  #startOf (ordinal: number): number {
    return this.#bank.lexical.payloadAt(ordinal).passages.find(({ lexical }) => lexical!.ordinal === ordinal)!.start
  }

  /** The pool, by the ordinals of the best passages. */
  * #choosePool (matches: Uint32Array): Steps<{ pool: readonly number[], total: number, unembedded: number }> {
    const { limit, accept, countsUnembedded } = this.#search
    const { isLive } = this.#options
    const { lexical, embeddedCount, size } = this.#bank
    const isCounting = countsUnembedded && embeddedCount < size
    if (accept === undefined && isLive === undefined && !isCounting) {
      return { pool: yield * this.#bestMatches(matches, limit), total: matches.length, unembedded: 0 }
    }
    let [live, passing, unembedded] = [0, 0, 0]
    const [all, accepted] = [new Uint32Array(matches.length), new Uint32Array(matches.length)]
    for (let i = 0; i < matches.length; i++) {
      if (i % MEMORIES_PER_STEP === MEMORIES_PER_STEP - 1) yield
      const entry = lexical.payloadAt(matches[i]!)
      if (isLive !== undefined && !isLive(entry.memory)) continue
      all[live++] = matches[i]!
      if (accept !== undefined && !accept(entry.memory)) continue
      accepted[passing++] = matches[i]!
      if (isCounting && !entry.isEmbedded) unembedded++
    }
    const pool = yield * this.#bestMatches(all.subarray(0, live), limit)
    const narrowed = accept === undefined ? [] : yield * this.#bestMatches(accepted.subarray(0, passing), limit)
    return { pool: [...pool, ...narrowed], total: passing, unembedded }
  }

  /** The `poolSize` best by own score, in no particular order. */
  * #bestMatches (ordinals: Uint32Array, limit: number): Steps<number[]> {
    const { heads } = this.#bank.lexical
    const { scores, matchScores: numbers } = this.#scratch
    for (let i = 0; i < ordinals.length; i++) numbers[i] = scores[ordinals[i]!]!
    const best = yield * bestOf(numbers, ordinals.length, poolSize(limit), this.#roundingTolerance, (a, b) => (
      this.#normalize(numbers[b]!) - this.#normalize(numbers[a]!) ||
      this.#compareHeads(heads[ordinals[a]!]!, heads[ordinals[b]!]!)
    ))
    return best.map((index) => ordinals[index]!)
  }

  /**
   * Compares memory ids. Ordinals are mostly in the same order, and comparing them avoids reading ids scattered in
   * memory.
   */
  #compareHeads (a: number, b: number): number {
    const { lexical, isInOrder } = this.#bank
    return isInOrder ? a - b : byMemoryId(lexical.payloadAt(a), lexical.payloadAt(b))
  }

  /** Scores that differ by at most this much may be equal after rounding. */
  get #roundingTolerance (): number {
    return this.#factors.maxScore * 2e-12
  }

  #normalize (score: number): number {
    return score === 0 ? 0 : toScore(score / this.#factors.maxScore)
  }

  /** The best candidates, and the number of those that match only by the terms of their neighbours. */
  * #best (
    all: Candidates, scores: Float64Array,
  ): Steps<{ found: LexicalMatches, byContext: number, unembeddedByContext: number }> {
    const { limit, accept, countsUnembedded } = this.#search
    const { entries, ownScores, heads } = all
    const candidates: number[] = []
    let [byContext, unembeddedByContext] = [0, 0]
    for (let candidate = 0; candidate < entries.length; candidate++) {
      if (candidate % MEMORIES_PER_STEP === MEMORIES_PER_STEP - 1) yield
      if (scores[candidate] === 0 || accept?.(entries[candidate]!.memory) === false) continue
      const hasTerm = ownScores[candidate] !== 0
      if (!hasTerm && !all.isFoundByContext(candidate)) continue
      candidates.push(candidate)
      if (hasTerm) continue
      byContext++
      if (countsUnembedded && !entries[candidate]!.isEmbedded) unembeddedByContext++
    }
    const shares = this.#scratch.matchScores
    for (let at = 0; at < candidates.length; at++) shares[at] = this.#normalize(scores[candidates[at]!]!)
    const compareEqual = (a: number, b: number) => this.#compareHeads(heads[candidates[a]!]!, heads[candidates[b]!]!)
    const best = yield * bestOf(shares, candidates.length, limit, 0, compareEqual)
    const order = descendingOrder(best, shares, compareEqual)
    const found = this.#columns(order.map((place) => candidates[place]!), all, scores)
    return { found, byContext, unembeddedByContext }
  }

  /** @param ordered candidates, best first */
  #columns (ordered: readonly number[], { entries, ownScores }: Candidates, scores: Float64Array): LexicalMatches {
    const found = {
      entries: ordered.map((candidate) => entries[candidate]!),
      scores: ordered.map((candidate) => this.#normalize(scores[candidate]!)),
      ownScores: ordered.map((candidate) => this.#normalize(ownScores[candidate]!)),
      passages: [] as Array<MatchedPassages | undefined>,
    }
    if (!this.#bank.isUnsplit) {
      found.passages = found.entries.map((entry, place) => this.#passagesOf(entry, found.scores[place]!))
    }
    return found
  }

  #passagesOf ({ passages }: Entry, score: number): MatchedPassages | undefined {
    if (passages.length === 1) return undefined
    const matching = passages
      .map((ref) => ({ ref, score: this.#normalize(this.#scratch.scores[ref.lexical!.ordinal]!) }))
      .filter((passage) => passage.score > 0)
    return matching.length > 0 ? matching : [{ ref: passages[0]!, score }]
  }
}
