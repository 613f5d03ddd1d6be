import { BLOCK_ROWS, ROW_ALIGNMENT, type Extent, type VectorArena } from './vector-arena.js'

const FIRST_ROWS = 4
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT

/** A stored vector: the handle to remove it by. */
export interface VectorEntry<T> {
  readonly payload: T
}

/** A payload found by a search; `score` is the cosine, -1 to 1. */
export interface VectorMatch<T> {
  payload: T
  score: number
}

class Row<T> implements VectorEntry<T> {
  constructor (readonly payload: T, public row: number) {}
}

/**
 * Exact nearest neighbours by cosine: every search reads every vector, with SIMD (10,000 x 384 floats in about half
 * a millisecond). The rows lie without gaps in one extent of the arena, in no particular order.
 */
export class VectorIndex<T> {
  readonly #arena: VectorArena
  readonly #dimensions: number
  /** Bytes in a row. */
  readonly #stride: number
  /** #rows[i] tells whose vector row i of the extent is. */
  #rows: Array<Row<T>> = []
  #extent: Extent | undefined

  /**
   * @param arena where the vectors are kept, together with those of other indexes
   * @param dimensions floats in every vector
   * @throws RangeError unless `dimensions` is a whole number above zero
   */
  constructor (arena: VectorArena, dimensions: number) {
    if (!Number.isSafeInteger(dimensions) || dimensions < 1) {
      throw new RangeError(`A vector index needs a whole number of dimensions above zero, not ${dimensions}.`)
    }
    this.#arena = arena
    this.#dimensions = dimensions
    this.#stride = Math.ceil(dimensions * FLOAT_BYTES / ROW_ALIGNMENT) * ROW_ALIGNMENT
  }

  /** Number of vectors. */
  get size (): number {
    return this.#rows.length
  }

