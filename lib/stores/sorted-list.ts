/** Maximum number of items in a chunk, and so of the items that an insertion or a removal moves. */
const MAX_CHUNK = 512

/**
 * A sorted list with insertion and removal at any position in less than a microsecond, whatever its length: an array of
 * short arrays. Insertion at the end, the usual case, is an append. The relative order of items that compare equal is
 * not defined.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number
  /** No chunk is empty. */
  #chunks: T[][] = []
  #size = 0
  /** Incremented whenever items move. */
  #moves = 0

  /** @param compare negative when `a` comes first */
  constructor (compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size (): number {
    return this.#size
  }

  get first (): T | undefined {
    return this.#chunks[0]?.[0]
  }

  add (item: T): void {
    this.#size++
    const last = this.#chunks.at(-1)
    if (last === undefined) {
      // V8 makes room for 17 items on the first push, and a bank can have as many lists as memories.
      this.#chunks = [[item]]
      return
    }
    if (this.#compare(last.at(-1)!, item) < 0) {
      if (last.length < MAX_CHUNK) last.push(item)
      else this.#chunks.push([item])
      return
    }
    this.#moves++
    const { chunk, index } = this.#placeOf((other) => this.#compare(other, item) < 0)
    const chosen = this.#chunks[chunk]!
    chosen.splice(index, 0, item)
    if (chosen.length > MAX_CHUNK) this.#chunks.splice(chunk + 1, 0, chosen.splice(MAX_CHUNK / 2))
  }

  /** @returns whether the list contained the item */
  remove (item: T): boolean {
    const place = this.#find(item)
    if (place === undefined) return false
    this.#moves++
    const chunk = this.#chunks[place.chunk]!
    if (chunk.length === 1) this.#chunks.splice(place.chunk, 1)
    else chunk.splice(place.index, 1)
    this.#size--
    return true
  }

  /** The item before one in the list. */
  previous (item: T): T | undefined {
    const place = this.#find(item)
    if (place === undefined) return undefined
    const { chunk, index } = place
    return index > 0 ? this.#chunks[chunk]![index - 1] : this.#chunks[chunk - 1]?.at(-1)
  }

  /** The item after one in the list. */
  next (item: T): T | undefined {
    const place = this.#find(item)
    if (place === undefined) return undefined
    const { chunk, index } = place
    const items = this.#chunks[chunk]!
    return index + 1 < items.length ? items[index + 1] : this.#chunks[chunk + 1]?.[0]
  }

  /**
   * Ascending. Items that are added or removed during the iteration, or compare equal to a removed one, are yielded at
   * most once; every other item is, exactly once.
   * @param isBefore the iteration starts at the first item for which it is false
   */
  * forwards (isBefore?: (item: T) => boolean): Generator<T> {
    let { chunk, index } = isBefore === undefined ? { chunk: 0, index: 0 } : this.#placeOf(isBefore)
    for (;;) {
      const items = this.#chunks[chunk]
      if (items === undefined) return
      if (index >= items.length) {
        chunk++
        index = 0
        continue
      }
      const moves = this.#moves
      const item = items[index]!
      yield item
      if (this.#moves !== moves) {
        const place = this.#find(item)
        if (place === undefined) {
          ({ chunk, index } = this.#placeOf((other) => this.#compare(other, item) <= 0))
          continue
        }
        ({ chunk, index } = place)
      }
      index++
    }
  }

  /**
   * Descending, as `forwards`.
   * @param isBefore the iteration starts at the last item for which it is true
   */
  * backwards (isBefore?: (item: T) => boolean): Generator<T> {
    let { chunk, index } = isBefore === undefined ? { chunk: this.#chunks.length, index: 0 } : this.#placeOf(isBefore)
    for (;;) {
      if (index <= 0) {
        chunk--
        if (chunk < 0) return
        index = this.#chunks[chunk]!.length
      }
      index--
      const moves = this.#moves
      const item = this.#chunks[chunk]![index]!
      yield item
      if (this.#moves !== moves) {
        ({ chunk, index } = this.#find(item) ?? this.#placeOf((other) => this.#compare(other, item) < 0))
      }
    }
  }

  #find (item: T): { chunk: number, index: number } | undefined {
    // The last item, which usually was added a moment ago, is found without comparisons.
    const last = this.#chunks.at(-1)
    if (last?.at(-1) === item) return { chunk: this.#chunks.length - 1, index: last!.length - 1 }
    let { chunk, index } = this.#placeOf((other) => this.#compare(other, item) < 0)
    for (;;) {
      if (index === this.#chunks[chunk]?.length) {
        chunk++
        index = 0
      }
      const found = this.#chunks[chunk]?.[index]
      if (found === undefined || this.#compare(found, item) !== 0) return undefined
      if (found === item) return { chunk, index }
      index++
    }
  }

  /** The position of the first item for which `isBefore` is false; after the last one when there is none. */
  #placeOf (isBefore: (item: T) => boolean): { chunk: number, index: number } {
    let [low, high] = [0, this.#chunks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(this.#chunks[middle]!.at(-1)!)) low = middle + 1
      else high = middle
    }
    const chunk = Math.min(low, Math.max(0, this.#chunks.length - 1))
    const items = this.#chunks[chunk] ?? []
    let index = 0
    let end = items.length
    while (index < end) {
      const middle = (index + end) >> 1
      if (isBefore(items[middle]!)) index = middle + 1
      else end = middle
    }
    return { chunk, index }
  }
}
