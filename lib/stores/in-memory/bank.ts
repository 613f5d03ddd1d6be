import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { NewMemory } from '../vector-store.js'
import { BankEntries } from './bank-entries.js'
import { Documents } from './documents.js'
import { Entry, REMOVED, type PassageRef, type Visibility } from './entry.js'
import { LexicalIndex } from './lexical-index.js'
import type { Steps } from '../../concurrency/steps.js'
import { BANK_BYTES, entryBytes, indexBytes } from './capacity.js'
import type { VectorArena } from './vector-arena.js'
import { VectorIndex } from './vector-index.js'

type LexicalHandle = NonNullable<PassageRef['lexical']>

/** A change that readers do not see before it is committed as a whole. */
interface Change {
  adding: Visibility
  removing: Visibility
}

/**
 * One bank: its memories and the indexes over them. What it tells is of one moment as long as nothing is awaited;
 * `version` tells whether that is still the same after something was.
 */
export class Bank {
  readonly key: BankKey
  /** `bankKeyString` of the key. */
  readonly id: string
  readonly entries = new BankEntries()
  readonly lexical = new LexicalIndex<PassageRef>()
  readonly #arena: VectorArena
  readonly documents = new Documents()
  #vectors: VectorIndex<PassageRef> | undefined
  #change: Change | undefined
  #version = 0
  #size = 0
  #embeddedCount = 0
  #unembeddedCount = 0
  #entryBytes = 0
  #isInOrder = true
  #lastId = ''
  #newest: { version: number, retainedAt: number | null } | undefined

  constructor (key: BankKey, arena: VectorArena) {
    this.key = key
    this.id = bankKeyString(key)
    this.#arena = arena
  }

  /** Changes whenever the visible content or its places in the indexes do: a read that has paused compares it. */
  get version (): number {
    return this.#version
  }

  get size (): number {
    return this.#size
  }

  /** Estimated bytes that the bank takes. */
  get bytes (): number {
    return BANK_BYTES + this.#entryBytes + indexBytes(this.lexical.extent) + (this.#vectors?.bytes ?? 0)
  }

  /** Whether every memory is one passage. */
  get isUnsplit (): boolean {
    return this.lexical.size === this.#size
  }

  /** Memories that have passages without a vector. */
  get unembeddedCount (): number {
    return this.#unembeddedCount
  }

  /** Memories that have passages with a vector. */
  get embeddedCount (): number {
    return this.#embeddedCount
  }

  /** While a change is under way they include the vectors of entries that are not visible. */
  get vectors (): VectorIndex<PassageRef> | undefined {
    return this.#vectors
  }

  /** Whether there may be entries that readers must not see. */
  get isChanging (): boolean {
    return this.#change !== undefined
  }

  /** Whether the first passages of memories lie in the lexical index in the order of the memories' ids. */
  get isInOrder (): boolean {
    return this.#isInOrder
  }

  /** Whether readers see the staged neighbours of an entry (`Entry.staged`). */
  get isCommitted (): boolean {
    return this.#change?.adding.isVisible === true
  }

  get lastRetainedAt (): number | null {
    if (this.#newest?.version !== this.#version) {
      let retainedAt: number | null = null
      for (const entry of this.entries.backwards()) {
        if (!entry.isVisible) continue
        retainedAt = entry.memory.retainedAt
        break
      }
      this.#newest = { version: this.#version, retainedAt }
    }
    return this.#newest.retainedAt
  }

  /**
   * Puts all of `added` in and takes all of `removed` out, or throws and changes nothing. The caller has seen to it
   * that no two memories that are left share an id or a fingerprint.
   * @param hidden whether readers may come between the pieces: then they see nothing of it before it is there as a
   * whole
   * @param committed called when the change becomes visible
   */
  * apply (
    added: readonly NewMemory[], removed: readonly Entry[],
    { hidden = false, committed = () => {} }: { hidden?: boolean, committed?: () => void } = {},
  ): Steps<void> {
    const change: Change | undefined = hidden
      ? { adding: { isVisible: false }, removing: { isVisible: true } }
      : undefined
    this.#change = change
    const entries = yield * this.#embed(added, change?.adding)
    if (change === undefined) yield * this.#applyOpenly(entries, added, removed)
    else yield * this.#applyHidden(change, entries, added, removed, committed)
    this.#version++
    if (change === undefined) committed()
  }

  /** Gives an entry without vectors its own. @throws as VectorIndex.add; the entry is then as it was */
  attach (entry: Entry, vectors: readonly Float32Array[]): void {
    try {
      for (const [index, vector] of vectors.entries()) this.#addVector(entry.passages[index]!, vector)
    } catch (error) {
      this.#unembed(entry)
      throw error
    }
    this.entries.noteEmbedded(entry)
    this.#unembeddedCount--
    this.#embeddedCount++
    this.#version++
  }

