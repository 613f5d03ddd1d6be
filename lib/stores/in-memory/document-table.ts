import type { Postings } from './postings.js'

const FIRST_DOCUMENTS = 8

/** States of a document. ADDING and REMOVING are those of a change that is not settled yet. */
export const ABSENT = 0
export const PRESENT = 1
export const ADDING = 2
export const REMOVING = 3

// Empty arrays are shared, because there are thousands of small banks and an empty typed array takes memory as well.
const NO_LENGTHS = new Float32Array(0)
const NO_STATES = new Uint8Array(0)
const NO_HEADS = new Uint32Array(0)

/** A document in the index: the handle by which it is removed. Only `payload` is for callers. */
export class LexicalDocument<T> {
  constructor (
    readonly payload: T,
    /** @internal Its place in the index. */
    readonly ordinal: number,
    /** @internal One for each of its terms. */
    readonly postings: readonly Postings[],
  ) {}
}

/** What a lexical index knows of its documents, by ordinal, in typed arrays that grow together. */
export class DocumentTable {
  lengths: Float32Array = NO_LENGTHS
  states: Uint8Array = NO_STATES
  /** The ordinal of the first document of the same memory. */
  heads: Uint32Array = NO_HEADS

  /** Makes room for the document of an ordinal that is at most one above the last. */
  ensure (ordinal: number): void {
    if (ordinal < this.lengths.length) return
    const capacity = Math.max(FIRST_DOCUMENTS, ordinal * 2)
    const { lengths, states, heads } = this
    this.lengths = new Float32Array(capacity)
    this.lengths.set(lengths)
    this.states = new Uint8Array(capacity)
    this.states.set(states)
    this.heads = new Uint32Array(capacity)
    this.heads.set(heads)
  }
}
