/**
 * The heights of the rows of a long list: those that have been measured, and an estimate for all others. A Fenwick tree
 * of the differences from the estimate finds positions in a few steps, however long the list is.
 */
export class RowHeights {
  readonly count: number
  readonly #estimate: number
  readonly #measured = new Map<number, number>()
  readonly #differences: Float64Array

  constructor (count: number, estimate: number) {
    this.count = count
    this.#estimate = estimate
    this.#differences = new Float64Array(count + 1)
  }

  get total (): number {
    return this.offsetOf(this.count)
  }

  heightOf (index: number): number {
    return this.#measured.get(index) ?? this.#estimate
  }

  /** @returns by how much the row is now higher than before */
  set (index: number, height: number): number {
    const change = height - this.heightOf(index)
    if (index >= this.count || change === 0) return 0
    this.#measured.set(index, height)
    for (let node = index + 1; node <= this.count; node += node & -node) this.#differences[node]! += change
    return change
  }

  /** The heights of all rows before one. */
  offsetOf (index: number): number {
    let sum = index * this.#estimate
    for (let node = index; node > 0; node -= node & -node) sum += this.#differences[node]!
    return sum
  }

  /** The row at a position; the first or the last for one before or behind all rows. */
  indexAt (offset: number): number {
    let low = 0
    let high = Math.max(0, this.count - 1)
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.offsetOf(middle) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
