import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { NewMemory } from '../vector-store.js'
import { Documents } from './documents.js'
import { byAge, byMemoryId, Entry, REMOVED, type Visibility, type PassageRef } from './entry.js'
import { ExpiryHeap } from './expiry-heap.js'
import { LexicalIndex } from './lexical-index.js'
import type { Steps } from '../../concurrency/steps.js'
import { BANK_BYTES, entryBytes, indexBytes } from './capacity.js'
import { SortedList } from '../sorted-list.js'
import { SplitMap } from '../split-map.js'
import type { VectorArena } from './vector-arena.js'
import { VectorIndex } from './vector-index.js'

/** A change that readers do not see before it is committed, and that is then tidied up. */
interface Change {
  adding: Visibility
  removing: Visibility
  /** Added entries whose id or fingerprint is that of one which goes. */
  readonly byId: SplitMap<Entry>
  readonly byFingerprint: SplitMap<Entry>
}

/**
 * One bank: its memories and the indexes over them. What it tells is of one moment as long as nothing is awaited;
 * `version` tells whether that is still the same after something was.
 */
export class Bank {
  readonly key: BankKey
  /** `bankKeyString` of the key. */
  readonly id: string
  readonly lexical = new LexicalIndex<PassageRef>()
  readonly #arena: VectorArena
  readonly #byId = new SplitMap<Entry>()
  readonly #byFingerprint = new SplitMap<Entry>()
  readonly #documents = new Documents()
  readonly #expiries = new ExpiryHeap<Entry>()
  /** Those that a change under way adds or removes are in both lists. */
  readonly #ordered = new SortedList(byAge)
  readonly #unembedded = new SortedList(byMemoryId)
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

  /** Another one whenever what readers see, or where it lies, has changed. */
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

  /** Memories that have passages with one. */
  get embeddedCount (): number {
    return this.#embeddedCount
  }

  /** Those of entries that are not visible among them while a change is under way. */
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

  /** Whether what a change has staged of an entry (its neighbours) is what readers see. */
  get isCommitted (): boolean {
    return this.#change?.adding.isVisible === true
  }

  /** When the next memory expires. */
  get nextExpiry (): number {
    return this.#expiries.next
  }

  get lastRetainedAt (): number | null {
    if (this.#newest?.version !== this.#version) {
      let retainedAt: number | null = null
      for (const entry of this.#ordered.backwards()) {
        if (!entry.isVisible) continue
        retainedAt = entry.memory.retainedAt
        break
      }
      this.#newest = { version: this.#version, retainedAt }
    }
    return this.#newest.retainedAt
  }

