import { SCORE_GRID } from './context.js'

/** A score on the grid and an index below this bound together fit into the 53 bits of a number. */
const MAX_PACKED = 8192

/** Reused by all sorts, none of which is suspended. */
const PACKED = new Float64Array(MAX_PACKED)

/**
 * Keeps the first k of the offered items in the order of `compare`: a bounded heap whose root is the last of them,
 * which the next better item replaces.
 */
export class TopK<T> {
  readonly #k: number
  readonly #compare: (a: T, b: T) => number
  readonly #heap: T[] = []

  /**
   * @param compare negative when `a` comes first; a total order makes the result independent of the order of the offers
   */
  constructor (k: number, compare: (a: T, b: T) => number) {
    this.#k = k
    this.#compare = compare
  }

  /** The last item kept, before which a further one has to come; undefined while there are fewer than k. */
  get threshold (): T | undefined {
    return this.#heap.length < this.#k ? undefined : this.#heap[0]
  }

  offer (item: T): void {
    const heap = this.#heap
    if (heap.length < this.#k) {
      heap.push(item)
      if (heap.length >= this.#k) for (let at = (heap.length >> 1) - 1; at >= 0; at--) this.#siftDown(at)
    } else if (heap.length > 0 && this.#compare(item, heap[0]!) < 0) {
      heap[0] = item
      this.#siftDown(0)
    }
  }

  /** In order. Nothing may be offered afterwards. */
  sorted (): T[] {
    return this.#heap.sort(this.#compare)
  }

  #siftDown (from: number): void {
    const heap = this.#heap
    const item = heap[from]!
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && this.#compare(heap[child + 1]!, heap[child]!) > 0) child++
      if (this.#compare(heap[child]!, item) <= 0) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = item
  }
}

/**
 * The k indices with the highest scores, in no particular order.
 * @param scores by index, above 0
 * @param compareEqual orders the indices of equal scores, of which the first are taken
 */
export function bestOf (
  indices: Int32Array, scores: Float64Array, k: number, compareEqual: (a: number, b: number) => number,
): number[] {
  if (indices.length <= k) return [...indices]
  const lowest = kthHighest(indices, scores, k)
  const best: number[] = []
  const equal: number[] = []
  for (const index of indices) {
    if (scores[index]! > lowest) best.push(index)
    else if (scores[index] === lowest) equal.push(index)
  }
  const ties = new TopK(k - best.length, compareEqual)
  for (const index of equal) ties.offer(index)
  return best.concat(ties.sorted())
}

/** A heap of numbers, whose comparison needs no function. There are at least k. */
function kthHighest (indices: Int32Array, scores: Float64Array, k: number): number {
  const heap = new Float64Array(k)
  for (const index of indices) {
    const score = scores[index]!
    if (score <= heap[0]!) continue
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child + 1 < k && heap[child + 1]! < heap[child]!) child++
      if (child >= k || heap[child]! >= score) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = score
  }
  return heap[0]!
}

/**
 * Sorts indices by descending score. The scores are sorted as numbers that contain the place of their index: that takes
 * less than half the time of a sort with a comparison function.
 * @param scores by index, within 0–1, multiples of 1 / SCORE_GRID
 * @param compareEqual orders the indices of equal scores
 */
export function descendingOrder (
  indices: readonly number[], scores: ArrayLike<number>, compareEqual: (a: number, b: number) => number,
): number[] {
  const count = indices.length
  if (count > MAX_PACKED) return [...indices].sort((a, b) => scores[b]! - scores[a]! || compareEqual(a, b))
  for (let place = 0; place < count; place++) {
    PACKED[place] = (SCORE_GRID - Math.round(scores[indices[place]!]! * SCORE_GRID)) * MAX_PACKED + place
  }
  const packed = PACKED.subarray(0, count).sort()
  const order: number[] = []
  for (let at = 0; at < count; at++) {
    const number = packed[at]!
    order.push(indices[number - Math.floor(number / MAX_PACKED) * MAX_PACKED]!)
  }
  return sortEqual(order, scores, compareEqual)
}

function sortEqual (
  order: number[], scores: ArrayLike<number>, compareEqual: (a: number, b: number) => number,
): number[] {
  for (let from = 0; from < order.length;) {
    const score = scores[order[from]!]!
    let to = from + 1
    while (to < order.length && scores[order[to]!] === score) to++
    if (to - from > 1) {
      const equal = order.slice(from, to).sort(compareEqual)
      for (let at = from; at < to; at++) order[at] = equal[at - from]!
    }
    from = to
  }
  return order
}
