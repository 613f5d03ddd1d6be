import type { TermWeights } from '../context.js'
import { GONE, PostingsPool, type Postings } from './postings.js'
import { TopK } from './top-k.js'

const FIRST_DOCUMENTS = 8
const DEAD_AT_LEAST = 64
const DEAD_SHARE = 0.2
/** Scores that are sorted to find the k-th of them. */
const SORTED_AT_MOST = 2048
/** V8 makes a piece of this many characters a view that keeps the string it was cut from alive. */
const SLICED_FROM = 13

// There are thousands of small banks, and an empty typed array is not free.
const NO_LENGTHS = new Float32Array(0)
const NO_SCORES = new Float64Array(0)
const NO_ORDINALS = new Uint32Array(0)

/** The free parameters of BM25; a query brings its own, for nothing in the index depends on them. */
export interface Bm25Parameters {
  /** How soon more of the same term stops counting, >= 0. */
  readonly k1: number
  /** How much a document pays for its length, 0 (nothing) to 1 (in proportion). */
  readonly b: number
}

/** A document in the index: the handle by which it is removed. Only `payload` is for callers. */
export class LexicalDocument<T> {
  constructor (
    readonly payload: T,
    /** @internal Its place in the index, moved by compaction. */
    public ordinal: number,
    /** @internal One for each of its terms, its own ones first. */
    readonly postings: readonly Postings[],
    /** @internal How many of them are its own. */
    readonly ownTerms: number,
  ) {}
}

/**
 * An inverted index that ranks documents by BM25 (S. Robertson and H. Zaragoza, "The Probabilistic Relevance
 * Framework: BM25 and Beyond", 2009), with the idf that is never negative, ln(1 + (N - df + 0.5) / (df + 0.5)):
 *
 *     score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average length))
 *
 * A term's weight in a document may have a part that its neighbours lend (../context.ts). A document then has two scores, with that part and
 * by its own words alone; df and lengths are those of own words in both.
 *
 * It is exact at any time: removed documents count neither in N, df nor the average length. All calls are
 * synchronous. Memory of removed documents is taken back when more than a fifth (and at least 64) are dead.
 */
export class LexicalIndex<T> {
  readonly #vocabulary = new Map<string, Postings>()
  readonly #pool = new PostingsPool()
  /** By ordinal, in order of insertion; undefined where a document was removed. */
  #documents: Array<LexicalDocument<T> | undefined> = []
  #lengths: Float32Array = NO_LENGTHS
  #size = 0
  #totalLength = 0
  /** Scratch of `search`, by ordinal: all zero between searches. */
  #scores: Float64Array = NO_SCORES
  /** As `#scores`, by own words alone. */
  #owns: Float64Array = NO_SCORES
  /** Scratch of `search`: ordinals with a score, in the order they got it. */
  #touched: Uint32Array = NO_ORDINALS
  #searching = false

  /** Documents that are not removed. */
  get size (): number {
    return this.#size
  }

