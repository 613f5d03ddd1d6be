import { REACH, sequenceInstant } from '../context.js'
import { compareText, type Entry } from './entry.js'
import { SortedList } from '../sorted-list.js'

/** The memories of one document that lend each other their terms, in order. */
export class DocumentSequence {
  readonly #entries = new SortedList(bySequence)

  get size (): number {
    return this.#entries.size
  }

  add (entry: Entry): void {
    this.#entries.add(entry)
  }

  /** @returns the entries that had it within reach */
  remove (entry: Entry): Entry[] {
    const near = [...this.before(entry), ...this.behind(entry)]
    this.#entries.remove(entry)
    return near
  }

  /** The entries before it, nearest first. */
  before (entry: Entry): Entry[] {
    return this.#entries.before(entry, REACH)
  }

  /** The entries behind it, nearest first. */
  behind (entry: Entry): Entry[] {
    return this.#entries.behind(entry, REACH)
  }
}

function bySequence (a: Entry, b: Entry): number {
  return sequenceInstant(a.memory) - sequenceInstant(b.memory) || compareText(a.memory.memoryId, b.memory.memoryId)
}
