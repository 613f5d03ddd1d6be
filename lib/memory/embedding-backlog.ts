import { bankKeyString, type BankKey } from '../identity/context.js'
import { nameOf } from '../stores/speaker.js'
import type { Memory, NewMemory, Unembedded } from '../stores/vector-store.js'

/** A memory that lacks its vectors. */
export interface BacklogEntry {
  /** Unique across banks. */
  key: string
  bank: BankKey
  memoryId: string
  fingerprint: string
  text: string
  /** The name of the speaker, as in `nameOf`. */
  name: string | null
  passages: ReadonlyArray<{ start: number, end: number }>
  /** The number of memories that had received vectors when this one last failed; undefined before that. */
  successesAtLastTry?: number
  /** How often it has failed alone after others had succeeded since its last try. */
  failures?: number
}

/** Bounds of the backlog, about 32 MB; memories beyond them are found again by a scan. */
const MAX_MEMORIES = 10_000
const MAX_CHARACTERS = 16_000_000
/** Bounds of one batch. A batch has at least one memory, however many passages it has. */
const BATCH_MEMORIES = 32
const BATCH_PASSAGES = 64

export function backlogKey (bank: BankKey, memoryId: string): string {
  return `${memoryId} ${bankKeyString(bank)}`
}

export function backlogEntry (
  bank: BankKey, memory: Pick<Memory, 'memoryId' | 'text' | 'speaker'>,
  { fingerprint, passages }: Pick<NewMemory | Unembedded, 'fingerprint' | 'passages'>,
): BacklogEntry {
  // Only the offsets are kept: the terms take memory and are not needed.
  const offsets = passages.map(({ start, end }) => ({ start, end }))
  const { memoryId, text } = memory
  return {
    key: backlogKey(bank, memoryId), bank, memoryId, fingerprint, text, name: nameOf(memory), passages: offsets,
  }
}

/** Memories that wait for their vectors, each once, in order of arrival. */
export class EmbeddingBacklog {
  readonly #entries = new Map<string, BacklogEntry>()
  /** The same entries by bank, in the same order. */
  readonly #banks = new Map<string, Set<BacklogEntry>>()
  #characters = 0

  get size (): number {
    return this.#entries.size
  }

  has (key: string): boolean {
    return this.#entries.has(key)
  }

  /**
   * Adds an entry, which replaces an earlier one of the same memory.
   * @returns false when the backlog is full
   */
  add (entry: BacklogEntry): boolean {
    this.delete(entry.key)
    const isFull = this.#entries.size >= MAX_MEMORIES
    const wouldBeTooLong = this.#entries.size > 0 && this.#characters + entry.text.length > MAX_CHARACTERS
    if (isFull || wouldBeTooLong) return false
    this.#set(entry)
    return true
  }

  /** Returns a taken entry to the end, even beyond the bounds, unless a newer entry of the memory has been added. */
  putBack (entry: BacklogEntry): void {
    if (!this.#entries.has(entry.key)) this.#set(entry)
  }

  delete (key: string): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#characters -= entry.text.length
    const id = bankKeyString(entry.bank)
    const ofBank = this.#banks.get(id)!
    ofBank.delete(entry)
    if (ofBank.size === 0) this.#banks.delete(id)
    return this.#entries.delete(key)
  }

  /**
   * Takes a batch of memories of one bank, that of the oldest entry. An entry that failed before forms its own batch,
   * so that it cannot fail the others.
   */
  take (onlyOne: boolean): BacklogEntry[] {
    const batch: BacklogEntry[] = []
    let passages = 0
    const [oldest] = this.#entries.values()
    if (oldest === undefined) return batch
    for (const entry of this.#banks.get(bankKeyString(oldest.bank))!) {
      if (batch.length > 0) {
        if (entry.successesAtLastTry !== undefined) continue
        if (passages + entry.passages.length > BATCH_PASSAGES) break
      }
      batch.push(entry)
      passages += entry.passages.length
      if (onlyOne || batch[0]!.successesAtLastTry !== undefined || batch.length === BATCH_MEMORIES) break
    }
    for (const { key } of batch) this.delete(key)
    return batch
  }

  #set (entry: BacklogEntry): void {
    this.#entries.set(entry.key, entry)
    const id = bankKeyString(entry.bank)
    const ofBank = this.#banks.get(id)
    if (ofBank === undefined) this.#banks.set(id, new Set([entry]))
    else ofBank.add(entry)
    this.#characters += entry.text.length
  }
}

/** The memories that writes in progress are replacing: no vectors of their old texts may be stored. */
export class ReplacedMemories {
  /** By memory, the number of those writes. */
  readonly #writes = new Map<string, number>()

  has (key: string): boolean {
    return this.#writes.has(key)
  }

  begin (key: string): void {
    this.#writes.set(key, (this.#writes.get(key) ?? 0) + 1)
  }

  end (key: string): void {
    const remaining = this.#writes.get(key)! - 1
    if (remaining === 0) this.#writes.delete(key)
    else this.#writes.set(key, remaining)
  }
}
