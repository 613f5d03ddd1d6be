import { getHeapStatistics } from 'node:v8'
import { Type, type Static } from 'typebox'
import { ServiceError } from '../../errors/service-error.js'
import { settingsCheck } from '../../providers/settings.js'
import type { ProviderConfig } from '../../providers/registry.js'
import type { Memory, NewMemory } from '../vector-store.js'

/**
 * The share of the heap that a store takes at most, unless it is set: the rest is for requests, and for copies while
 * something changes.
 */
const SHARE = 0.4

// Bytes, as measured with `node --expose-gc` on memories of one word and of thousands.
const MEMORY_BYTES = 500
const PASSAGE_BYTES = 230
const TAG_BYTES = 40
const VALUE_BYTES = 70
const TERM_BYTES = 125
const POSTING_BYTES = 40
const DOCUMENT_BYTES = 13
/** A bank without memories, with its maps and indexes. */
export const BANK_BYTES = 5_800

const BEYOND_LATIN_1 = /[\u0100-\uffff]/

/** `vector_store_config` of `vector_store: in_memory`. */
export const InMemorySettings = Type.Object({
  max_bytes: Type.Optional(Type.Integer({ minimum: 1_048_576, maximum: 2 ** 40, description: 'Bytes that memories, their vectors and the configurations of banks may take, estimated; a write that does not fit is answered 503 and changes nothing. Default: two fifths of the limit of the heap (`--max-old-space-size`).' })),
}, { additionalProperties: false })

const checkSettings = settingsCheck('vector_store_config', InMemorySettings)

/** @throws ProviderError that names what is wrong and shows no value */
export function inMemorySettings (config: ProviderConfig): Static<typeof InMemorySettings> {
  return checkSettings(config)
}

/** What the store takes, and what it may take. */
export class Capacity {
  readonly maximumBytes: number
  #usedBytes = 0

  constructor (maximumBytes = Math.floor(getHeapStatistics().heap_size_limit * SHARE)) {
    this.maximumBytes = maximumBytes
  }

  get usedBytes (): number {
    return this.#usedBytes
  }

  /** @throws ServiceError `dependency_unavailable` when there is no room for that; nothing has changed then */
  reserve (bytes: number): void {
    if (this.#usedBytes + bytes > this.maximumBytes) {
      throw new ServiceError('dependency_unavailable', 'The vector store is full', {
        cause: new Error(`${bytes} bytes more do not fit, about ${this.#usedBytes} of ${this.maximumBytes} are in use (vector_store_config.max_bytes)`),
      })
    }
    this.#usedBytes += bytes
  }

  /** Corrects what is in use, by what was written or removed in the end. */
  adjust (bytes: number): void {
    this.#usedBytes += bytes
  }
}

/** What a memory takes beside its places in the indexes. */
export function entryBytes ({ memory, passages }: { memory: Memory, passages: { readonly length: number } }): number {
  let bytes = MEMORY_BYTES + textBytes(memory.text) + passages.length * PASSAGE_BYTES
  for (const tag of memory.tags) bytes += TAG_BYTES + textBytes(tag)
  for (const key in memory.metadata) {
    const value = memory.metadata[key]
    bytes += VALUE_BYTES + textBytes(key) + (typeof value === 'string' ? textBytes(value) : 0)
  }
  if (memory.documentId !== null) bytes += textBytes(memory.documentId)
  if (memory.source !== null) bytes += textBytes(memory.source)
  return bytes
}

export function indexBytes (
  { terms, postings, documents }: { terms: number, postings: number, documents: number },
): number {
  return terms * TERM_BYTES + postings * POSTING_BYTES + documents * DOCUMENT_BYTES
}

/** What a memory will take at most, with all of its terms as new ones. */
export function neededBytes (memory: NewMemory): number {
  let bytes = entryBytes({ memory, passages: memory.passages }) + memory.passages.length * DOCUMENT_BYTES
  for (const { terms, vector } of memory.passages) {
    bytes += terms.size * (TERM_BYTES + POSTING_BYTES) + (vector === undefined ? 0 : vector.byteLength + TAG_BYTES)
  }
  return bytes
}

export function textBytes (text: string): number {
  return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length
}
