import type { BankKey } from '../identity/context.js'
import type { Trust } from '../identity/trust.js'
import type { TokenCount } from '../text/tokens.js'

export type Metadata = Record<string, string | number | boolean | null>

/** A part of a memory's text that is searched as a unit. A short memory has one, over its whole text. */
export interface Passage {
  /** UTF-16 offsets into the memory's text, half-open. */
  start: number
  end: number
  /** Index terms (lib/text) with their weights; 1 for each occurrence. */
  terms: ReadonlyMap<string, number>
  /** Length for the lexical score: terms that are no stop words. */
  length: number
  /**
   * Whether the text ends in a question, so that what follows it in its document is likely to answer it. Default false.
   */
  question?: boolean
  /** Embedding of the passage; absent when the semantic strategy is off, and when it comes later (`attachVectors`). */
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
  /** From this instant on the memory does not exist. */
  expiresAt: number | null
  documentId: string | null
  source: string | null
  /**
   * Tokens of the text. A store that keeps memories elsewhere keeps the number: `tokens.value` when it writes,
   * `TokenCount.known` when it reads.
   */
  tokens: TokenCount
  /** Decided at write time. */
  trust: Trust
}

/** A memory on its way into a store, with what search needs. */
export interface NewMemory extends Memory {
  /** Equal for exact repeats within a bank; no two memories of a bank share one. */
  fingerprint: string
  passages: readonly Passage[]
}

/** The embedding model whose vectors a store is given. */
export interface EmbeddingSpace {
  /** Vectors of the same model may be compared. */
  model: string
  dimensions: number
}

/** Vectors that were made after the write: one for each passage of the memory, in order. */
export interface LateVectors {
  memoryId: string
  vectors: readonly Float32Array[]
}

export interface Unembedded {
  bank: BankKey
  memory: Memory
  passages: ReadonlyArray<{ start: number, end: number }>
}