  /**
   * @param terms term counts, which may be fractions, or weights of own and lent terms, own ones first; a weight that is not above 0 and finite
   *   is left out
   * @param length what b normalises by, in the same unit for all documents, >= 0
   * @returns the handle by which to remove it
   */
  add (payload: T, terms: ReadonlyMap<string, number | TermWeights>, length: number): LexicalDocument<T> {
    this.#refuseInSearch()
    const ordinal = this.#documents.length
    if (ordinal === this.#lengths.length) this.#resize(Math.max(FIRST_DOCUMENTS, ordinal * 2))
    const held: Postings[] = []
    let ownTerms = 0
    for (const [term, count] of terms) {
      // As it will be stored: a count too small for 32 bits would score 0, which `search` takes for "not touched".
      const weight = Math.fround(typeof count === 'number' ? count : count.context)
      if (!isWeight(weight)) continue
      const own = typeof count === 'number' ? weight : Math.fround(count.own)
      const postings = this.#vocabulary.get(term) ?? this.#learn(term)
      this.#pool.push(postings, ordinal, weight, own)
      if (own > 0) ownTerms += 1
      held.push(postings)
    }
    this.#lengths[ordinal] = length
    this.#totalLength += this.#lengths[ordinal]!
    this.#size += 1
    // slice() gives back the room that push() took ahead.
    const document = new LexicalDocument(payload, ordinal, held.slice(), ownTerms)
    this.#documents.push(document)
    return document
  }

  /** Does nothing when the document was removed before or belongs to another index. */
  remove (document: LexicalDocument<T>): void {
    this.#refuseInSearch()
    const { ordinal } = document
    if (this.#documents[ordinal] !== document) return
    this.#documents[ordinal] = undefined
    this.#size -= 1
    this.#totalLength -= this.#lengths[ordinal]!
    for (const [index, postings] of document.postings.entries()) {
      postings.live -= 1
      if (index < document.ownTerms) postings.owners -= 1
      if (postings.live > 0) continue
      this.#vocabulary.delete(postings.term)
      this.#pool.release(postings)
    }
    const dead = this.#documents.length - this.#size
    if (this.#size === 0 || (dead >= DEAD_AT_LEAST && dead > this.#documents.length * DEAD_SHARE)) this.#compact()
  }

  /**
   * Calls `visit` once for each document that has at least one of the terms, with its score (> 0): first the documents
   * of the first term in order of insertion, then those that the second term adds, and so on. A term given twice
   * counts twice.
   * @param visit must not add, remove or search in this index; that throws
   */
  search (terms: readonly string[], parameters: Bm25Parameters, visit: (payload: T, score: number, own: number) => void): void {
    const touched = this.#scoreAll(terms, parameters)
    this.#searching = true
    let next = 0
    try {
      while (next < touched) {
        const ordinal = this.#touched[next++]!
        const score = this.#scores[ordinal]!
        const own = this.#owns[ordinal]!
        this.#scores[ordinal] = 0
        this.#owns[ordinal] = 0
        const document = this.#documents[ordinal]
        if (document !== undefined) visit(document.payload, score, own)
      }
    } finally {
      // Anything left here means that visit threw.
      while (next < touched) this.#forget(this.#touched[next++]!)
      this.#searching = false
    }
  }

  /**
   * The documents with the `k` highest scores, and how many have a score at all. The others are never looked at, which is what
   * makes it several times faster than `search`: their payloads lie scattered in memory, their scores in one array.
   * @param comesFirst decides between two documents of equal score; a total order makes the answer independent of history
   * @returns falling
   */
  best (terms: readonly string[], parameters: Bm25Parameters, k: number, comesFirst: (a: T, b: T) => boolean): { found: Array<{ payload: T, score: number, own: number }>, total: number } {
    const touched = this.#scoreAll(terms, parameters)
    const scores = this.#scores
    const compare = (a: number, b: number): number => scores[b]! - scores[a]! ||
      (a === b ? 0 : comesFirst(this.#documents[a]!.payload, this.#documents[b]!.payload) ? -1 : 1)
    const first = new TopK(k, compare)
    let total = 0
    // What scores below the k-th so far is passed over without a call. Of a few, the k-th is found by sorting numbers, which is quicker than a heap.
    let bar = k > 0 && touched > k && touched <= SORTED_AT_MOST ? this.#nth(touched, k) : 0
    for (let i = 0; i < touched; i++) {
      const ordinal = this.#touched[i]!
      if (this.#documents[ordinal] === undefined) continue
      total++
      if (scores[ordinal]! < bar) continue
      first.offer(ordinal)
      const last = first.bar
      if (last !== undefined) bar = Math.max(bar, scores[last]!)
    }
    const found = first.sorted().map((ordinal) => ({ payload: this.#documents[ordinal]!.payload, score: scores[ordinal]!, own: this.#owns[ordinal]! }))
    for (let i = 0; i < touched; i++) this.#forget(this.#touched[i]!)
    return { found, total }
  }

  /** An upper bound of any document's score for these terms, those in no document included; > 0 when there is a term. */
  attainable (terms: readonly string[], { k1 }: Pick<Bm25Parameters, 'k1'>): number {
    let bound = 0
    for (const term of terms) bound += this.#idf(this.frequency(term))
    return bound * (k1 + 1)
  }

  /** How many documents hold the term themselves. */
  frequency (term: string): number {
    return this.#vocabulary.get(term)?.owners ?? 0
  }

  /** The length that a document was added with. */
  lengthOf (document: LexicalDocument<T>): number {
    return this.#lengths[document.ordinal]!
  }

  /**
   * A document's scores for these terms, as `search` has them. Slow: it looks for the document in the postings of each term.
   * @returns zeros when it holds none of them
   */
  scoresOf (document: LexicalDocument<T>, terms: readonly string[], parameters: Bm25Parameters): { score: number, own: number } {
    const { ordinals, weights, owns } = this.#pool
    let score = 0
    let own = 0
    for (const term of terms) {
      const postings = this.#vocabulary.get(term)
      if (postings === undefined || !document.postings.includes(postings)) continue
      const at = ordinals.subarray(postings.start, postings.start + postings.count).indexOf(document.ordinal) + postings.start
      const { gain, flat, perLength } = this.#factors(postings, parameters)
      const norm = flat + perLength * this.#lengths[document.ordinal]!
      score += gain * weights[at]! / (weights[at]! + norm)
      own += gain * owns[at]! / (owns[at]! + norm)
    }
    return { score, own }
  }

  /** The k-th highest of the first scores, those of removed documents left aside; 0 when there are not so many. */
  #nth (touched: number, k: number): number {
    const sorted = new Float64Array(touched)
    let live = 0
    for (let i = 0; i < touched; i++) {
      const ordinal = this.#touched[i]!
      if (this.#documents[ordinal] !== undefined) sorted[live++] = this.#scores[ordinal]!
    }
    return live < k ? 0 : sorted.subarray(0, live).sort()[live - k]!
  }

  /** Leaves the scores in `#scores` and the ordinals that have one in `#touched`; @returns how many */
  #scoreAll (terms: readonly string[], parameters: Bm25Parameters): number {
    this.#refuseInSearch()
    let touched = 0
    for (const term of terms) {
      const postings = this.#vocabulary.get(term)
      if (postings !== undefined) touched = this.#score(postings, parameters, touched)
    }
    return touched
  }

  #idf (frequency: number): number {
    return Math.log(1 + (this.#size - frequency + 0.5) / (frequency + 0.5))
  }

  /** Adds the term's part to every score; @returns how many documents are touched by now */
  #score (postings: Postings, parameters: Bm25Parameters, before: number): number {
    const { ordinals, weights, owns } = this.#pool
    const scores = this.#scores
    const ownScores = this.#owns
    const touched = this.#touched
    const lengths = this.#lengths
    const { gain, flat, perLength } = this.#factors(postings, parameters)
    const end = postings.start + postings.count
    let after = before
    for (let i = postings.start; i < end; i++) {
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
    return after
  }

  /** What a term adds to a score is gain · weight / (weight + flat + perLength · length). */
  #factors (postings: Postings, { k1, b }: Bm25Parameters): { gain: number, flat: number, perLength: number } {
    return {
      gain: this.#idf(postings.owners) * (k1 + 1),
      flat: k1 * (1 - b),
      perLength: this.#totalLength > 0 ? k1 * b * this.#size / this.#totalLength : 0,
    }
  }

  #forget (ordinal: number): void {
    this.#scores[ordinal] = 0
    this.#owns[ordinal] = 0
  }

  #learn (term: string): Postings {
    // The key outlives the text it was cut from, so a long one is copied.
    const own = term.length < SLICED_FROM ? term : Buffer.from(term, 'utf16le').toString('utf16le')
    const postings = this.#pool.open(own)
    this.#vocabulary.set(own, postings)
    return postings
  }

  #compact (): void {
    const renumbered = new Uint32Array(this.#documents.length).fill(GONE)
    const kept: Array<LexicalDocument<T>> = []
    // Summed anew, so that rounding cannot pile up over a long life.
    this.#totalLength = 0
    for (const document of this.#documents) {
      if (document === undefined) continue
      const length = this.#lengths[document.ordinal]!
      renumbered[document.ordinal] = kept.length
      document.ordinal = kept.length
      this.#lengths[document.ordinal] = length
      this.#totalLength += length
      kept.push(document)
    }
    this.#documents = kept
    this.#pool.compact([...this.#vocabulary.values()], renumbered)
    if (kept.length * 4 <= this.#lengths.length) this.#resize(kept.length * 2)
  }

  #resize (capacity: number): void {
    const lengths = this.#lengths.subarray(0, this.#documents.length)
    this.#lengths = new Float32Array(capacity)
    this.#lengths.set(lengths)
    this.#scores = new Float64Array(capacity)
    this.#owns = new Float64Array(capacity)
    this.#touched = new Uint32Array(capacity)
  }

  #refuseInSearch (): void {
    if (this.#searching) throw new Error('A visit of LexicalIndex.search must not call back into the index')
  }
}

/** Whether an index keeps a term of this weight: as 32 bits it has to be above 0 and finite. */
export function isWeight (count: number): boolean {
  const weight = Math.fround(count)
  return weight > 0 && weight < Infinity
}
