import type { BankKey } from '../../identity/context.js'
import { LexicalIndex, type LexicalDocument } from './lexical-index.js'
import type { VectorArena } from './vector-arena.js'
import { VectorIndex, type VectorEntry } from './vector-index.js'
import type { Memory, NewMemory } from '../vector-store.js'

/** A memory in its bank, with its places in the indexes. */
export interface Entry {
  readonly memory: Memory
  readonly fingerprint: string
  readonly passages: PassageRef[]
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

  /**
   * Puts all of `added` in and takes all of `removed` out, or throws and changes nothing.
   * The caller has seen to it that no two memories that are left share an id or a fingerprint.
   */
  apply (added: readonly NewMemory[], removed: ReadonlySet<Entry>): void {
    const entries: Entry[] = []
    try {
      // Indexing comes first because it is what can fail: the vector memory may be exhausted.
      for (const memory of added) entries.push(this.#index(memory))
    } catch (error) {
      for (const entry of entries) this.#unindex(entry)
      throw error
    }
    for (const entry of removed) this.#delete(entry)
    for (const entry of entries) this.#set(entry)
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

  #index (source: NewMemory): Entry {
    const { fingerprint, passages, ...memory } = source
    const entry: Entry = { memory, fingerprint, passages: [] }
    try {
      for (const { start, end, vector, terms, length } of passages) {
        const ref: PassageRef = { entry, start, end }
        entry.passages.push(ref)
        if (vector !== undefined) {
          this.#vectors ??= new VectorIndex(this.#arena, vector.length)
          ref.vector = this.#vectors.add(ref, vector)
        }
        ref.lexical = this.lexical.add(ref, terms, length)
      }
    } catch (error) {
      this.#unindex(entry)
      throw error
    }
    return entry
  }

  #unindex (entry: Entry): void {
    for (const { lexical, vector } of entry.passages) {
      if (lexical !== undefined) this.lexical.remove(lexical)
      if (vector !== undefined) this.#vectors?.remove(vector)
    }
  }

  #set (entry: Entry): void {
    const { memory } = entry
    this.#byId.set(memory.memoryId, entry)
    this.#byFingerprint.set(entry.fingerprint, entry)
    if (memory.expiresAt !== null) this.#nextExpiry = Math.min(this.#nextExpiry, memory.expiresAt)
    if (this.#lastRetainedAt !== undefined) this.#lastRetainedAt = Math.max(this.#lastRetainedAt ?? -Infinity, memory.retainedAt)
    // New memories nearly always come last; an older one (an import) has the order sorted anew when it is next asked for.
    const last = this.#ordered?.at(-1)
    if (last === undefined || byAge(last, entry) < 0) this.#ordered?.push(entry)
    else this.#ordered = undefined
  }

  #delete (entry: Entry): void {
    this.#unindex(entry)
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