  byId (memoryId: string): Entry | undefined {
    return visible(this.#byId.get(memoryId)) ?? visible(this.#change?.byId.get(memoryId))
  }

  byFingerprint (fingerprint: string): Entry | undefined {
    return visible(this.#byFingerprint.get(fingerprint)) ?? visible(this.#change?.byFingerprint.get(fingerprint))
  }

  /** Oldest first, also those that are not visible. */
  ordered (): Generator<Entry> {
    return this.#ordered.forwards()
  }

  /** Newest first, also those that are not visible. @param isBefore whether an entry is on or before where to begin */
  backwards (isBefore?: (entry: Entry) => boolean): Generator<Entry> {
    return this.#ordered.backwards(isBefore)
  }

  /**
   * Entries that have passages without a vector, by id, also those that are not visible.
   * @param after only those behind this id
   */
  unembedded (after?: string): Generator<Entry> {
    return this.#unembedded.forwards(after === undefined ? undefined : ({ memory }) => memory.memoryId <= after)
  }

  /** Those that have expired at `now`, also those that are not visible. */
  expired (now: number): Generator<Entry> {
    return this.#expiries.expired(now)
  }

  /**
   * Puts all of `added` in and takes all of `removed` out, or throws and changes nothing. The caller has seen to it
   * that no two memories that are left share an id or a fingerprint.
   * @param hidden whether readers may come between the pieces: then they see nothing of it before it is there as a
   * whole
   * @param committed called in the moment in which it is
   */
  * apply (
    added: readonly NewMemory[], removed: readonly Entry[],
    { hidden = false, committed = () => {} }: { hidden?: boolean, committed?: () => void } = {},
  ): Steps<void> {
    const change: Change | undefined = hidden
      ? {
          adding: { isVisible: false },
          removing: { isVisible: true },
          byId: new SplitMap(),
          byFingerprint: new SplitMap(),
        }
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
    this.#unembedded.remove(entry)
    this.#unembeddedCount--
    this.#embeddedCount++
    this.#version++
  }

  /** Takes what was removed out of the index for good. */
  * sweep (): Steps<void> {
    // A search that stands still between two pieces must not go on over postings that have moved.
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
      // Vectors come first because they are what can fail: their memory may be exhausted.
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
      this.#list(entry)
      this.#byId.set(entry.memory.memoryId, entry)
      this.#byFingerprint.set(entry.fingerprint, entry)
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
    this.#documents.begin()
    const documents = yield * this.#index(entries, added, removed)
    const counts = { entries: 0, embedded: 0, unembedded: 0, bytes: 0 }
    for (const entry of entries) {
      counts.bytes += entryBytes(entry)
      counts.embedded += Number(entry.isEmbedded)
      counts.unembedded += Number(entry.isUnembedded)
      this.#list(entry)
      putOrWait(this.#byId, change.byId, entry.memory.memoryId, entry)
      putOrWait(this.#byFingerprint, change.byFingerprint, entry.fingerprint, entry)
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
    yield * this.#settle(change, entries, removed, documents)
  }

  /** What a committed change leaves to do. */
  * #settle (change: Change, entries: readonly Entry[], removed: readonly Entry[], documents: ReadonlyArray<NonNullable<PassageRef['lexical']>>): Steps<void> {
    for (const entry of removed) {
      this.#delete(entry)
      entry.visibility = REMOVED
      this.#version++
      yield
    }
    for (const entry of entries) {
      if (change.byId.delete(entry.memory.memoryId)) this.#byId.set(entry.memory.memoryId, entry)
      if (change.byFingerprint.delete(entry.fingerprint)) this.#byFingerprint.set(entry.fingerprint, entry)
      entry.visibility = undefined
      yield
    }
    for (const document of documents) {
      this.lexical.settle(document)
      this.#version++
      yield
    }
    this.lexical.end()
    yield * this.#documents.settle()
    this.#change = undefined
  }

  /** Takes `removed` out of the indexes and puts `added` in. @returns the documents of the lexical index that were */
  * #index (entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[]): Steps<Array<NonNullable<PassageRef['lexical']>>> {
    const touched: Array<NonNullable<PassageRef['lexical']>> = []
    for (const entry of removed) {
      this.#documents.remove(entry)
      for (const { lexical } of entry.passages) {
        this.lexical.remove(lexical!)
        touched.push(lexical!)
        yield
      }
    }
    for (const [index, entry] of entries.entries()) {
      this.#documents.add(entry)
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

  #list (entry: Entry): void {
    this.#ordered.add(entry)
    if (entry.isUnembedded) this.#unembedded.add(entry)
    const { expiresAt } = entry.memory
    if (expiresAt !== null) entry.expiry = this.#expiries.add(entry, expiresAt)
  }

  #delete (entry: Entry): void {
    this.#entryBytes -= entryBytes(entry)
    this.#ordered.remove(entry)
    if (entry.isUnembedded) this.#unembedded.remove(entry)
    if (entry.expiry !== undefined) this.#expiries.forget(entry.expiry)
    this.#unembed(entry)
    const { memory: { memoryId }, fingerprint } = entry
    if (this.#byId.get(memoryId) === entry) this.#byId.delete(memoryId)
    if (this.#byFingerprint.get(fingerprint) === entry) this.#byFingerprint.delete(fingerprint)
  }
}

function visible (entry: Entry | undefined): Entry | undefined {
  return entry?.isVisible === true ? entry : undefined
}

/** An entry takes its key, unless one that is on its way out still has it. */
function putOrWait (map: SplitMap<Entry>, waiting: SplitMap<Entry>, key: string, entry: Entry): void {
  if (map.get(key) === undefined) map.set(key, entry)
  else waiting.set(key, entry)
}
