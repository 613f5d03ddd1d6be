import { runSync, type Steps } from '../../concurrency/steps.js'
import { TopK } from '../top-k.js'
import { BLOCK_ROWS, ROW_ALIGNMENT, type Extent, type VectorArena } from './vector-arena.js'

const FIRST_ROWS = 4
/** Maximum number of rows of an extent, and so of those copied when an index grows. A multiple of BLOCK_ROWS. */
const EXTENT_ROWS = 4096
/** Measured bytes of a Row and its element in `#rows`. */
const ENTRY_BYTES = 64
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT

/** A stored vector: the handle by which it is removed. */
export interface VectorEntry<T> {
  readonly payload: T
}

/** A payload found by a search; `score` is the cosine, -1 to 1. */
interface VectorMatch<T> {
  payload: T
  score: number
}

class Row<T> implements VectorEntry<T> {
  constructor (readonly payload: T, public row: number) {}
}

/**
 * Exact nearest neighbours by cosine: every search reads every vector, with SIMD (10,000 x 384 floats in about half a
 * millisecond). The rows are stored without gaps in extents of the arena, all but the last one full, in no particular
 * order.
 */
export class VectorIndex<T> {
  readonly #arena: VectorArena
  readonly #dimensions: number
  /** Bytes in a row. */
  readonly #stride: number
  /** #rows[i] identifies the vector in row i of the extents. */
  #rows: Array<Row<T>> = []
  #extents: Extent[] = []

  /**
   * @param arena stores the vectors, together with those of other indexes
   * @param dimensions floats in every vector
   * @throws RangeError unless `dimensions` is a positive integer
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

  /** Bytes of the vectors, including their entries. */
  get bytes (): number {
    return this.#rows.length * (this.#stride + ENTRY_BYTES)
  }

