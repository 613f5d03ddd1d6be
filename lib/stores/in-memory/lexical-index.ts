import { runSync, type Steps } from '../../concurrency/steps.js'
import { ABSENT, ADDING, IndexedPassage, PassageTable, PRESENT, REMOVING } from './passage-table.js'
import { PostingsPool, type Postings, type Slab } from './postings.js'
import { SplitMap } from '../split-map.js'

// The states of the passages that searches see, as bits: before and after the change is committed.
const VISIBLE_BEFORE_COMMIT = 1 << PRESENT | 1 << REMOVING
const VISIBLE_AFTER_COMMIT = 1 << PRESENT | 1 << ADDING
const MIN_DEAD = 64
const DEAD_SHARE = 0.2
/** Maximum number of terms of an index that is swept in one step. */
const SWEEP_BATCH = 4096

/**
 * An inverted index of passages. The first passage of a memory is the head of the memory's passages.
 * lexical-scoring.ts computes the scores.
 *
 * The index is exact at any time: removed passages do not count in the size, the frequencies or the average length. A
 * large change is made in steps that searches do not see. `begin` starts it, and `add` and `remove` follow; `commit`
 * makes all of it visible at once, with size, frequencies and lengths; then `settle` is called for each passage, and
 * `end`. Without `begin`, every `add` and `remove` is visible at once.
 */
export class LexicalIndex<T> {
  #vocabulary = new SplitMap<Postings>()
  #pool = new PostingsPool()
  #table = new PassageTable<T>()
  #visibleStates = VISIBLE_BEFORE_COMMIT
  #isChanging = false
  /** Ordinals of removed passages that postings may still contain, until the next sweep. */
  #dead: number[] = []
  /** Ordinals that no posting contains. */
  #free: number[] = []
  #size = 0
  #sizeChange = 0
  #totalLength = 0
  #lengthChange = 0
  /** Number of postings of passages that are not taken out. */
  #postings = 0

  /** Number of passages that are not removed. */
  get size (): number {
    return this.#size + (this.#isCommitted ? this.#sizeChange : 0)
  }

  /** The size of the index, for an estimate of its bytes. */
  get extent (): { terms: number, postings: number, passages: number } {
    return { terms: this.#vocabulary.size, postings: this.#postings, passages: this.#table.passages.length }
  }

  /** Whether enough passages were removed for a sweep. */
  get needsSweep (): boolean {
    return this.#dead.length >= MIN_DEAD && this.#dead.length > (this.#size + this.#dead.length) * DEAD_SHARE
  }

  get #isCommitted (): boolean {
    return this.#visibleStates === VISIBLE_AFTER_COMMIT
  }

  /** Starts a change: additions and removals are not visible before `commit`. */
  begin (): void {
    this.#isChanging = true
  }

  /** Makes all additions and removals since `begin` visible at once. */
  commit (): void {
    this.#visibleStates = VISIBLE_AFTER_COMMIT
  }

