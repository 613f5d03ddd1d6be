import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { TokenCount } from '../text/tokens.js'

export type Metadata = Record<string, string | number | boolean | null>

/** A part of a memory's text that is searched as a unit. A short memory has one passage, which is its whole text. */
export interface Passage {
  /** UTF-16 offsets into the memory's text, half-open. */
  start: number
  end: number
  /** Index terms (lib/text) with their weights, 1 for each occurrence. */
  terms: ReadonlyMap<string, number>
  /** Length for the lexical score: the number of terms that are not stop words. */
  length: number
  /**
   * Whether the text ends in a question, so that what follows it in its document is likely to answer it. Default false.
   */
  question?: boolean
  /**
   * Embedding of the passage; absent when the semantic strategy is off, or when it is added later (`attachVectors`).
   */
  vector?: Float32Array
}

/** One memory. Instants are milliseconds since the epoch. */
export interface Memory {
  /** UUIDv7, unique within its bank. */
  memoryId: string
  text: string
  tags: readonly string[]
  metadata: Readonly<Metadata>
  occurredAt: number | null
  retainedAt: number
  /** From this instant on no method returns or counts the memory. */
  expiresAt: number | null
  documentId: string | null
  source: string | null
  /**
   * Tokens of the text. A persistent store keeps the number: it writes `tokens.value` and restores it by
   * `TokenCount.known`.
   */
  tokens: TokenCount
  /** Decided at write time. */
  trust: Trust
}

/** A memory to be stored, with the data that search needs. */
export interface NewMemory extends Memory {
  /** Equal for exact repeats within a bank; no two stored memories of a bank share one. */
  fingerprint: string
  /**
   * Of an import with `supersede`: the fingerprint of the stored memory of the same id that this one replaces. Absent:
   * it is not meant to replace one.
   */
  supersedes?: string | undefined
  passages: readonly Passage[]
}

/** The embedding model of the vectors that a store receives. */
export interface EmbeddingSpace {
  /** Only vectors of the same model are comparable; it differs for other dimensions (`embeddingSpace`). */
  model: string
  dimensions: number
}

/** Vectors computed after the write, one for each passage of the memory, in order. */
export interface LateVectors {
  memoryId: string
  /** Of the memory whose text the vectors are computed from; another write may have replaced it since. */
  fingerprint: string
  vectors: readonly Float32Array[]
}

export interface Unembedded {
  bank: BankKey
  memory: Memory
  fingerprint: string
  passages: ReadonlyArray<{ start: number, end: number }>
}