  /**
   * Stores a copy of the vector, scaled to length 1. A zero vector stays zero and scores 0 with every query.
   * @throws RangeError when the vector has another length than the index or an element that is not finite
   * @throws ServiceError `dependency_unavailable` when the arena is full; the index is then unchanged
   */
  add (payload: T, vector: Float32Array): VectorEntry<T> {
    const unit = this.#unit(vector)
    this.#makeRoom()
    const row = new Row(payload, this.#rows.length)
    this.#arena.floats.set(unit, this.#floatAt(row.row))
    this.#rows.push(row)
    return row
  }

  /** Has no effect if the entry was removed before or belongs to another index. */
  remove (entry: VectorEntry<T>): void {
    if (!(entry instanceof Row) || this.#rows[entry.row] !== entry) return
    const last = this.#rows.pop()!
    if (last !== entry) {
      const [from, to] = [this.#floatAt(last.row), this.#floatAt(entry.row)]
      this.#arena.floats.copyWithin(to, from, from + this.#stride / FLOAT_BYTES)
      last.row = entry.row
      this.#rows[last.row] = last
    }
    this.#releaseUnused()
  }

  /**
   * The k best by cosine, exactly, best first; which of several equal ones at the limit are returned is not defined. A
   * zero query scores 0 with every vector.
   * @param k an integer; below 1 the result is empty
   * @param accept whether a payload may be found. Called at most once for a payload, and only for those that would
   * enter the current result. Must not change this index.
   * @throws RangeError when the query has another length than the index or an element that is not finite
   */
  search (query: Float32Array, k: number, accept?: (payload: T) => boolean): Array<VectorMatch<T>> {
    return runSync(this.searching(query, k, accept))
  }

  /** `search` in steps. If a vector is removed between them, the search has to be restarted. */
  * searching (query: Float32Array, k: number, accept?: (payload: T) => boolean): Steps<Array<VectorMatch<T>>> {
    const limit = Math.min(k, this.#rows.length)
    const first = new TopK<VectorMatch<T>>(limit, (a, b) => b.score - a.score)
    yield * this.scan(query, limit, (payload, score) => {
      if (score > (first.threshold?.score ?? -Infinity) && (accept === undefined || accept(payload))) {
        first.offer({ payload, score })
      }
      return first.threshold?.score ?? -Infinity
    })
    const best = first.sorted()
    // Rounding may make the product of two vectors of length 1 exceed 1.
    for (const match of best) match.score = Math.max(-1, Math.min(1, match.score))
    return best
  }

  /**
   * Passes vectors with their cosines, which rounding may make exceed 1, to `visit`. In steps, as `searching`.
   * @param limit if below 1, no vector is passed
   * @param visit returns the minimum score of the vectors to be passed from then on
   */
  * scan (query: Float32Array, limit: number, visit: (payload: T, score: number) => number): Steps<void> {
    const unit = this.#unit(query)
    if (!(limit >= 1)) return
    let minScore = -Infinity
    for (let first = 0; first < this.#rows.length; first += BLOCK_ROWS) {
      if (first > 0) yield
      const count = Math.min(BLOCK_ROWS, this.#rows.length - first)
      const scores = this.#arena.dotProducts(unit, this.#floatAt(first) * FLOAT_BYTES, count)
      for (let i = 0; i < count; i++) {
        if (scores[i]! >= minScore) minScore = visit(this.#rows[first + i]!.payload, scores[i]!)
      }
    }
  }

  /**
   * The cosines of single vectors with a query, equal to those of `search`.
   * @throws RangeError as `search`
   */
  scorer (query: Float32Array): (entry: VectorEntry<T>) => number {
    const unit = this.#unit(query)
    const floats = this.#arena.floats
    return (entry) => {
      if (!(entry instanceof Row) || this.#rows[entry.row] !== entry) return 0
      const start = this.#floatAt(entry.row)
      let sum = 0
      for (let i = 0; i < this.#dimensions; i++) sum += unit[i]! * floats[start + i]!
      return Math.max(-1, Math.min(1, sum))
    }
  }

  /** Removes all vectors and returns their memory to the arena. The index can be filled again. */
  release (): void {
    for (const extent of this.#extents) this.#arena.free(extent)
    this.#extents = []
    this.#rows = []
  }

  /** @returns the vector scaled to length 1 and padded with zeros to a whole row */
  #unit (vector: Float32Array): Float32Array {
    if (vector.length !== this.#dimensions) {
      throw new RangeError(`A vector of this index has ${this.#dimensions} dimensions, not ${vector.length}.`)
    }
    // Squares of 32-bit floats neither overflow nor underflow in a 64-bit float.
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

  #makeRoom (): void {
    const within = this.#rows.length % EXTENT_ROWS
    const last = this.#extents.length - 1
    if (within === 0 && this.#rows.length === this.#extents.length * EXTENT_ROWS) {
      if (last < 0) this.#arena.prepareScan(this.#stride)
      this.#extents.push(this.#arena.allocate(FIRST_ROWS * this.#stride))
    } else if ((within + 1) * this.#stride > this.#extents[last]!.bytes) {
      this.#extents[last] = this.#arena.double(this.#extents[last]!)
    }
  }

  /** @returns the offset of a row in the floats of the arena */
  #floatAt (row: number): number {
    return (this.#extents[Math.floor(row / EXTENT_ROWS)]!.offset + row % EXTENT_ROWS * this.#stride) / FLOAT_BYTES
  }

  /**
   * Halves an extent only when a quarter is used, not a half, so that alternating additions and removals do not copy
   * repeatedly.
   */
  #releaseUnused (): void {
    const last = this.#extents.length - 1
    const used = (this.#rows.length - last * EXTENT_ROWS) * this.#stride
    const extent = this.#extents[last]!
    if (used === 0) this.#arena.free(this.#extents.pop()!)
    else if (used <= extent.bytes / 4 && extent.bytes / 2 >= FIRST_ROWS * this.#stride) {
      this.#extents[last] = this.#arena.halve(extent)
    }
  }
}
