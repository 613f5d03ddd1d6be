import { getHeapStatistics } from 'node:v8'
import { ServiceError } from '../../errors/service-error.js'
import type { Memory, NewMemory } from '../vector-store.js'

/** Default share of the heap that a store may use: the rest is for requests, and for copies during changes. */
const HEAP_SHARE = 0.4

// Bytes, measured with `node --expose-gc` on memories of one word and of thousands. V8 keeps a description of each set
// of keys, which counts in full: the metadata of every memory can have keys of its own.
const MEMORY_BYTES = 500
const PASSAGE_BYTES = 230
const TAG_BYTES = 40
const METADATA_BYTES = 100
const VALUE_BYTES = 80
const TERM_BYTES = 125
const POSTING_BYTES = 40
const INDEXED_PASSAGE_BYTES = 13
/** Bytes of a document, or of a day with memories without one, in the order of its memories. */
export const SEQUENCE_BYTES = 200
/** Bytes of a bank without memories, with its maps and indexes. */
export const BANK_BYTES = 5_800

const BEYOND_LATIN_1 = /[\u0100-\uffff]/

/** Used and maximum bytes of the store. */
export class Capacity {
  readonly maximumBytes: number
  #usedBytes = 0

  constructor (maximumBytes = Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE)) {
    this.maximumBytes = maximumBytes
  }

  get usedBytes (): number {
    return this.#usedBytes
  }

  /** @throws ServiceError `dependency_unavailable` when the bytes exceed the capacity; nothing has changed then */
  reserve (bytes: number): void {
    if (this.#usedBytes + bytes > this.maximumBytes) {
      throw new ServiceError('dependency_unavailable', 'The vector store is full', {
        cause: new Error(`${bytes} bytes more do not fit, about ${this.#usedBytes} of ${this.maximumBytes} are in ` +
          'use (vector_store_config.max_bytes)'),
      })
    }
    this.#usedBytes += bytes
  }

  /** Adjusts the used bytes to what was actually written or removed. */
  adjust (bytes: number): void {
    this.#usedBytes += bytes
  }
}

/** Bytes of a memory without its index entries. */
export function entryBytes ({ memory, passages }: { memory: Memory, passages: { readonly length: number } }): number {
  let bytes = MEMORY_BYTES + textBytes(memory.text) + passages.length * PASSAGE_BYTES
  for (const tag of memory.tags) bytes += TAG_BYTES + textBytes(tag)
  let hasMetadata = false
  for (const key in memory.metadata) {
    const value = memory.metadata[key]
    hasMetadata = true
    bytes += VALUE_BYTES + textBytes(key) + (typeof value === 'string' ? textBytes(value) : 0)
  }
  if (hasMetadata) bytes += METADATA_BYTES
  if (memory.documentId !== null) bytes += textBytes(memory.documentId)
  if (memory.source !== null) bytes += textBytes(memory.source)
  return bytes
}

export function indexBytes (
  { terms, postings, passages }: { terms: number, postings: number, passages: number },
): number {
  return terms * TERM_BYTES + postings * POSTING_BYTES + passages * INDEXED_PASSAGE_BYTES
}

/** Upper bound of the bytes of a memory, as if its document and all of its terms were new to the index. */
export function neededBytes (memory: NewMemory): number {
  let bytes = entryBytes({ memory, passages: memory.passages }) + SEQUENCE_BYTES +
    memory.passages.length * INDEXED_PASSAGE_BYTES
  for (const { terms, vector } of memory.passages) {
    bytes += terms.size * (TERM_BYTES + POSTING_BYTES) + (vector === undefined ? 0 : vector.byteLength + TAG_BYTES)
  }
  return bytes
}

export function textBytes (text: string): number {
  return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length
}
