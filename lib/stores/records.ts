import type { BankKey } from '../identity/context.js'
import { type MemoryValues, memoryValues } from './memory-fields.js'

export type { Metadata } from './memory-fields.js'

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

/** The member of a memory object for what a reader derives from it; the same in every copy of this module. */
export const DERIVED: unique symbol = Symbol.for('memory-gateway.derived')

/** One memory: the fields of the table in memory-fields.ts. */
export interface Memory extends MemoryValues {
  /**
   * A place for what a reader derives from this object. Only a store that returns the same object each time offers it,
   * with the value undefined.
   */
  [DERIVED]?: unknown
}

/** The fields of a memory alone, with the place for what is derived from them. */
export function memoryOf (source: Memory): Memory {
  return Object.assign<Pick<Memory, typeof DERIVED>, MemoryValues>(
    { [DERIVED]: undefined }, memoryValues(({ name }) => source[name]),
  )
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