  /** To be called, after `commit`, for each passage that was added or removed since `begin`. */
  settle (passage: IndexedPassage): void {
    const { ordinal, postings } = passage
    const added = this.#table.states[ordinal] === ADDING
    for (const each of postings) {
      each.documentFrequency += added ? 1 : -1
      each.frequencyChange -= added ? 1 : -1
    }
    const [size, length] = added ? [1, this.#table.lengths[ordinal]!] : [-1, -this.#table.lengths[ordinal]!]
    this.#size += size
    this.#sizeChange -= size
    this.#totalLength += length
    this.#lengthChange -= length
    if (added) this.#table.states[ordinal] = PRESENT
    else this.#deletePassage(passage)
  }

  /** To be called when all passages are settled. */
  end (): void {
    this.#visibleStates = VISIBLE_BEFORE_COMMIT
    this.#isChanging = false
    this.#sizeChange = 0
    this.#lengthChange = 0
    this.#compact()
  }

  /**
   * @param terms term counts, which may be fractions; those that are not above 0 and finite are left out
   * @param length for the length normalization, in the same unit for all passages, >= 0
   * @param head the first passage of the same memory; absent when this is the first
   * @returns the handle by which to remove it
   */
  add (payload: T, terms: ReadonlyMap<string, number>, length: number, head?: IndexedPassage): IndexedPassage {
    const ordinal = this.#free.pop() ?? this.#table.passages.length
    this.#table.ensure(ordinal)
    const { lengths, states, heads } = this.#table
    const isChanging = this.#isChanging
    const held: Postings[] = []
    for (const [term, count] of terms) {
      // As it is stored: a count too small for 32 bits would score 0, which a search interprets as "not touched".
      const weight = Math.fround(count)
      if (!(weight > 0 && weight < Infinity)) continue
      const postings = this.#vocabulary.get(term) ?? this.#createPostings(term)
      this.#pool.push(postings, ordinal, weight)
      if (isChanging) postings.frequencyChange += 1
      else postings.documentFrequency += 1
      held.push(postings)
    }
    lengths[ordinal] = length
    heads[ordinal] = head?.ordinal ?? ordinal
    this.#count(1, lengths[ordinal]!)
    states[ordinal] = isChanging ? ADDING : PRESENT
    this.#postings += held.length
    // slice() releases the spare capacity that push() allocated.
    const passage = new IndexedPassage(ordinal, held.slice())
    this.#table.passages[ordinal] = passage
    this.#table.payloads[ordinal] = payload
    return passage
  }

  /** Has no effect if the passage was removed before or belongs to another index. */
  remove (passage: IndexedPassage): void {
    const { ordinal, postings } = passage
    if (this.#table.passages[ordinal] !== passage || this.#table.states[ordinal] === REMOVING) return
    this.#count(-1, -this.#table.lengths[ordinal]!)
    if (this.#isChanging) {
      this.#table.states[ordinal] = REMOVING
      for (const each of postings) each.frequencyChange -= 1
      return
    }
    for (const each of postings) each.documentFrequency -= 1
    this.#deletePassage(passage)
    this.#compact()
  }

  /** Deletes removed passages from the postings of all terms. Nothing may be added or removed during the sweep. */
  * sweep (): Steps<void> {
    for (const postings of this.#vocabulary.values()) {
      this.#pool.sweep(postings, this.#table.states)
      yield
    }
    for (let ordinal = this.#dead.pop(); ordinal !== undefined; ordinal = this.#dead.pop()) {
      this.#free.push(ordinal)
      yield
    }
  }

  /** The number of passages that contain the term. */
  frequency (term: string): number {
    const postings = this.#vocabulary.get(term)
    return postings === undefined ? 0 : postings.documentFrequency + (this.#isCommitted ? postings.frequencyChange : 0)
  }

  // For searches: results of the following members are valid until the next change of the index or sweep, committed or
  // not; a search that was suspended reads them again.

  /** The average length of passages; 0 when all lengths are 0 or there are none. */
  get averageLength (): number {
    return this.size === 0 ? 0 : (this.#totalLength + (this.#isCommitted ? this.#lengthChange : 0)) / this.size
  }

  /** Greater than every ordinal. */
  get capacity (): number {
    return this.#table.passages.length
  }

  /** By ordinal. */
  get lengths (): Float32Array {
    return this.#table.lengths
  }

  /** By ordinal, that of the first passage of the same memory. */
  get heads (): Uint32Array {
    return this.#table.heads
  }

  /**
   * The slab range that lists the passages with the term, in order of insertion; some may not be visible
   * (`isVisible`).
   */
  postingsOf (term: string): (Slab & { from: number, to: number }) | undefined {
    const postings = this.#vocabulary.get(term)
    if (postings === undefined) return undefined
    const { ordinals, weights } = this.#pool.slabOf(postings)
    const from = this.#pool.offsetOf(postings)
    return { ordinals, weights, from, to: from + postings.count }
  }

  /** Only for a visible passage. */
  payloadAt (ordinal: number): T {
    return this.#table.payloads[ordinal]!
  }

  /** Whether a listed passage is visible. */
  isVisible (ordinal: number): boolean {
    return (this.#visibleStates >> this.#table.states[ordinal]! & 1) === 1
  }

  #count (passages: number, length: number): void {
    if (this.#isChanging) {
      this.#sizeChange += passages
      this.#lengthChange += length
    } else {
      this.#size += passages
      this.#totalLength += length
    }
  }

  #createPostings (term: string): Postings {
    const postings = this.#pool.create(term)
    this.#vocabulary.set(postings.term, postings)
    return postings
  }

  #deletePassage ({ ordinal, postings }: IndexedPassage): void {
    this.#table.passages[ordinal] = undefined
    this.#table.payloads[ordinal] = undefined
    this.#table.states[ordinal] = ABSENT
    this.#dead.push(ordinal)
    this.#postings -= postings.length
    for (const each of postings) {
      each.live -= 1
      if (each.live > 0) continue
      this.#vocabulary.delete(each.term)
      this.#pool.release(each)
    }
  }

  /** Resets an index that became empty, and sweeps a small one at once. The owner sweeps a large one in steps. */
  #compact (): void {
    if (this.#size === 0) {
      this.#pool = new PostingsPool()
      this.#dead = []
      this.#free = []
      this.#totalLength = 0
      this.#table = new PassageTable()
    } else if (this.needsSweep && this.#vocabulary.size <= SWEEP_BATCH && this.#postings <= SWEEP_BATCH * 4) {
      runSync(this.sweep())
    }
  }
}
