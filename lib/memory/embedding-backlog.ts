import { bankKeyString, type BankKey } from '../identity/context.js'

/** A memory that lacks its vectors. */
export interface BacklogEntry {
  /** Of bank and memory together. */
  key: string
  bank: BankKey
  memoryId: string
  text: string
  passages: ReadonlyArray<{ start: number, end: number }>
  /** How many memories had got their vectors when this one was first tried in vain; undefined before that. */
  triedAt?: number
}

/** Memories and characters that wait at most, about 32 MB; what is beyond is found again by a scan. */
const MAX_MEMORIES = 10_000
const MAX_CHARACTERS = 16_000_000
/** Of one batch. A batch has a memory at least, however many passages that has. */
const BATCH_MEMORIES = 32
const BATCH_PASSAGES = 64

export function backlogKey (bank: BankKey, memoryId: string): string {
  return `${memoryId} ${bankKeyString(bank)}`
}

/** Memories that wait for their vectors, each once, in the order in which they came. */
export class EmbeddingBacklog {
  readonly #maxMemories: number
  readonly #entries = new Map<string, BacklogEntry>()
  #characters = 0

  constructor (maxMemories = MAX_MEMORIES) {
    this.#maxMemories = maxMemories
  }

  get size (): number {
    return this.#entries.size
  }

  has (key: string): boolean {
    return this.#entries.has(key)
  }

  /** Takes one in; a later text of the same memory is put in the place of the earlier. @returns false when there is no room */
  add (entry: BacklogEntry): boolean {
    this.delete(entry.key)
    if (this.#entries.size >= this.#maxMemories || (this.#entries.size > 0 && this.#characters + entry.text.length > MAX_CHARACTERS)) return false
    this.#set(entry)
    return true
  }

  /** Puts one that was taken to the end, room or not, unless a later text has come meanwhile. */
  putBack (entry: BacklogEntry): void {
    if (!this.#entries.has(entry.key)) this.#set(entry)
  }

  delete (key: string): boolean {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#characters -= entry.text.length
    return this.#entries.delete(key)
  }

  /** Takes a batch out: memories of one bank. One that was tried in vain comes alone, so that it spoils no other's. */
  take (alone: boolean): BacklogEntry[] {
    const batch: BacklogEntry[] = []
    let passages = 0
    for (const entry of this.#entries.values()) {
      const [first] = batch
      if (first !== undefined) {
        if (entry.triedAt !== undefined || bankKeyString(entry.bank) !== bankKeyString(first.bank)) continue
        if (passages + entry.passages.length > BATCH_PASSAGES) break
      }
      batch.push(entry)
      passages += entry.passages.length
      if (alone || batch[0]!.triedAt !== undefined || batch.length === BATCH_MEMORIES) break
    }
    for (const { key } of batch) this.delete(key)
    return batch
  }

  #set (entry: BacklogEntry): void {
    this.#entries.set(entry.key, entry)
    this.#characters += entry.text.length
  }
}
