import { dayOf } from '../../time/days.js'
import { bySequence, sequenceInstant } from '../context.js'
import { SortedList } from '../sorted-list.js'
import type { Entry } from './entry.js'

/**
 * The sequences of a bank (lib/stores/context.ts): its documents, and the memories of each day without a document. The
 * memories of a sequence are a doubly linked list in its order, so that a search reaches the neighbours of a hundred
 * memories without lookups.
 */
export class Sequences {
  readonly #documents = new Map<string, SortedList<Entry>>()
  readonly #days = new Map<string, SortedList<Entry>>()

  /** How many sequences there are. */
  get count (): number {
    return this.#documents.size + this.#days.size
  }

  /** The memories of a document in order. */
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
    if (sequence === undefined) sequences.set(key, sequence = new SortedList<Entry>(bySequence))
    sequence.add(entry)
    chain(sequence.previous(entry), entry)
    chain(entry, sequence.next(entry))
  }

  remove (entry: Entry): void {
    const { sequences, key } = this.#placeOf(entry)
    const sequence = sequences.get(key)
    if (sequence?.remove(entry) !== true) return
    if (sequence.size === 0) sequences.delete(key)
    chain(entry.before, entry.after)
    // A removed entry must not keep others from being garbage-collected.
    entry.before = undefined
    entry.after = undefined
  }

  #placeOf ({ memory }: Entry): { sequences: Map<string, SortedList<Entry>>, key: string } {
    return memory.documentId === null
      ? { sequences: this.#days, key: String(dayOf(sequenceInstant(memory))) }
      : { sequences: this.#documents, key: memory.documentId }
  }
}

function chain (before: Entry | undefined, after: Entry | undefined): void {
  if (before !== undefined) before.after = after
  if (after !== undefined) after.before = before
}
