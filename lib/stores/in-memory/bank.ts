import { bankKeyString, withoutCaller, type BankKey } from '../../identity/context.js'
import type { NewMemory } from '../vector-store.js'
import { BankEntries } from './bank-entries.js'
import { BankIndexes } from './bank-indexes.js'
import { REMOVED, type Entry, type PassageRef, type Visibility } from './entry.js'
import type { LexicalIndex } from './lexical-index.js'
import type { IndexedPassage } from './passage-table.js'
import type { Sequences } from './sequences.js'
import type { Steps } from '../../concurrency/steps.js'
import { BANK_BYTES, entryBytes } from './capacity.js'
import type { VectorArena } from './vector-arena.js'
import type { VectorIndex } from './vector-index.js'

/** A change that readers see only once it is committed as a whole. */
interface Change {
  adding: Visibility
  removing: Visibility
}

/**
 * One bank: its memories and their indexes. Reads without an `await` between them are consistent; after one, an
 * unchanged `version` shows that they still are.
 */
export class Bank {
  readonly key: BankKey
  /** `bankKeyString` of the key. */
  readonly id: string
  readonly entries = new BankEntries()
  readonly lexical: LexicalIndex<Entry>
  readonly sequences: Sequences
  readonly #indexes: BankIndexes
  #change: Change | undefined
  #version = 0
  #size = 0
  #embeddedCount = 0
  #unembeddedCount = 0
  #entryBytes = 0
  #newest: { version: number, retainedAt: number | null } | undefined

  constructor (key: BankKey, arena: VectorArena) {
    // Without the caller of the first write: the bank is everyone's.
    this.key = withoutCaller(key)
    this.id = bankKeyString(key)
    this.#indexes = new BankIndexes(arena)
    this.lexical = this.#indexes.lexical
    this.sequences = this.#indexes.sequences
  }

  /**
   * Incremented when the visible content or its positions in the indexes change; a read that was suspended compares it.
   */
  get version (): number {
    return this.#version
  }

  get size (): number {
    return this.#size
  }

  /** Estimated bytes that the bank takes. */
  get bytes (): number {
    return BANK_BYTES + this.#entryBytes + this.#indexes.bytes
  }

  /** Whether every memory has a single passage. */
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

  get vectors (): VectorIndex<PassageRef> | undefined {
    return this.#indexes.vectors
  }

  get isInOrder (): boolean {
    return this.#indexes.isInOrder
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
   * Adds all of `added` and removes all of `removed`, or throws and changes nothing. The caller ensures that no two
   * remaining memories share an id or a fingerprint.
   * @param hidden whether readers may run between the steps: they then see the change only once it is complete
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
    let entries: Entry[]
    try {
      // Vectors are added first because only they can fail, when the arena is full.
      entries = yield * this.#indexes.embed(added, change?.adding)
    } catch (error) {
      this.#change = undefined
      throw error
    }
    if (change === undefined) yield * this.#applyOpenly(entries, added, removed)
    else yield * this.#applyHidden(change, entries, added, removed, committed)
    this.#version++
    if (change === undefined) committed()
  }

  /** Adds vectors to an entry without any. @throws as VectorIndex.add; the entry is then unchanged */
  attach (entry: Entry, vectors: readonly Float32Array[]): void {
    this.#indexes.attach(entry, vectors)
    this.entries.noteEmbedded(entry)
    this.#unembeddedCount--
    this.#embeddedCount++
    this.#version++
  }

  /** Deletes removed passages from the postings of the lexical index. */
  * sweep (): Steps<void> {
    // Postings move, so suspended searches must restart; the new version makes them do so.
    const work = this.lexical.sweep()
    while (work.next().done !== true) {
      this.#version++
      yield
    }
    this.#version++
  }

  /** Releases the bank's vector memory. The bank is not used afterwards. */
  release (): void {
    this.#indexes.vectors?.release()
    this.#version++
  }

  * #applyOpenly (entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[]): Steps<void> {
    for (const entry of removed) {
      this.#count(entry, -1)
      this.#delete(entry)
      entry.visibility = REMOVED
      yield
    }
    yield * this.#indexes.replace(entries, added, removed)
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
    this.#indexes.begin()
    const passages = yield * this.#indexes.replace(entries, added, removed)
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
    yield * this.#settle(entries, removed, passages)
  }

  /** Finishes a committed change: deletes the removed entries, and makes the added ones ordinary. */
  * #settle (
    entries: readonly Entry[], removed: readonly Entry[], passages: readonly IndexedPassage[],
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
    for (const passage of passages) {
      this.lexical.settle(passage)
      this.#version++
      yield
    }
    // The end may sweep the lexical index at once, so a search that began since the last passage must restart.
    this.#version++
    yield * this.#indexes.end()
    this.#change = undefined
  }

  #count (entry: Entry, by: 1 | -1): void {
    this.#size += by
    if (entry.isEmbedded) this.#embeddedCount += by
    if (entry.isUnembedded) this.#unembeddedCount += by
  }

  #delete (entry: Entry): void {
    this.#entryBytes -= entryBytes(entry)
    this.entries.remove(entry)
    this.#indexes.unembed(entry)
  }
}