  /** Drops removed documents from the postings of the lexical index. */
  * sweep (): Steps<void> {
    // A search that has paused must not go on over postings that have moved; the version tells it.
    const work = this.lexical.sweep()
    while (work.next().done !== true) {
      this.#version++
      yield
    }
    this.#version++
  }

  /** Gives the bank's vector memory back. The bank is not used afterwards. */
  release (): void {
    this.#vectors?.release()
    this.#version++
  }

  * #embed (added: readonly NewMemory[], mark: Visibility | undefined): Steps<Entry[]> {
    const entries: Entry[] = []
    try {
      // Vectors are added first because only they can fail, when their memory is exhausted.
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
        this.#unembed(entry)
        yield
      }
      this.#change = undefined
      throw error
    }
    return entries
  }

  * #applyOpenly (entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[]): Steps<void> {
    for (const entry of removed) {
      this.#count(entry, -1)
      this.#delete(entry)
      entry.visibility = REMOVED
      yield
    }
    yield * this.#index(entries, added, removed)
    for (const entry of entries) {
      this.#entryBytes += entryBytes(entry)
      this.#count(entry, 1)
      this.entries.add(entry)
      yield
    }
  }

  * #applyHidden (
    change: Change, entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[],
    committed: () => void,
  ): Steps<void> {
    for (const entry of removed) {
      entry.visibility = change.removing
      yield
    }
    this.lexical.begin()
    this.documents.begin()
    const documents = yield * this.#index(entries, added, removed)
    const counts = { entries: 0, embedded: 0, unembedded: 0, bytes: 0 }
    for (const entry of entries) {
      counts.bytes += entryBytes(entry)
      counts.embedded += Number(entry.isEmbedded)
      counts.unembedded += Number(entry.isUnembedded)
      this.entries.add(entry)
      yield
    }
    for (const entry of removed) {
      counts.embedded -= Number(entry.isEmbedded)
      counts.unembedded -= Number(entry.isUnembedded)
      yield
    }
    this.#size += entries.length - removed.length
    this.#embeddedCount += counts.embedded
    this.#unembeddedCount += counts.unembedded
    this.#entryBytes += counts.bytes
    change.adding.isVisible = true
    change.removing.isVisible = false
    this.lexical.commit()
    this.#version++
    committed()
    yield
    yield * this.#settle(entries, removed, documents)
  }

  /** Makes the rest of a committed change: what was hidden from readers is removed or becomes ordinary. */
  * #settle (
    entries: readonly Entry[], removed: readonly Entry[], documents: readonly LexicalHandle[],
  ): Steps<void> {
    for (const entry of removed) {
      this.#delete(entry)
      entry.visibility = REMOVED
      this.#version++
      yield
    }
    for (const entry of entries) {
      this.entries.settle(entry)
      entry.visibility = undefined
      yield
    }
    for (const document of documents) {
      this.lexical.settle(document)
      this.#version++
      yield
    }
    this.lexical.end()
    yield * this.documents.settle()
    this.#change = undefined
  }

  /** Removes `removed` from the indexes and adds `added`. @returns the documents of the lexical index concerned */
  * #index (
    entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[],
  ): Steps<LexicalHandle[]> {
    const touched: LexicalHandle[] = []
    for (const entry of removed) {
      this.documents.remove(entry)
      for (const { lexical } of entry.passages) {
        this.lexical.remove(lexical!)
        touched.push(lexical!)
        yield
      }
    }
    for (const [index, entry] of entries.entries()) {
      this.documents.add(entry)
      const [head] = entry.passages
      for (const [at, { terms, length }] of added[index]!.passages.entries()) {
        const ref = entry.passages[at]!
        touched.push(ref.lexical = this.lexical.add(ref, terms, length, head!.lexical))
        if (at === 0) this.#noteHead(entry, ref.lexical.ordinal)
        yield
      }
    }
    return touched
  }

  #noteHead (entry: Entry, ordinal: number): void {
    const { memoryId } = entry.memory
    entry.head = ordinal
    if (memoryId < this.#lastId || ordinal !== this.lexical.capacity - 1) this.#isInOrder = false
    this.#lastId = memoryId
  }

  #addVector (ref: PassageRef, vector: Float32Array): void {
    this.#vectors ??= new VectorIndex(this.#arena, vector.length)
    ref.vector = this.#vectors.add(ref, vector)
  }

  #unembed (entry: Entry): void {
    for (const ref of entry.passages) {
      if (ref.vector !== undefined) this.#vectors?.remove(ref.vector)
      ref.vector = undefined
    }
  }

  #count (entry: Entry, by: 1 | -1): void {
    this.#size += by
    if (entry.isEmbedded) this.#embeddedCount += by
    if (entry.isUnembedded) this.#unembeddedCount += by
  }

  #delete (entry: Entry): void {
    this.#entryBytes -= entryBytes(entry)
    this.entries.remove(entry)
    this.#unembed(entry)
  }
}
