import { REACH, sequenceInstant } from '../context.js'
import { compareText, type Entry } from './bank.js'

/** The memories of one document that lend each other their terms, in order. */
export class DocumentSequence {
  readonly #entries: Entry[] = []

  get size (): number {
    return this.#entries.length
  }

  add (entry: Entry): void {
    this.#entries.splice(this.#placeOf(entry), 0, entry)
  }

  /** @returns the entries that had it within reach */
  remove (entry: Entry): Entry[] {
    const place = this.#placeOf(entry)
    const near = [...this.before(entry), ...this.behind(entry)]
    this.#entries.splice(place, 1)
    return near
  }

  /** The entries before it, nearest first. */
  before (entry: Entry): Entry[] {
    const place = this.#placeOf(entry)
    return this.#entries.slice(Math.max(0, place - REACH), place).reverse()
  }

  /** The entries behind it, nearest first. */
  behind (entry: Entry): Entry[] {
    const place = this.#placeOf(entry)
    return this.#entries.slice(place + 1, place + 1 + REACH)
  }

  /** Where the entry is, or belongs. */
  #placeOf (entry: Entry): number {
    let low = 0
    let high = this.#entries.length
    // New memories nearly always come last.
    if (high > 0 && bySequence(this.#entries[high - 1]!, entry) < 0) return high
    while (low < high) {
      const middle = (low + high) >> 1
      if (bySequence(this.#entries[middle]!, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function bySequence (a: Entry, b: Entry): number {
  return sequenceInstant(a.memory) - sequenceInstant(b.memory) || compareText(a.memory.memoryId, b.memory.memoryId)
}
