import { getHeapStatistics } from 'node:v8'
import { bankKeyString, identityOf, type BankKey } from '../../access/context.js'
import { dayOf } from '../../base/days.js'
import { ServiceError } from '../../base/service-error.js'
import { compareText } from '../../text/normal-form.js'
import { bySequence, sequenceInstant } from '../context.js'
import { TEXTS } from '../memory-fields.js'
import { indexedPassages } from '../passages.js'
import { type LateVectors, type Memory, memoryOf, type NewMemory, type Passage, type Version } from '../vector-store.js'
import { LexicalIndex } from './lexical-index.js'
import { SortedList } from './sorted-list.js'

/** Decides whether a memory may be found; undefined when every memory may. */
export type Accept = ((memory: Memory) => boolean) | undefined

interface EntryPassage {
  readonly start: number
  readonly end: number
  /** Of length 1, or all zeros. */
  vector: Float32Array | undefined
}

/** A memory with what search needs of it, and in the past of a bank what a Version has besides. */
export type EntrySource = NewMemory & Partial<Pick<Version, 'endedAt' | 'redacted'>>

/** A memory in its bank, or a version of one in what is past of it. */
export class Entry {
  /** That of its memory; of an earlier version followed by its number. */
  readonly id: string
  /** A Version in what is past. */
  readonly memory: Memory | Version
  readonly fingerprint: string
  readonly passages: readonly EntryPassage[]
  /** The number of its first passage in the lexical index; -1 before it has one. */
  head = -1

  /** @throws RangeError for a vector with an element that is not finite */
  constructor (source: EntrySource) {
    const { endedAt, redacted = false } = source
    this.memory = endedAt === undefined ? memoryOf(source) : { ...memoryOf(source), endedAt, redacted }
    this.id = isLast(this.memory) ? source.memoryId : `${source.memoryId}/${source.version}`
    this.fingerprint = source.fingerprint
    this.passages = source.passages.map(({ start, end, vector }) => ({
      start, end, vector: vector === undefined ? undefined : unitVector(vector),
    }))
  }

  /** Whether it is the last version of its memory. */
  get isLast (): boolean {
    return isLast(this.memory)
  }

  /** Its passages, as they were stored. */
  indexed (): Passage[] {
    return indexedPassages(this.memory, this.passages).map((passage, ordinal) => {
      const { vector } = this.passages[ordinal]!
      return vector === undefined ? passage : { ...passage, vector }
    })
  }

  /** Whether one of its passages has a vector. */
  get isEmbedded (): boolean {
    return this.passages.some(({ vector }) => vector !== undefined)
  }

  /** Whether one of its passages lacks a vector. */
  get isUnembedded (): boolean {
    return this.passages.some(({ vector }) => vector === undefined)
  }
}

function isLast (memory: Memory | Version): boolean {
  return !('endedAt' in memory) || memory.endedAt === null
}

/**
 * A copy of the vector, scaled to length 1, so that the product of two is their cosine. A zero vector stays zero.
 * @throws RangeError for an element that is not finite
 */
export function unitVector (vector: Float32Array): Float32Array {
  let squares = 0
  for (const element of vector) squares += element * element
  if (!Number.isFinite(squares)) throw new RangeError('Every element of a vector must be a finite number')
  return squares === 0 ? vector.slice() : vector.map((element) => element / Math.sqrt(squares))
}

/** One bank: its memories and their indexes. What is read of it without an `await` in between is of one moment. */
export class Bank {
  readonly key: BankKey
  /** `bankKeyString` of the key. */
  readonly id: string
  readonly byId = new Map<string, Entry>()
  readonly byFingerprint = new Map<string, Entry>()
  readonly byKey = new Map<string, Entry>()
  /** Those that are derived from others. */
  readonly facts = new Set<Entry>()
  /** In what is past: the earlier versions of memories, by their ids. */
  readonly earlier = new Map<string, Entry[]>()
  /** Oldest first. */
  readonly ordered = new SortedList<Entry>(byAge)
  readonly expiring = new SortedList<Entry>(byExpiry)
  /** Memories that have passages without a vector, by id. */
  readonly unembedded = new SortedList<Entry>(byEntryId)
  readonly lexical = new LexicalIndex()
  /** The sequences of lib/stores/context.ts. */
  readonly #sequences = new Map<string, SortedList<Entry>>()
  #past: Bank | undefined
  #dimensions: number | undefined
  #memoryBytes = 0

  constructor (key: BankKey) {
    this.key = identityOf(key)
    this.id = bankKeyString(key)
  }

  /** Superseded and retired memories, and earlier versions of all; a bank of its own, which no other read meets. */
  get past (): Bank {
    this.#past ??= new Bank(this.key)
    return this.#past
  }

