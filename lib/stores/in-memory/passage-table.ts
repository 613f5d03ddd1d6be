import type { Postings } from './postings.js'

const FIRST_PASSAGES = 8

/** States of a passage. ADDING and REMOVING belong to a change that is not settled yet. */
export const ABSENT = 0
export const PRESENT = 1
export const ADDING = 2
export const REMOVING = 3

// Empty arrays are shared: there are thousands of small banks, and even an empty typed array takes memory.
const NO_LENGTHS = new Float32Array(0)
const NO_STATES = new Uint8Array(0)
const NO_HEADS = new Uint32Array(0)

/** A passage in the index: the handle by which it is removed. */
export class IndexedPassage {
  constructor (
    /** Its place in the index. */
    readonly ordinal: number,
    /** @internal One for each of its terms. */
    readonly postings: readonly Postings[],
  ) {}
}

/** The data of a lexical index on its passages, by ordinal. The typed arrays grow together. */
export class PassageTable<T> {
  /** Undefined where a passage was taken out. */
  readonly passages: Array<IndexedPassage | undefined> = []
  /** Apart from the passages, which no search reads. */
  readonly payloads: Array<T | undefined> = []
  lengths: Float32Array = NO_LENGTHS
  states: Uint8Array = NO_STATES
  /** The ordinal of the first passage of the same memory. */
  heads: Uint32Array = NO_HEADS

  /** Allocates entries for an ordinal that is at most one above the highest. */
  ensure (ordinal: number): void {
    if (ordinal < this.lengths.length) return
    const capacity = Math.max(FIRST_PASSAGES, ordinal * 2)
    const { lengths, states, heads } = this
    this.lengths = new Float32Array(capacity)
    this.lengths.set(lengths)
    this.states = new Uint8Array(capacity)
    this.states.set(states)
    this.heads = new Uint32Array(capacity)
    this.heads.set(heads)
  }
}
