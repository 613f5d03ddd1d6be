import type { Steps } from '../../concurrency/steps.js'
import { dayOf } from '../../time/days.js'
import { bySequence, sequenceInstant } from '../context.js'
import { SortedList } from '../sorted-list.js'
import { SplitMap } from '../split-map.js'
import type { Entry, Neighbours } from './entry.js'

/**
 * The sequences of a bank (lib/stores/context.ts): its documents, and the memories of each day without a document. The
 * memories of a sequence are a doubly linked list in its order, so that a search reaches the neighbours of a hundred
 * memories without lookups. After `begin`, changes of the links are kept in `staged` until `settle` applies them.
 */
export class Sequences {
  readonly #documents = new SplitMap<SortedList<Entry>>()
  readonly #days = new SplitMap<SortedList<Entry>>()
  /** Entries with staged links; undefined when changes are visible at once. */
  #changed: Entry[] | undefined

  /** How many sequences there are. */
  get count (): number {
    return this.#documents.size + this.#days.size
  }

  /** Starts a change: only readers that look at `staged` see what is added and removed from now on. */
  begin (): void {
    this.#changed = []
  }

  /** Applies the changes since `begin`. */
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

  /** The memories of a document in order, including those that are not visible. */
  * entriesOf (documentId: string): Generator<Entry> {
    const sequence = this.#documents.get(documentId)
    if (sequence !== undefined) yield * sequence.forwards()
  }

  sizeOf (documentId: string): number {
    return this.#documents.get(documentId)?.size ?? 0
  }

  add (entry: Entry): void {
    const { sequences, key } = this.#placeOf(entry)
    let sequence = sequences.get(key)
    if (sequence === undefined) {
      sequence = new SortedList<Entry>(bySequence)
      sequences.set(key, sequence)
    }
    sequence.add(entry)
    this.#chain(sequence.previous(entry), entry)
    this.#chain(entry, sequence.next(entry))
  }

  remove (entry: Entry): void {
    const { sequences, key } = this.#placeOf(entry)
    const sequence = sequences.get(key)
    if (sequence?.remove(entry) !== true) return
    if (sequence.size === 0) sequences.delete(key)
    const { before, after } = entry.staged ?? entry
    this.#chain(before, after)
    // A removed entry must not keep others from being garbage-collected.
    const own = this.#of(entry)
    own.before = undefined
    own.after = undefined
  }

  #placeOf ({ memory }: Entry): { sequences: SplitMap<SortedList<Entry>>, key: string } {
    return memory.documentId === null
      ? { sequences: this.#days, key: String(dayOf(sequenceInstant(memory))) }
      : { sequences: this.#documents, key: memory.documentId }
  }

  #chain (before: Entry | undefined, after: Entry | undefined): void {
    if (before !== undefined) this.#of(before).after = after
    if (after !== undefined) this.#of(after).before = before
  }

  /** The links to modify: the staged ones during a change. */
  #of (entry: Entry): Neighbours {
    if (this.#changed === undefined) return entry
    if (entry.staged === undefined) {
      entry.staged = { before: entry.before, after: entry.after }
      this.#changed.push(entry)
    }
    return entry.staged
  }
}