  get hasPast (): boolean {
    return this.#past !== undefined && this.#past.size > 0
  }

  /** The number of memories whose state is current, and of versions that are past. */
  get extent (): number {
    return this.size + (this.#past?.size ?? 0)
  }

  /** The last version of a memory in whatever state. */
  last (memoryId: string): Entry | undefined {
    return this.byId.get(memoryId) ?? this.#past?.byId.get(memoryId)
  }

  /** The part of the bank that has the entry. */
  partOf (entry: Entry): Bank {
    return this.byId.get(entry.id) === entry ? this : this.past
  }

  get size (): number {
    return this.byId.size
  }

  get lastRetainedAt (): number | null {
    return this.ordered.items.at(-1)?.memory.retainedAt ?? null
  }

  /** Estimated bytes of the bank; 0 without memories. */
  get bytes (): number {
    const past = this.#past?.bytes ?? 0
    if (this.size === 0) return past
    const { terms, postings } = this.lexical.extent
    return past + BANK_BYTES + this.#memoryBytes + this.#sequences.size * SEQUENCE_BYTES + terms * TERM_BYTES +
      postings * POSTING_BYTES
  }

  /** The memories of a document, in order. */
  document (documentId: string): readonly Entry[] {
    return this.#sequences.get(documentKey(documentId))?.items ?? []
  }

  /** @throws RangeError for a vector that has another length than those of the bank */
  checkDimensions (vectors: Iterable<ArrayLike<number>>): void {
    let dimensions = this.#dimensions
    for (const { length } of vectors) {
      dimensions ??= length
      if (length === 0 || length !== dimensions) {
        throw new RangeError(`A vector of this bank has ${dimensions} dimensions, not ${length}`)
      }
    }
  }

  /**
   * Adds a memory. It cannot fail: the caller has checked that no two remaining memories share an id or a fingerprint,
   * and the dimensions.
   * @param passages those that the entry was made of
   */
  add (entry: Entry, passages: NewMemory['passages']): void {
    this.byId.set(entry.id, entry)
    this.byFingerprint.set(entry.fingerprint, entry)
    const { key } = entry.memory
    if (key !== null) this.byKey.set(key, entry)
    if (!entry.isLast) {
      const { memoryId } = entry.memory
      this.earlier.set(memoryId, [...this.earlier.get(memoryId) ?? [], entry])
    }
    if (entry.memory.kind === 'fact') this.facts.add(entry)
    this.ordered.add(entry)
    if (expires(entry)) this.expiring.add(entry)
    if (entry.isUnembedded) this.unembedded.add(entry)
    this.#memoryBytes += entryBytes(entry)
    this.#noteDimensions(entry)
    this.lexical.add(entry, passages)
    this.#join(entry)
  }

  /**
   * Adds vectors to the memory that they were computed from, if that lacks them.
   * @param check called with the bytes that they take, before anything changes
   * @throws RangeError as `checkDimensions`, and for an element that is not finite
   */
  attach ({ memoryId, fingerprint, vectors }: LateVectors, check: (bytes: number) => void): boolean {
    const entry = this.byId.get(memoryId)
    if (entry?.fingerprint !== fingerprint) return false
    if (entry.passages.length !== vectors.length || entry.isEmbedded) return false
    this.checkDimensions(vectors)
    const units = vectors.map(unitVector)
    check(units.reduce((sum, { byteLength }) => sum + VECTOR_BYTES + byteLength, 0))
    this.#memoryBytes -= entryBytes(entry)
    for (const [at, passage] of entry.passages.entries()) passage.vector = units[at]!
    this.#memoryBytes += entryBytes(entry)
    this.#noteDimensions(entry)
    this.unembedded.remove([entry])
    return true
  }

  remove (removed: readonly Entry[]): void {
    this.ordered.remove(removed)
    this.expiring.remove(removed.filter(expires))
    this.unembedded.remove(removed.filter(({ isUnembedded }) => isUnembedded))
    this.lexical.remove(removed)
    const bySequence = new Map<string, Entry[]>()
    for (const entry of removed) {
      this.byId.delete(entry.id)
      this.facts.delete(entry)
      if (this.byFingerprint.get(entry.fingerprint) === entry) this.byFingerprint.delete(entry.fingerprint)
      const { key: slot, memoryId } = entry.memory
      if (slot !== null && this.byKey.get(slot) === entry) this.byKey.delete(slot)
      if (!entry.isLast) {
        const others = this.earlier.get(memoryId)?.filter((other) => other !== entry) ?? []
        if (others.length === 0) this.earlier.delete(memoryId)
        else this.earlier.set(memoryId, others)
      }
      this.#memoryBytes -= entryBytes(entry)
      const key = sequenceKey(entry)
      const others = bySequence.get(key)
      if (others === undefined) bySequence.set(key, [entry])
      else others.push(entry)
    }
    for (const [key, entries] of bySequence) {
      const sequence = this.#sequences.get(key)!
      sequence.remove(entries)
      if (sequence.items.length === 0) this.#sequences.delete(key)
    }
  }

  /** Adds a memory to its sequence. */
  #join (entry: Entry): void {
    const key = sequenceKey(entry)
    let sequence = this.#sequences.get(key)
    if (sequence === undefined) this.#sequences.set(key, sequence = new SortedList<Entry>(byPlace))
    const at = sequence.add(entry)
    this.lexical.chain(sequence.items[at - 1], entry)
    this.lexical.chain(entry, sequence.items[at + 1])
  }

