import { bankKeyString, withoutCaller, type BankKey } from '../../identity/context.js'
import type { NewMemory } from '../vector-store.js'
import { BankEntries } from './bank-entries.js'
import { BankIndexes } from './bank-indexes.js'
import { REMOVED, type Entry, type PassageRef } from './entry.js'
import type { LexicalIndex } from './lexical-index.js'
import type { Sequences } from './sequences.js'
import { runSync, type Steps } from '../../concurrency/steps.js'
import { BANK_BYTES, entryBytes } from './capacity.js'
import type { VectorArena } from './vector-arena.js'
import type { VectorIndex } from './vector-index.js'

/**
 * One bank: its memories and their indexes. Reads without an `await` between them are consistent; after one, an
 * unchanged `version` shows that they still are.
 */
export class Bank {
  readonly key: BankKey
  /** `bankKeyString` of the key. */
  readonly id: string
  readonly entries = new BankEntries()
  readonly lexical: LexicalIndex
  readonly sequences: Sequences
  readonly #indexes: BankIndexes
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
   * @param committed called when the change is made
   */
  * apply (
    added: readonly NewMemory[], removed: readonly Entry[], { committed = () => {} }: { committed?: () => void } = {},
  ): Steps<void> {
    // Vectors are added first because only they can fail, when the arena is full.
    const entries = runSync(this.#indexes.embed(added, undefined))
    runSync(this.#applyOpenly(entries, added, removed))
    this.#version++
    committed()
  }

  /** Adds vectors to an entry without any. @throws as VectorIndex.add; the entry is then unchanged */
  attach (entry: Entry, vectors: readonly Float32Array[]): void {
    this.#indexes.attach(entry, vectors)
    this.entries.noteEmbedded(entry)
    this.#unembeddedCount--
    this.#embeddedCount++
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
    this.#indexes.replace(entries, added, removed)
    for (const entry of entries) {
      this.#entryBytes += entryBytes(entry)
      this.#count(entry, 1)
      this.entries.add(entry)
      yield
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
    this.#indexes.unembed(entry)
  }
}
