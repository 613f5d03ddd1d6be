/** Where the documents that hold one term lie in a pool, in order of insertion. */
export interface Postings {
  readonly term: string
  /** Documents that are not removed. */
  live: number
  /** Those of them that hold the term themselves and not by their context alone: the term's document frequency. */
  owners: number
  /** Documents, removed ones included. */
  count: number
  start: number
  /** A power of two. */
  capacity: number
}

interface Columns {
  ordinals: Uint32Array
  weights: Float32Array
  owns: Float32Array
}

/** Stands for "removed" where a document's new ordinal is looked up. */
export const GONE = 0xffffffff

const FIRST_POOL = 64
const NO_ORDINALS = new Uint32Array(0)
const NO_WEIGHTS = new Float32Array(0)

/**
 * The postings of all terms of one index, in three typed arrays. A pair of arrays for each term would be simpler, but
 * most terms are in one or two documents, and a typed array costs some 200 bytes and a microsecond however short it is.
 * A term has a block of 1, 2, 4, ... places; a block that became too small goes to other terms, whole or in halves.
 */
export class PostingsPool {
  /** Ordinals of documents; what is valid lies in a term's `start` up to `start + count`. */
  ordinals: Uint32Array = NO_ORDINALS
  /** Weights of the term with context, beside their ordinals. */
  weights: Float32Array = NO_WEIGHTS
  /** The part of them that is the document's own. */
  owns: Float32Array = NO_WEIGHTS
  #used = 0
  /** Starts of free blocks, by the binary logarithm of their size. */
  #free: number[][] = []

  /** Postings of a term that no document holds yet. */
  open (term: string): Postings {
    return { term, live: 0, owners: 0, count: 0, start: this.#take(1), capacity: 1 }
  }

  push (postings: Postings, ordinal: number, weight: number, own: number): void {
    if (postings.count === postings.capacity) this.#widen(postings)
    const at = postings.start + postings.count
    this.ordinals[at] = ordinal
    this.weights[at] = weight
    this.owns[at] = own
    postings.count += 1
    postings.live += 1
    if (own > 0) postings.owners += 1
  }

  /** Gives the block back; the postings must not be used again. */
  release (postings: Postings): void {
    const size = logarithm(postings.capacity)
    while (this.#free.length <= size) this.#free.push([])
    this.#free[size]!.push(postings.start)
  }

  /**
   * Drops removed documents, gives the others their new ordinals and closes all gaps.
   * @param all every open postings
   * @param renumbered the new ordinal by the old one, GONE for a removed document
   */
  compact (all: readonly Postings[], renumbered: Uint32Array): void {
    const { ordinals, weights, owns } = this
    let needed = 0
    for (const { live } of all) needed += powerOfTwo(live)
    this.ordinals = needed === 0 ? NO_ORDINALS : new Uint32Array(needed)
    this.weights = needed === 0 ? NO_WEIGHTS : new Float32Array(needed)
    this.owns = needed === 0 ? NO_WEIGHTS : new Float32Array(needed)
    this.#used = 0
    this.#free = []
    for (const postings of all) {
      const { start, count } = postings
      postings.capacity = powerOfTwo(postings.live)
      postings.start = this.#take(postings.capacity)
      postings.count = postings.live
      this.#copy(postings.start, { ordinals, weights, owns }, start, start + count, renumbered)
    }
  }

  // Apart from its caller, which runs too rarely to be compiled: that halves the time of a compaction.
  #copy (to: number, { ordinals, weights, owns }: Columns, from: number, end: number, renumbered: Uint32Array): void {
    const { ordinals: newOrdinals, weights: newWeights, owns: newOwns } = this
    let next = to
    for (let i = from; i < end; i++) {
      const ordinal = renumbered[ordinals[i]!]!
      if (ordinal === GONE) continue
      newOrdinals[next] = ordinal
      newWeights[next] = weights[i]!
      newOwns[next] = owns[i]!
      next += 1
    }
  }

  #widen (postings: Postings): void {
    const { start, count } = postings
    const wider = this.#take(postings.capacity * 2)
    this.ordinals.copyWithin(wider, start, start + count)
    this.weights.copyWithin(wider, start, start + count)
    this.owns.copyWithin(wider, start, start + count)
    this.release(postings)
    postings.start = wider
    postings.capacity *= 2
  }

  /** @returns the start of a block of this many places */
  #take (places: number): number {
    const size = logarithm(places)
    for (let larger = size; larger < this.#free.length; larger++) {
      const free = this.#free[larger]!.pop()
      if (free === undefined) continue
      // Of a block that is larger than asked for, the upper halves stay free.
      for (let half = larger - 1; half >= size; half--) this.#free[half]!.push(free + 2 ** half)
      return free
    }
    const start = this.#used
    this.#used += places
    if (this.#used > this.ordinals.length) {
      const capacity = Math.max(FIRST_POOL, this.#used, Math.ceil(this.ordinals.length * 1.5))
      const { ordinals, weights, owns } = this
      this.ordinals = new Uint32Array(capacity)
      this.ordinals.set(ordinals)
      this.weights = new Float32Array(capacity)
      this.weights.set(weights)
      this.owns = new Float32Array(capacity)
      this.owns.set(owns)
    }
    return start
  }
}

function logarithm (powerOfTwo: number): number {
  return 31 - Math.clz32(powerOfTwo)
}

/** @returns the least power of two that is not below the number, at least 1 */
function powerOfTwo (number: number): number {
  return number <= 1 ? 1 : 1 << (32 - Math.clz32(number - 1))
}
