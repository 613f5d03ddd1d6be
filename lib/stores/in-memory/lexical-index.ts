import type { TermWeights } from '../context.js'
import { atOnce, type Steps } from '../../steps.js'
import { LexicalDocument, type Bm25Parameters, type Match } from './lexical-document.js'
import { isWeight, PostingsPool, type Postings } from './postings.js'
import { giveBack, takeScratch, type Scratch } from './scratch.js'
import { SplitMap } from '../split-map.js'
import { TopK } from './top-k.js'

const FIRST_DOCUMENTS = 8
const DEAD_AT_LEAST = 64
const DEAD_SHARE = 0.2
/** Terms of an index that is swept at once. */
const SWEPT_AT_ONCE = 4096
/** Scores that are sorted to find the k-th of them. */
const SORTED_AT_MOST = 2048
/** Postings, or documents, that a search looks at in one piece: some tenths of a millisecond. */
const PIECE = 16_384
/** V8 makes a piece of this many characters a view that keeps the string it was cut from alive. */
const SLICED_FROM = 13

// There are thousands of small banks, and an empty typed array is not free.
const NO_LENGTHS = new Float32Array(0)
const NO_STATES = new Uint8Array(0)

// What a document is, by ordinal; those of the change that is under way apart.
const OUT = 0
const IN = 1
const COMING = 2
const GOING = 3
// Which of these a search finds, as bits: before and after the change is committed.
const FOUND_BEFORE = 1 << IN | 1 << GOING
const FOUND_AFTER = 1 << IN | 1 << COMING

/**
 * An inverted index that ranks documents by BM25 (S. Robertson and H. Zaragoza, "The Probabilistic Relevance
 * Framework: BM25 and Beyond", 2009), with the idf that is never negative, ln(1 + (N - df + 0.5) / (df + 0.5)):
 *
 *     score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average length))
 *
 * A term's weight in a document may have a part that its neighbours lend (../context.ts). A document then has two scores, with that part and
 * by its own words alone; df and lengths are those of own words in both.
 *
 * It is exact at any time: removed documents count neither in N, df nor the average length. A large change is made in pieces that no search
 * sees: `begin`, then `add` and `remove`, `commit`, which is one step and turns all of it visible, with N, df and lengths; then `settle`
 * for each document and `end`. Without `begin`, `add` and `remove` are seen at once.
 */
export class LexicalIndex<T> {
  #vocabulary = new SplitMap<Postings>()
  #pool = new PostingsPool()
  /** By ordinal; undefined where a document was taken out. */
  #documents: Array<LexicalDocument<T> | undefined> = []
  #lengths: Float32Array = NO_LENGTHS
  #states: Uint8Array = NO_STATES
  #found = FOUND_BEFORE
  #isChanging = false
  /** Ordinals that postings may still name, until the next sweep. */
  #dead: number[] = []
  /** Ordinals that no posting names. */
  #free: number[] = []
  #size = 0
  #sizeChange = 0
  #totalLength = 0
  #lengthChange = 0
  #searching = false
  /** Postings of documents that are not taken out. */
  #postings = 0

  /** Documents that are not removed. */
  get size (): number {
    return this.#size + (this.#isCommitted ? this.#sizeChange : 0)
  }

  /** What the index consists of, for an estimate of its bytes. */
  get extent (): { terms: number, postings: number, documents: number } {
    return { terms: this.#vocabulary.size, postings: this.#postings, documents: this.#documents.length }
  }

  /** Whether so much was removed that a sweep is due. */
  get needsSweep (): boolean {
    return this.#dead.length >= DEAD_AT_LEAST && this.#dead.length > (this.#size + this.#dead.length) * DEAD_SHARE
  }

  get #isCommitted (): boolean {
    return this.#found === FOUND_AFTER
  }

  /** What is added and removed from now on is not seen before `commit`. */
  begin (): void {
    this.#isChanging = true
  }

  /** Makes what was added and removed since `begin` visible, all at once. */
  commit (): void {
    this.#found = FOUND_AFTER
  }

