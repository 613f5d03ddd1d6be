/** Items that are removed one by one; more are filtered out together. */
const FEW = 8

/** A sorted array. Most items are added at its end; elsewhere an addition moves those after it. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number
  #items: T[] = []
  #isShared = false

  /** @param compare negative when `a` comes first; a total order */
  constructor (compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  /** In order; valid until the next change. */
  get items (): readonly T[] {
    return this.#items
  }

  /** In order, for a reader that gives the event loop back: later changes are made to a copy. */
  snapshot (): readonly T[] {
    this.#isShared = true
    return this.#items
  }

  /** @returns the place of the item */
  add (item: T): number {
    const items = this.#own()
    const last = items.at(-1)
    if (last === undefined || this.#compare(last, item) < 0) return items.push(item) - 1
    const at = placeIn(items, (other) => this.#compare(other, item) < 0)
    items.splice(at, 0, item)
    return at
  }

  /** Items that are not in the list are ignored. */
  remove (removed: readonly T[]): void {
    if (removed.length > FEW) {
      const gone = new Set(removed)
      this.#items = this.#items.filter((item) => !gone.has(item))
      this.#isShared = false
      return
    }
    const items = this.#own()
    for (const item of removed) {
      const at = placeIn(items, (other) => this.#compare(other, item) < 0)
      if (items[at] === item) items.splice(at, 1)
    }
  }

  #own (): T[] {
    if (this.#isShared) {
      this.#items = [...this.#items]
      this.#isShared = false
    }
    return this.#items
  }
}

/** The index of the first item of a sorted array for which `isBefore` is false; its length when there is none. */
export function placeIn<T> (items: readonly T[], isBefore: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(items[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
