/**
 * Keeps the k first of the items that are offered, in the order of `compare`: a bounded heap whose root is the last of
 * them, the one that the next better item replaces.
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

  /** The item that a next one has to come before; undefined while there is room. */
  get bar (): T | undefined {
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

  /** First to last. Nothing may be offered afterwards. */
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
