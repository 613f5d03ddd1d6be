/** One item's place in the heap. */
export interface Expiry<T> {
  readonly at: number
  /** Absent when the item is gone. */
  item: T | undefined
}

/** Gone ones that are kept at least before the heap is made anew. */
const GONE_AT_LEAST = 1024

/** Items by the instant at which they expire, the next one first: a binary heap. */
export class ExpiryHeap<T> {
  #heap: Array<Expiry<T>> = []
  #gone = 0

  /** When the next item expires. */
  get next (): number {
    return this.#heap[0]?.at ?? Infinity
  }

  add (item: T, at: number): Expiry<T> {
    const expiry = { at, item }
    this.#heap.push(expiry)
    this.#up(this.#heap.length - 1)
    return expiry
  }

  /** The item is not kept alive from now on. */
  forget (expiry: Expiry<T>): void {
    if (expiry.item === undefined) return
    expiry.item = undefined
    this.#gone++
    while (this.#heap.length > 0 && this.#heap[0]!.item === undefined) {
      this.#pop()
      this.#gone--
    }
    if (this.#gone < GONE_AT_LEAST || this.#gone * 2 < this.#heap.length) return
    this.#heap = this.#heap.filter(({ item }) => item !== undefined)
    this.#gone = 0
    for (let at = (this.#heap.length >> 1) - 1; at >= 0; at--) this.#down(at)
  }

  /**
   * Those that have expired at `now`, in no particular order; they stay in the heap, which must not change meanwhile.
   */
  * expired (now: number): Generator<T> {
    const waiting = [0]
    while (waiting.length > 0) {
      const at = waiting.pop()!
      const expiry = this.#heap[at]
      if (expiry === undefined || expiry.at > now) continue
      if (expiry.item !== undefined) yield expiry.item
      waiting.push(2 * at + 1, 2 * at + 2)
    }
  }

  #pop (): void {
    const last = this.#heap.pop()!
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    this.#down(0)
  }

  #up (from: number): void {
    const heap = this.#heap
    const expiry = heap[from]!
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.at <= expiry.at) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = expiry
  }

  #down (from: number): void {
    const heap = this.#heap
    const expiry = heap[from]!
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++
      if (heap[child]!.at >= expiry.at) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = expiry
  }
}
