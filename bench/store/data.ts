import { createHash } from 'node:crypto'
import { uuidv7Source } from '../../lib/base/ids.js'
import type { BankKey } from '../../lib/access/context.js'
import { newLife, optionalValues } from '../../lib/stores/memory-fields.js'
import type { EmbeddingSpace, Filters, NewMemory, SearchRequest } from '../../lib/stores/vector-store.js'
import { analyzeQuery } from '../../lib/ranking/query.js'
import { analyzeText } from '../../lib/text/analysis.js'
import { TokenCount } from '../../lib/text/tokens.js'
import { Corpus, type Text } from '../http/corpus.js'
import { seededRandom, type Random } from '../http/vocabulary.js'
import { DIMENSIONS, VectorSource } from './vectors.js'

export const SPACE: EmbeddingSpace = { model: 'bench', dimensions: DIMENSIONS }
/** The candidates that the retriever requests of each strategy. */
export const LIMIT = 100
/** The instant of every memory and search, so that figures do not depend on the day. */
export const NOW = Date.parse('2026-01-01T00:00:00Z')
/** One in this many memories has a tag. */
const TAGS = 10
/** Memories of one document, like the turns of a conversation. */
const DOCUMENT = 20
/** Texts of a bank that are kept for making queries. */
const KEPT_TEXTS = 500

/** A bank that was filled: its name, and texts for queries. */
export interface Bank {
  key: BankKey
  memories: number
  texts: Text[]
}

/** An endless supply of memories of one passage, about 30 words each. */
export class MemorySource {
  readonly #corpus: Corpus
  readonly #vectors: VectorSource
  readonly #random: Random
  readonly #newId = uuidv7Source(Date.now)
  readonly #seed: number
  #count = 0

  constructor (seed: number) {
    this.#seed = seed
    this.#corpus = new Corpus(seed)
    this.#vectors = new VectorSource(seed)
    this.#random = seededRandom(seed)
  }

  /** @returns memories, some of whose texts are kept with the bank */
  fill (bank: Bank, count: number): NewMemory[] {
    return Array.from({ length: count }, () => {
      const text = this.#corpus.text()
      bank.memories += 1
      if (bank.texts.length < KEPT_TEXTS) bank.texts.push(text)
      return this.#memory(text.text)
    })
  }

  #memory (text: string): NewMemory {
    this.#count += 1
    return {
      ...optionalValues(() => null),
      message: null,
      ...newLife({ changedAt: NOW, changedBy: null }),
      memoryId: this.#newId(),
      text,
      tags: [`tag-${Math.floor(this.#random() * TAGS)}`],
      metadata: { channel: 'bench' },
      retainedAt: NOW,
      documentId: `talk-${Math.floor(this.#count / DOCUMENT)}`,
      tokens: TokenCount.known(Math.ceil(text.length / 4)),
      trust: 'trusted',
      fingerprint: createHash('sha256').update(`${this.#seed} ${this.#count}`).digest('hex'),
      passages: [{ start: 0, end: text.length, ...analyzeText(text), vector: this.#vectors.next() }],
    }
  }
}

export const STRATEGIES = ['hybrid', 'lexical', 'vector'] as const
export type Strategy = typeof STRATEGIES[number]

/** The filter that one memory in ten passes. */
export const ONE_TENTH: Filters = { tags: { values: ['tag-0'], match: 'any' } }

/**
 * Searches of one strategy, each with four content words of one of the bank's texts and a vector of its own.
 * @param banks are searched in turn
 */
export function searches (
  banks: readonly Bank[], strategy: Strategy, count: number,
  { seed = 7, filters = {} }: { seed?: number, filters?: Filters } = {},
): SearchRequest[] {
  const corpus = new Corpus(seed)
  const vectors = new VectorSource(seed)
  return Array.from({ length: count }, (_, index): SearchRequest => {
    const { key, texts } = banks[index % banks.length]!
    const { terms } = analyzeQuery(corpus.query(texts), NOW)
    const vector = vectors.next()
    return {
      banks: [key],
      now: NOW,
      filters,
      limit: LIMIT,
      ...(strategy !== 'vector' && { lexical: { terms, k1: 0.9, length: { pivot: 25 }, context: true } }),
      ...(strategy !== 'lexical' && { semantic: { vector } }),
    }
  })
}

export function emptyBank (bankId: string): Bank {
  return { key: { tenantId: null, bankId }, memories: 0, texts: [] }
}