  /** To be called, after `commit`, for each document that was added or removed since `begin`. */
  settle (document: LexicalDocument<T>): void {
    const { ordinal, postings, ownTerms } = document
    const added = this.#states[ordinal] === COMING
    for (let i = 0; i < ownTerms; i++) {
      postings[i]!.owners += added ? 1 : -1
      postings[i]!.change -= added ? 1 : -1
    }
    const [size, length] = added ? [1, this.#lengths[ordinal]!] : [-1, -this.#lengths[ordinal]!]
    this.#size += size
    this.#sizeChange -= size
    this.#totalLength += length
    this.#lengthChange -= length
    if (added) this.#states[ordinal] = IN
    else this.#takeOut(document)
  }

  /** To be called when all is settled. */
  end (): void {
    this.#found = FOUND_BEFORE
    this.#isChanging = false
    this.#sizeChange = 0
    this.#lengthChange = 0
    this.#tidy()
  }

  /**
   * @param terms term counts, which may be fractions, or weights of own and lent terms, own ones first; a weight that is not above 0 and finite
   *   is left out
   * @param length what b normalises by, in the same unit for all documents, >= 0
   * @returns the handle by which to remove it
   */
  add (payload: T, terms: ReadonlyMap<string, number | TermWeights>, length: number): LexicalDocument<T> {
    this.#refuseInSearch()
    const ordinal = this.#free.pop() ?? this.#documents.length
    if (ordinal === this.#lengths.length) this.#resize(Math.max(FIRST_DOCUMENTS, ordinal * 2))
    const isChanging = this.#isChanging
    const held: Postings[] = []
    let ownTerms = 0
    for (const [term, count] of terms) {
      // As it will be stored: a count too small for 32 bits would score 0, which `search` takes for "not touched".
      const weight = Math.fround(typeof count === 'number' ? count : count.context)
      if (!isWeight(weight)) continue
      const own = typeof count === 'number' ? weight : Math.fround(count.own)
      const postings = this.#vocabulary.get(term) ?? this.#learn(term)
      this.#pool.push(postings, ordinal, weight, own)
      if (own > 0) {
        ownTerms += 1
        if (isChanging) postings.change += 1
        else postings.owners += 1
      }
      held.push(postings)
    }
    this.#lengths[ordinal] = length
    this.#count(1, this.#lengths[ordinal]!)
    this.#states[ordinal] = isChanging ? COMING : IN
    this.#postings += held.length
    // slice() gives back the room that push() took ahead.
    const document = new LexicalDocument(payload, ordinal, held.slice(), ownTerms)
    this.#documents[ordinal] = document
    return document
  }

  /** Does nothing when the document was removed before or belongs to another index. */
  remove (document: LexicalDocument<T>): void {
    this.#refuseInSearch()
    const { ordinal, postings, ownTerms } = document
    if (this.#documents[ordinal] !== document || this.#states[ordinal] === GOING) return
    this.#count(-1, -this.#lengths[ordinal]!)
    if (this.#isChanging) {
      this.#states[ordinal] = GOING
      for (let i = 0; i < ownTerms; i++) postings[i]!.change -= 1
      return
    }
    for (let i = 0; i < ownTerms; i++) postings[i]!.owners -= 1
    this.#takeOut(document)
    this.#tidy()
  }

  /** Takes what was removed out of the postings of all terms. Nothing may be added or removed meanwhile. */
  * sweep (): Steps<void> {
    for (const postings of this.#vocabulary.values()) {
      this.#pool.sweep(postings, this.#states)
      yield
    }
    for (let ordinal = this.#dead.pop(); ordinal !== undefined; ordinal = this.#dead.pop()) {
      this.#free.push(ordinal)
      yield
    }
  }

  /**
   * Calls `visit` once for each document that has at least one of the terms, with its score (> 0): first the documents
   * of the first term in order of insertion, then those that the second term adds, and so on. A term given twice
   * counts twice.
   * @param visit must not add, remove or search in this index; that throws
   */
  search (terms: readonly string[], parameters: Bm25Parameters, visit: (payload: T, score: number, own: number) => void): void {
    atOnce(this.visit(terms, parameters, visit))
  }

  /** `search` in pieces. When the index changes between them, it is to be begun anew. */
  * visit (terms: readonly string[], parameters: Bm25Parameters, visit: (payload: T, score: number, own: number) => void): Steps<void> {
    this.#refuseInSearch()
    const scratch = takeScratch(this.#documents.length)
    try {
      yield * this.#score(terms, parameters, scratch)
      const { scores, owns, touched, count } = scratch
      for (let from = 0; from < count; from += PIECE) {
        if (from > 0) yield
        const end = Math.min(count, from + PIECE)
        this.#searching = true
        try {
          for (let i = from; i < end; i++) {
            const ordinal = touched[i]!
            if (this.#isFound(ordinal)) visit(this.#documents[ordinal]!.payload, scores[ordinal]!, owns[ordinal]!)
          }
        } finally {
          this.#searching = false
        }
      }
    } finally {
      giveBack(scratch)
    }
  }

  /**
   * The documents with the `k` highest scores, and how many have a score at all. The others are never looked at, which is what
   * makes it several times faster than `search`: their payloads lie scattered in memory, their scores in one array.
   * In pieces, as `visit`.
   * @param comesFirst decides between two documents of equal score; a total order makes the answer independent of history
   * @returns falling
   */
  * best (terms: readonly string[], parameters: Bm25Parameters, k: number, comesFirst: (a: T, b: T) => boolean): Steps<{ found: Array<Match<T>>, total: number }> {
    this.#refuseInSearch()
    const scratch = takeScratch(this.#documents.length)
    try {
      yield * this.#score(terms, parameters, scratch)
      const { scores, touched, count } = scratch
      const compare = (a: number, b: number): number => scores[b]! - scores[a]! ||
        (a === b ? 0 : comesFirst(this.#documents[a]!.payload, this.#documents[b]!.payload) ? -1 : 1)
      if (k > 0 && count > k && count <= SORTED_AT_MOST) return this.#bestOfFew(scratch, k, compare)
      const first = new TopK(k, compare)
      let total = 0
      // What scores below the k-th so far is passed over without a call.
      let bar = 0
      for (let i = 0; i < count; i++) {
        if (i % PIECE === PIECE - 1) yield
        const ordinal = touched[i]!
        if (!this.#isFound(ordinal)) continue
        total++
        if (scores[ordinal]! < bar) continue
        first.offer(ordinal)
        const last = first.bar
        if (last !== undefined) bar = Math.max(bar, scores[last]!)
      }
      return { found: this.#matches(first.sorted(), scratch), total }
    } finally {
      giveBack(scratch)
    }
  }

  /** An upper bound of any document's score for these terms, those in no document included; > 0 when there is a term. */
  attainable (terms: readonly string[], { k1 }: Pick<Bm25Parameters, 'k1'>): number {
    let bound = 0
    for (const term of terms) bound += this.#idf(this.frequency(term))
    return bound * (k1 + 1)
  }

  /** How many documents hold the term themselves. */
  frequency (term: string): number {
    const postings = this.#vocabulary.get(term)
    return postings === undefined ? 0 : this.#ownersOf(postings)
  }

  /** The length that a document was added with. */
  lengthOf (document: LexicalDocument<T>): number {
    return this.#lengths[document.ordinal]!
  }

  #ownersOf ({ owners, change }: Postings): number {
    return this.#isCommitted ? owners + change : owners
  }

  #isFound (ordinal: number): boolean {
    return (this.#found >> this.#states[ordinal]! & 1) === 1
  }

  #count (documents: number, length: number): void {
    if (this.#isChanging) {
      this.#sizeChange += documents
      this.#lengthChange += length
    } else {
      this.#size += documents
      this.#totalLength += length
    }
  }

  /** `best` where few documents have a score: the k-th score is found by sorting numbers, which is quicker than a heap. */
  #bestOfFew (scratch: Scratch, k: number, compare: (a: number, b: number) => number): { found: Array<Match<T>>, total: number } {
    const { scores, touched, count } = scratch
    const sorted = new Float64Array(count)
    let total = 0
    for (let i = 0; i < count; i++) {
      const ordinal = touched[i]!
      if (this.#isFound(ordinal)) sorted[total++] = scores[ordinal]!
    }
    const bar = total < k ? 0 : sorted.subarray(0, total).sort()[total - k]!
    const first: number[] = []
    for (let i = 0; i < count; i++) {
      const ordinal = touched[i]!
      if (scores[ordinal]! >= bar && this.#isFound(ordinal)) first.push(ordinal)
    }
    return { found: this.#matches(first.sort(compare).slice(0, k), scratch), total }
  }

  #matches (ordinals: readonly number[], { scores, owns }: Scratch): Array<Match<T>> {
    return ordinals.map((ordinal) => ({ payload: this.#documents[ordinal]!.payload, score: scores[ordinal]!, own: owns[ordinal]! }))
  }

  /** Leaves the scores and the ordinals that have one in the scratch. */
  * #score (terms: readonly string[], parameters: Bm25Parameters, scratch: Scratch): Steps<void> {
    let left = PIECE
    for (const term of terms) {
      const postings = this.#vocabulary.get(term)
      if (postings === undefined) continue
      for (let from = 0; from < postings.count;) {
        if (left === 0) {
          yield
          left = PIECE
        }
        const end = Math.min(postings.count, from + left)
        this.#scorePart(postings, from, end, parameters, scratch)
        left -= end - from
        from = end
      }
    }
  }

  #idf (frequency: number): number {
    return Math.log(1 + (this.size - frequency + 0.5) / (frequency + 0.5))
  }

  /** Adds a part of the term's postings to every score. */
  #scorePart (postings: Postings, from: number, to: number, parameters: Bm25Parameters, scratch: Scratch): void {
    const { ordinals, weights, owns } = this.#pool.slabOf(postings)
    const { scores, owns: ownScores, touched } = scratch
    const lengths = this.#lengths
    const { gain, flat, perLength } = this.#factors(postings, parameters)
    const place = this.#pool.placeOf(postings)
    const end = place + to
    let after = scratch.count
    for (let i = place + from; i < end; i++) {
      const ordinal = ordinals[i]!
      const weight = weights[i]!
      const score = scores[ordinal]!
      if (score === 0) touched[after++] = ordinal
      const norm = flat + perLength * lengths[ordinal]!
      scores[ordinal] = score + gain * weight / (weight + norm)
      const own = owns[i]!
      // Three of four postings in a conversation are lent.
      if (own > 0) ownScores[ordinal] = ownScores[ordinal]! + gain * own / (own + norm)
    }
    scratch.count = after
  }

  /** What a term adds to a score is gain · weight / (weight + flat + perLength · length). */
  #factors (postings: Postings, { k1, b }: Bm25Parameters): { gain: number, flat: number, perLength: number } {
    const totalLength = this.#totalLength + (this.#isCommitted ? this.#lengthChange : 0)
    return {
      gain: this.#idf(this.#ownersOf(postings)) * (k1 + 1),
      flat: k1 * (1 - b),
      perLength: totalLength > 0 ? k1 * b * this.size / totalLength : 0,
    }
  }

  #learn (term: string): Postings {
    // The key outlives the text it was cut from, so a long one is copied.
    const own = term.length < SLICED_FROM ? term : Buffer.from(term, 'utf16le').toString('utf16le')
    const postings = this.#pool.open(own)
    this.#vocabulary.set(own, postings)
    return postings
  }

  #takeOut ({ ordinal, postings }: LexicalDocument<T>): void {
    this.#documents[ordinal] = undefined
    this.#states[ordinal] = OUT
    this.#dead.push(ordinal)
    this.#postings -= postings.length
    for (const each of postings) {
      each.live -= 1
      if (each.live > 0) continue
      this.#vocabulary.delete(each.term)
      this.#pool.release(each)
    }
  }

  /** Begins anew when nothing is left, and sweeps a small index at once. A large one is for its owner to sweep, in pieces. */
  #tidy (): void {
    if (this.#size === 0) {
      this.#pool = new PostingsPool()
      this.#documents = []
      this.#dead = []
      this.#free = []
      this.#totalLength = 0
      this.#lengths = NO_LENGTHS
      this.#states = NO_STATES
    } else if (this.needsSweep && this.#vocabulary.size <= SWEPT_AT_ONCE && this.#postings <= SWEPT_AT_ONCE * 4) atOnce(this.sweep())
  }

  #resize (capacity: number): void {
    const [lengths, states] = [this.#lengths, this.#states]
    this.#lengths = new Float32Array(capacity)
    this.#lengths.set(lengths)
    this.#states = new Uint8Array(capacity)
    this.#states.set(states)
  }

  #refuseInSearch (): void {
    if (this.#searching) throw new Error('A visit of LexicalIndex.search must not call back into the index')
  }
}
