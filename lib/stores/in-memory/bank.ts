import type { BankKey } from '../../identity/context.js'
import { takesPart } from '../context.js'
import { ContextIndexing } from './context-indexing.js'
import { isWeight, LexicalIndex, type LexicalDocument } from './lexical-index.js'
import type { VectorArena } from './vector-arena.js'
import { VectorIndex, type VectorEntry } from './vector-index.js'
import type { Memory, NewMemory } from '../vector-store.js'

/** A memory in its bank, with its places in the indexes. */
export interface Entry {
  readonly memory: Memory
  readonly fingerprint: string
  readonly passages: PassageRef[]
  /** Whether its last passage ends in a question. */
  readonly question: boolean
  /** Weights of its own terms, in the order of its postings; absent when all are 1, and for a memory that lends nothing. */
  readonly ownCounts?: readonly number[]
}

/** One passage, as the indexes know it. */
export interface PassageRef {
  readonly entry: Entry
  readonly start: number
  readonly end: number
  lexical?: LexicalDocument<PassageRef>
  vector?: VectorEntry<PassageRef>
}

/** One bank: its memories and the indexes over them. Every method is synchronous, so each is a transaction. */
export class Bank {
  readonly key: BankKey
  readonly lexical = new LexicalIndex<PassageRef>()
  readonly #arena: VectorArena
  readonly #byId = new Map<string, Entry>()
  readonly #byFingerprint = new Map<string, Entry>()
  readonly #context = new ContextIndexing(this.lexical)
  /** Entries that have passages without a vector. */
  readonly #unembedded = new Set<Entry>()
  #vectors: VectorIndex<PassageRef> | undefined
  #nextExpiry = Infinity
  /** Rising by (retainedAt, memoryId); undefined when it has to be sorted anew. */
  #ordered: Entry[] | undefined = []
  #lastRetainedAt: number | null | undefined = null

  constructor (key: BankKey, arena: VectorArena) {
    this.key = key
    this.#arena = arena
  }

  get size (): number {
    return this.#byId.size
  }

  /** Whether every memory is one passage. */
  get isUnsplit (): boolean {
    return this.lexical.size === this.size
  }

  get unembeddedCount (): number {
    return this.#unembedded.size
  }

  get vectors (): VectorIndex<PassageRef> | undefined {
    return this.#vectors
  }

  get lastRetainedAt (): number | null {
    if (this.#lastRetainedAt === undefined) {
      this.#lastRetainedAt = null
      for (const { memory } of this.#byId.values()) this.#lastRetainedAt = Math.max(this.#lastRetainedAt ?? -Infinity, memory.retainedAt)
    }
    return this.#lastRetainedAt
  }

  byId (memoryId: string): Entry | undefined {
    return this.#byId.get(memoryId)
  }

  byFingerprint (fingerprint: string): Entry | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  entries (): Iterable<Entry> {
    return this.#byId.values()
  }

  /** Oldest first. The array is the bank's own: read it, and copy it before anything is awaited. */
  ordered (): readonly Entry[] {
    this.#ordered ??= [...this.#byId.values()].sort(byAge)
    return this.#ordered
  }

  /** Entries that have passages without a vector. */
  unembedded (): Iterable<Entry> {
    return this.#unembedded
  }

  /**
   * Puts all of `added` in and takes all of `removed` out, or throws and changes nothing.
   * The caller has seen to it that no two memories that are left share an id or a fingerprint.
   */
  apply (added: readonly NewMemory[], removed: ReadonlySet<Entry>): void {
    const entries: Entry[] = []
    try {
      // Vectors come first because they are what can fail: their memory may be exhausted.
      for (const memory of added) entries.push(this.#embed(memory))
    } catch (error) {
      for (const entry of entries) this.#unembed(entry)
      throw error
    }
    for (const entry of removed) this.#delete(entry)
    this.#context.update(entries.map((entry, index) => ({ entry, passages: added[index]!.passages })), removed)
    for (const entry of entries) this.#set(entry)
  }

  /** Gives an entry without vectors its own. @throws as VectorIndex.add; the entry is then as it was */
  attach (entry: Entry, vectors: readonly Float32Array[]): void {
    try {
      for (const [index, vector] of vectors.entries()) this.#addVector(entry.passages[index]!, vector)
    } catch (error) {
      this.#unembed(entry)
      throw error
    }
    this.#unembedded.delete(entry)
  }

  /** Drops what has expired at `now`. */
  expire (now: number): void {
    if (now < this.#nextExpiry) return
    this.#nextExpiry = Infinity
    const expired = new Set<Entry>()
    for (const entry of this.#byId.values()) {
      const { expiresAt } = entry.memory
      if (expiresAt === null) continue
      if (expiresAt <= now) expired.add(entry)
      else this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt)
    }
    this.apply([], expired)
  }

  /** Gives the bank's vector memory back. The bank is not used afterwards. */
  release (): void {
    this.#vectors?.release()
  }

  #embed (source: NewMemory): Entry {
    const { fingerprint, passages, ...memory } = source
    const counts = takesPart(memory, passages) ? [...passages[0]!.terms.values()].filter((count) => isWeight(count)) : []
    const entry: Entry = {
      memory, fingerprint, passages: [], question: passages.at(-1)?.question === true, ...(counts.some((count) => count !== 1) && { ownCounts: counts }),
    }
    try {
      for (const { start, end, vector } of passages) {
        const ref: PassageRef = { entry, start, end }
        entry.passages.push(ref)
        if (vector !== undefined) this.#addVector(ref, vector)
      }
    } catch (error) {
      this.#unembed(entry)
      throw error
    }
    return entry
  }

  #addVector (ref: PassageRef, vector: Float32Array): void {
    this.#vectors ??= new VectorIndex(this.#arena, vector.length)
    ref.vector = this.#vectors.add(ref, vector)
  }

  #unembed (entry: Entry): void {
    for (const ref of entry.passages) {
      if (ref.vector !== undefined) this.#vectors?.remove(ref.vector)
      delete ref.vector
    }
  }

  #set (entry: Entry): void {
    const { memory } = entry
    this.#byId.set(memory.memoryId, entry)
    this.#byFingerprint.set(entry.fingerprint, entry)
    if (entry.passages.some(({ vector }) => vector === undefined)) this.#unembedded.add(entry)
    if (memory.expiresAt !== null) this.#nextExpiry = Math.min(this.#nextExpiry, memory.expiresAt)
    if (this.#lastRetainedAt !== undefined) this.#lastRetainedAt = Math.max(this.#lastRetainedAt ?? -Infinity, memory.retainedAt)
    // New memories nearly always come last; an older one (an import) has the order sorted anew when it is next asked for.
    const last = this.#ordered?.at(-1)
    if (last === undefined || byAge(last, entry) < 0) this.#ordered?.push(entry)
    else this.#ordered = undefined
  }

  #delete (entry: Entry): void {
    this.#unembed(entry)
    this.#unembedded.delete(entry)
    this.#byId.delete(entry.memory.memoryId)
    this.#byFingerprint.delete(entry.fingerprint)
    this.#ordered = undefined
    if (this.#lastRetainedAt === entry.memory.retainedAt) this.#lastRetainedAt = this.size === 0 ? null : undefined
  }
}

function byAge (a: Entry, b: Entry): number {
  return a.memory.retainedAt - b.memory.retainedAt || compareText(a.memory.memoryId, b.memory.memoryId)
}

/** Code-unit order, which no locale changes. */
export function compareText (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
