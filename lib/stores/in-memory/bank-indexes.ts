import type { Steps } from '../../concurrency/steps.js'
import type { NewMemory } from '../vector-store.js'
import { indexBytes, SEQUENCE_BYTES } from './capacity.js'
import { Entry, type PassageRef, type Visibility } from './entry.js'
import { LexicalIndex } from './lexical-index.js'
import { Sequences } from './sequences.js'
import type { VectorArena } from './vector-arena.js'
import { VectorIndex } from './vector-index.js'

/** The indexes of a bank's memories: by terms, by vectors, and by position in their sequences. */
export class BankIndexes {
  readonly lexical = new LexicalIndex()
  /** Created with the first vector. During a change it also contains the vectors of entries that are not visible. */
  vectors: VectorIndex<PassageRef> | undefined
  readonly sequences = new Sequences()
  readonly #arena: VectorArena

  constructor (arena: VectorArena) {
    this.#arena = arena
  }

  /** Estimated bytes. */
  get bytes (): number {
    return indexBytes(this.lexical.extent) + this.sequences.count * SEQUENCE_BYTES + (this.vectors?.bytes ?? 0)
  }

  /** Creates entries and adds their vectors, all or none. */
  * embed (added: readonly NewMemory[], mark: Visibility | undefined): Steps<Entry[]> {
    const entries: Entry[] = []
    try {
      for (const source of added) {
        const entry = new Entry(source, mark)
        entries.push(entry)
        for (const [index, { vector }] of source.passages.entries()) {
          if (vector !== undefined) this.#addVector(entry.passages[index]!, vector)
        }
        yield
      }
    } catch (error) {
      for (const entry of entries) {
        this.unembed(entry)
        yield
      }
      throw error
    }
    return entries
  }

  /** Adds vectors to an entry without any. @throws as VectorIndex.add; the entry is then unchanged */
  attach (entry: Entry, vectors: readonly Float32Array[]): void {
    try {
      for (const [index, vector] of vectors.entries()) this.#addVector(entry.passages[index]!, vector)
    } catch (error) {
      this.unembed(entry)
      throw error
    }
  }

  unembed (entry: Entry): void {
    for (const ref of entry.passages) {
      if (ref.vector !== undefined) this.vectors?.remove(ref.vector)
      ref.vector = undefined
    }
  }

  /** Removes `removed` from the lexical index and the sequences, and adds `entries`, created from `added`. */
  replace (entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[]): void {
    for (const entry of removed) {
      this.sequences.remove(entry)
      this.lexical.remove(entry)
    }
    for (const [index, entry] of entries.entries()) {
      this.sequences.add(entry)
      this.lexical.add(entry, added[index]!.passages)
    }
  }

  #addVector (ref: PassageRef, vector: Float32Array): void {
    this.vectors ??= new VectorIndex(this.#arena, vector.length)
    ref.vector = this.vectors.add(ref, vector)
  }
}