  #noteDimensions ({ passages }: Entry): void {
    this.#dimensions ??= passages.find(({ vector }) => vector !== undefined)?.vector!.length
  }
}

function documentKey (documentId: string): string {
  return `document ${documentId}`
}

/** A memory without a document is in the sequence of its day. */
function sequenceKey ({ memory }: Entry): string {
  const { documentId } = memory
  return documentId === null ? `day ${dayOf(sequenceInstant(memory))}` : documentKey(documentId)
}

function byEntryId (a: Entry, b: Entry): number {
  return compareText(a.id, b.id)
}

function byAge (a: Entry, b: Entry): number {
  return a.memory.retainedAt - b.memory.retainedAt || byEntryId(a, b)
}

/** Versions of one memory may have the same place. */
function byPlace (a: Entry, b: Entry): number {
  return bySequence(a, b) || byEntryId(a, b)
}

function byExpiry (a: Entry, b: Entry): number {
  return a.memory.expiresAt! - b.memory.expiresAt! || byEntryId(a, b)
}

/** An earlier version lasts as long as its memory. */
function expires (entry: Entry): boolean {
  return entry.isLast && entry.memory.expiresAt !== null
}

/** Default share of the heap that a store may use: the rest is for requests. */
const HEAP_SHARE = 0.4

// Approximate bytes, measured with `node --expose-gc` on memories of one word and of thousands.
const BANK_BYTES = 3_000
const MEMORY_BYTES = 900
const PASSAGE_BYTES = 100
/** Of a vector, in addition to its elements. */
const VECTOR_BYTES = 200
/** Of a document, or of a day with memories without one. */
const SEQUENCE_BYTES = 200
const TAG_BYTES = 40
const METADATA_BYTES = 180
const TERM_BYTES = 150
const POSTING_BYTES = 20

/** Used and maximum bytes of a store. */
export class Capacity {
  readonly maximumBytes: number
  usedBytes = 0

  constructor (maximumBytes = Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE)) {
    this.maximumBytes = maximumBytes
  }

  /** @throws ServiceError `dependency_unavailable` when so many bytes more do not fit */
  check (bytes: number): void {
    if (this.usedBytes + bytes <= this.maximumBytes) return
    throw new ServiceError('dependency_unavailable', 'The vector store is full', {
      cause: new Error(`${bytes} bytes more do not fit, about ${this.usedBytes} of ${this.maximumBytes} are in use ` +
        '(vector_store_config.max_bytes)'),
    })
  }
}

/** Estimated bytes of new memories, as if every term of them were new to the bank. */
export function neededBytes (added: readonly NewMemory[]): number {
  let bytes = added.length > 0 ? BANK_BYTES : 0
  for (const memory of added) {
    bytes += SEQUENCE_BYTES + entryBytes({ memory, passages: memory.passages })
    for (const { terms } of memory.passages) bytes += terms.size * (TERM_BYTES + POSTING_BYTES)
  }
  return bytes
}

/** Estimated bytes of a memory without its terms. */
function entryBytes (
  { memory, passages }: { memory: Memory, passages: ReadonlyArray<{ vector?: Float32Array | undefined }> },
): number {
  const { tags, metadata, message } = memory
  let bytes = MEMORY_BYTES
  for (const name of TEXTS) bytes += textBytes(memory[name] ?? '')
  for (const { vector } of passages) bytes += PASSAGE_BYTES + (vector ? VECTOR_BYTES + vector.byteLength : 0)
  if (message !== null) bytes += METADATA_BYTES + textBytes(message.role) + textBytes(message.id ?? '')
  for (const tag of tags) bytes += TAG_BYTES + textBytes(tag)
  for (const [key, value] of Object.entries(metadata)) {
    bytes += METADATA_BYTES + textBytes(key) + (typeof value === 'string' ? textBytes(value) : 0)
  }
  return bytes
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/

export function textBytes (text: string): number {
  return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length
}
