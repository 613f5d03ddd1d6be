import { sequenceInstant } from '../context.js'
import type { Steps } from '../../concurrency/steps.js'
import { SortedList } from '../sorted-list.js'
import { SplitMap } from '../split-map.js'
import { byMemoryId, type Entry, type Neighbours } from './entry.js'

/**
 * The documents of a bank: the memories of each in order, chained to each other, so that a search finds the neighbours
 * of a hundred memories without looking for their places. After `begin`, changes stand beside the chains, in `staged`,
 * until `settle` puts them in.
 */
export class Documents {
  readonly #sequences = new SplitMap<SortedList<Entry>>()
  /** Entries that have something staged; undefined when changes are seen at once. */
  #changed: Entry[] | undefined

  /** What joins and leaves from now on is not seen by who does not look at `staged`. */
  begin (): void {
    this.#changed = []
  }

  /** Puts in what has changed since `begin`. */
  * settle (): Steps<void> {
    for (const entry of this.#changed ?? []) {
      const { before, after } = entry.staged!
      entry.before = before
      entry.after = after
      entry.staged = undefined
      yield
    }
    this.#changed = undefined
  }

  /** The memories of a document in order, also those that are not visible. */
  * entriesOf (documentId: string): Generator<Entry> {
    const sequence = this.#sequences.get(documentId)
    if (sequence !== undefined) yield * sequence.forwards()
  }

  sizeOf (documentId: string): number {
    return this.#sequences.get(documentId)?.size ?? 0
  }

  add (entry: Entry): void {
    const { documentId } = entry.memory
    if (documentId === null) return
    const sequence = this.#sequences.get(documentId) ?? new SortedList(bySequence)
    sequence.add(entry)
    this.#sequences.set(documentId, sequence)
    this.#chain(sequence.before(entry, 1)[0], entry)
    this.#chain(entry, sequence.after(entry, 1)[0])
  }

  remove (entry: Entry): void {
    const { documentId } = entry.memory
    if (documentId === null) return
    const sequence = this.#sequences.get(documentId)
    if (sequence?.remove(entry) !== true) return
    if (sequence.size === 0) this.#sequences.delete(documentId)
    const { before, after } = entry.staged ?? entry
    this.#chain(before, after)
    // Nothing that is gone holds on to what is there.
    const own = this.#of(entry)
    own.before = undefined
    own.after = undefined
  }

  #chain (before: Entry | undefined, behind: Entry | undefined): void {
    if (before !== undefined) this.#of(before).after = behind
    if (behind !== undefined) this.#of(behind).before = before
  }

  /** What is to be written to. */
  #of (entry: Entry): Neighbours {
    if (this.#changed === undefined) return entry
    if (entry.staged === undefined) {
      entry.staged = { before: entry.before, after: entry.after }
      this.#changed.push(entry)
    }
    return entry.staged
  }
}

function bySequence (a: Entry, b: Entry): number {
  return sequenceInstant(a.memory) - sequenceInstant(b.memory) || byMemoryId(a, b)
}
