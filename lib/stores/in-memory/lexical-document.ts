import type { Postings } from './postings.js'

/** The free parameters of BM25; a query brings its own, for nothing in the index depends on them. */
export interface Bm25Parameters {
  /** How soon more of the same term stops counting, >= 0. */
  readonly k1: number
  /** How much a document pays for its length, 0 (nothing) to 1 (in proportion). */
  readonly b: number
}

/** A document that a search found. */
export interface Match<T> {
  payload: T
  score: number
  own: number
}

/** A document in the index: the handle by which it is removed. Only `payload` is for callers. */
export class LexicalDocument<T> {
  constructor (
    readonly payload: T,
    /** @internal Its place in the index. */
    readonly ordinal: number,
    /** @internal One for each of its terms, its own ones first. */
    readonly postings: readonly Postings[],
    /** @internal How many of them are its own. */
    readonly ownTerms: number,
  ) {}
}