  /**
   * Stores a copy of the vector, scaled to length 1. A zero vector stays zero and scores 0 with everything.
   * @throws RangeError when the vector has another length than the index or an element that is not finite
   * @throws ServiceError `dependency_unavailable` when the arena is full; the index is as it was then
   */
  add (payload: T, vector: Float32Array): VectorEntry<T> {
    const unit = this.#unit(vector)
    const extent = this.#extentWithRoom()
    const row = new Row(payload, this.#rows.length)
    this.#arena.floats.set(unit, this.#floatAt(extent, row.row))
    this.#rows.push(row)
    return row
  }

  /** Does nothing when the entry was removed before or belongs to another index. */
  remove (entry: VectorEntry<T>): void {
    const extent = this.#extent
    if (extent === undefined || !(entry instanceof Row) || this.#rows[entry.row] !== entry) return
    const last = this.#rows.pop()!
    if (last !== entry) {
      const [from, to] = [this.#floatAt(extent, last.row), this.#floatAt(extent, entry.row)]
      this.#arena.floats.copyWithin(to, from, from + this.#stride / FLOAT_BYTES)
      last.row = entry.row
      this.#rows[last.row] = last
    }
    this.#giveBackUnused(extent)
  }

  /**
   * The k best by cosine, exactly, best first; which of several equal ones at the border is not defined. A zero query
   * scores 0 with everything.
   * @param k a whole number; below 1 finds nothing
   * @param accept whether a payload may be found. Asked at most once for a payload, and only for those that would
   *   enter the result as it stands. Must not change this index.
   * @throws RangeError when the query has another length than the index or an element that is not finite
   */
  search (query: Float32Array, k: number, accept?: (payload: T) => boolean): Array<VectorMatch<T>> {
    const unit = this.#unit(query)
    const most = Math.min(k, this.#rows.length)
    const best: Array<VectorMatch<T>> = []
    if (this.#extent === undefined || !(most >= 1)) return best
    for (let first = 0; first < this.#rows.length; first += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, this.#rows.length - first)
      const scores = this.#arena.dotProducts(unit, this.#extent.offset + first * this.#stride, count)
      for (let i = 0; i < count; i++) {
        const score = scores[i]!
        if (best.length >= most && score <= best[0]!.score) continue
        const { payload } = this.#rows[first + i]!
        if (accept === undefined || accept(payload)) offer(best, most, { payload, score })
      }
    }
    best.sort((a, b) => b.score - a.score)
    // The product of two vectors of length 1 can come out a rounding error above 1.
    for (const match of best) match.score = Math.max(-1, Math.min(1, match.score))
    return best
  }

  /**
   * The cosines of single vectors with a query, as `search` has them.
   * @throws RangeError as `search`
   */
  scorer (query: Float32Array): (entry: VectorEntry<T>) => number {
    const unit = this.#unit(query)
    const floats = this.#arena.floats
    const extent = this.#extent
    return (entry) => {
      if (extent === undefined || !(entry instanceof Row) || this.#rows[entry.row] !== entry) return 0
      const start = this.#floatAt(extent, entry.row)
      let sum = 0
      for (let i = 0; i < this.#dimensions; i++) sum += unit[i]! * floats[start + i]!
      return Math.max(-1, Math.min(1, sum))
    }
  }

  /** Removes all vectors and gives their memory back to the arena. The index can be filled again. */
  release (): void {
    if (this.#extent !== undefined) this.#arena.free(this.#extent)
    this.#extent = undefined
    this.#rows = []
  }

  /** @returns the vector scaled to length 1 and padded with zeros to a whole row */
  #unit (vector: Float32Array): Float32Array {
    if (vector.length !== this.#dimensions) {
      throw new RangeError(`A vector of this index has ${this.#dimensions} dimensions, not ${vector.length}.`)
    }
    // Squares of 32-bit floats can neither overflow nor vanish in the 64 bits of a number.
    let squares = 0
    for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!
    if (!Number.isFinite(squares)) {
      const at = vector.findIndex((element) => !Number.isFinite(element))
      throw new RangeError(`Element ${at} of the vector is ${vector[at]}; every element must be a finite number.`)
    }
    const unit = new Float32Array(this.#stride / FLOAT_BYTES)
    if (squares === 0) return unit
    const length = Math.sqrt(squares)
    for (let i = 0; i < vector.length; i++) unit[i] = vector[i]! / length
    return unit
  }

  #extentWithRoom (): Extent {
    if (this.#extent === undefined) {
      this.#arena.prepareScan(this.#stride)
      this.#extent = this.#arena.allocate(FIRST_ROWS * this.#stride)
    } else if ((this.#rows.length + 1) * this.#stride > this.#extent.bytes) {
      this.#extent = this.#arena.double(this.#extent)
    }
    return this.#extent
  }

  /** @returns where a row begins in the floats of the arena */
  #floatAt (extent: Extent, row: number): number {
    return (extent.offset + row * this.#stride) / FLOAT_BYTES
  }

  /** Halves at a quarter and not at a half, so that adding and removing in turn does not copy back and forth. */
  #giveBackUnused (extent: Extent): void {
    const used = this.#rows.length * this.#stride
    if (used === 0) this.release()
    else if (used <= extent.bytes / 4 && extent.bytes / 2 >= FIRST_ROWS * this.#stride) this.#extent = this.#arena.halve(extent)
  }
}

/** Puts a match into a heap of at most `most`, whose root is its worst; a full heap loses that one. */
function offer<T> (heap: Array<VectorMatch<T>>, most: number, match: VectorMatch<T>): void {
  if (heap.length < most) siftUp(heap, match)
  else siftDown(heap, match)
}

function siftUp<T> (heap: Array<VectorMatch<T>>, match: VectorMatch<T>): void {
  let at = heap.length
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (heap[parent]!.score <= match.score) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = match
}

/** Replaces the root. */
function siftDown<T> (heap: Array<VectorMatch<T>>, match: VectorMatch<T>): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]!.score < heap[child]!.score) child++
    if (heap[child]!.score >= match.score) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = match
}
