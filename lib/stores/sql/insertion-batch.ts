import { endsAsQuestion } from '../context.js'
import type { NewMemory } from '../vector-store.js'
import { arrayElement, arrayOf } from './arrays.js'
import { indexTerm, indexTerms, termsText } from './terms.js'
import { unitVectorText } from './vectors.js'

/**
 * Maximum size of one statement: a thousand postings are cheap, a hundred thousand delay all other work, in this
 * process and in the database.
 */
export const MAX_BATCH_MEMORIES = 500
const MAX_BATCH_POSTINGS = 20_000
const MAX_BATCH_CHARACTERS = 1024 * 1024
/**
 * The first eighteen columns have an element for each memory, the next five for each passage, the last three for each
 * vector.
 */
const MEMORY_COLUMNS = 18
const PASSAGE_COLUMNS = 5
const VECTOR_COLUMNS = 3

/** Whether the memories fit into one statement. */
export function isOneBatch (memories: readonly NewMemory[]): boolean {
  if (memories.length > MAX_BATCH_MEMORIES) return false
  let [postings, characters] = [0, 0]
  for (const { text, passages } of memories) {
    characters += text.length
    for (const { terms } of passages) postings += terms.size
  }
  return postings <= MAX_BATCH_POSTINGS && characters <= MAX_BATCH_CHARACTERS
}

/**
 * The arrays $3 to $28 of an insert, built memory by memory. They are texts, which drivers and threads pass on without
 * conversion.
 */
export class InsertionBatch {
  readonly #columns = Array.from({ length: MEMORY_COLUMNS + PASSAGE_COLUMNS + VECTOR_COLUMNS }, (): string[] => [])
  #memories = 0
  #postings = 0
  #characters = 0

  get isFull (): boolean {
    return this.#memories >= MAX_BATCH_MEMORIES || this.#postings >= MAX_BATCH_POSTINGS ||
      this.#characters >= MAX_BATCH_CHARACTERS
  }

  get arrays (): string[] {
    return this.#columns.map(arrayOf)
  }

  add (memory: NewMemory): void {
    const { memoryId, text, tags, metadata, tokens, passages, trust } = memory
    this.#addRow(0, [
      memoryId, memory.fingerprint, text, JSON.stringify(tags), JSON.stringify(metadata),
      optional(memory.occurredAt), String(memory.retainedAt), optional(memory.expiresAt),
      memory.documentId, memory.source, String(tokens.value),
      `{${passages.map(({ start }) => start).join(',')}}`,
      `{${passages.map(({ end }) => end).join(',')}}`,
      termsText(new Set(passages.flatMap(({ terms }) => [...terms.keys()].map(indexTerm)))),
      String(passages.reduce((sum, { length }) => sum + length, 0)),
      String(hasVectors(memory)),
      String(endsAsQuestion(passages)),
      trust,
    ])
    this.#memories += 1
    this.#characters += text.length
    for (const [ordinal, passage] of passages.entries()) {
      const terms = indexTerms(passage)
      this.#addRow(MEMORY_COLUMNS, [
        memoryId, String(ordinal), String(passage.length), termsText(terms.keys()),
        `{${[...terms.values()].join(',')}}`,
      ])
      this.#postings += terms.size
      if (passage.vector !== undefined) this.#addVector(memoryId, ordinal, unitVectorText(passage.vector))
    }
  }

  #addVector (memoryId: string, ordinal: number, vector: string): void {
    this.#addRow(MEMORY_COLUMNS + PASSAGE_COLUMNS, [memoryId, String(ordinal), vector])
    this.#characters += vector.length
  }

  #addRow (first: number, values: ReadonlyArray<string | null>): void {
    for (const [index, value] of values.entries()) this.#columns[first + index]!.push(arrayElement(value))
  }
}

export function hasVectors ({ passages }: NewMemory): boolean {
  return passages.some(({ vector }) => vector !== undefined)
}

function optional (value: number | null): string | null {
  return value === null ? null : String(value)
}
