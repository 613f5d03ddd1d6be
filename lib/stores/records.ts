import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { TokenCount } from '../text/tokens.js'

export type Metadata = Record<string, string | number | boolean | null>

/** A part of a memory's text that is searched as a unit. A short memory has one passage, which is its whole text. */
export interface Passage {
  /** UTF-16 offsets into the memory's text, half-open. */
  readonly start: number
  readonly end: number
  /** Index terms (lib/text) with their weights, 1 for each occurrence. Packed before the memory is stored. */
  terms: ReadonlyMap<string, number>
  /** Length for the lexical score: the number of terms that are not stop words. */
  readonly length: number
  /**
   * Whether the text ends in a question, so that what follows it in its document is likely to answer it. Default false.
   */
  readonly question?: boolean
  /**
   * Embedding of the passage; absent when the semantic strategy is off, or when it is added later (`attachVectors`).
   */
  readonly vector?: Float32Array
}

/** One memory. Instants are milliseconds since the epoch. */
export interface Memory {
  /** UUIDv7, unique within its bank. */
  readonly memoryId: string
  readonly text: string
  readonly tags: readonly string[]
  readonly metadata: Readonly<Metadata>
  readonly occurredAt: number | null
  readonly retainedAt: number
  /** From this instant on no method returns or counts the memory. */
  readonly expiresAt: number | null
  readonly documentId: string | null
  readonly source: string | null
  /**
   * Tokens of the text. A persistent store keeps the number: it writes `tokens.value` and restores it by
   * `TokenCount.known`.
   */
  readonly tokens: TokenCount
  /** Decided at write time. */
  readonly trust: Trust
}

/** A memory to be stored, with the data that search needs. */
export interface NewMemory extends Memory {
  /** Equal for exact repeats within a bank; no two stored memories of a bank share one. */
  readonly fingerprint: string
  /**
   * Of an import with `supersede`: the fingerprint of the stored memory of the same id that this one replaces. Absent:
   * it is not meant to replace one.
   */
  readonly supersedes?: string | undefined
  readonly passages: readonly Passage[]
}

/** The embedding model of the vectors that a store receives. */
export interface EmbeddingSpace {
  /** Only vectors of the same model are comparable; it differs for other dimensions (`embeddingSpace`). */
  readonly model: string
  readonly dimensions: number
}

/** Vectors computed after the write, one for each passage of the memory, in order. */
export interface LateVectors {
  readonly memoryId: string
  /** Of the memory whose text the vectors are computed from; another write may have replaced it since. */
  readonly fingerprint: string
  readonly vectors: readonly Float32Array[]
}

export interface Unembedded {
  readonly bank: BankKey
  readonly memory: Memory
  readonly fingerprint: string
  readonly passages: ReadonlyArray<Readonly<{ start: number, end: number }>>
}
