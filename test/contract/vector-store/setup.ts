import type { Test } from 'tap'
import type { BankKey } from '../../../lib/access/context.js'
import type {
  Candidate, ListRequest, Memory, SearchRequest, SearchResult, VectorStore,
} from '../../../lib/stores/vector-store.js'
import { queryTerms } from '../../helpers/query-terms.js'
import { NOW } from '../../helpers/memories.js'

/** Every vector of the contract has this length, for a store may fix it beforehand. */
export const DIMENSIONS = 4

/** How the service searches by words with its default settings. */
export const BM25 = { k1: 0.9, length: { pivot: 25 }, context: true }

/** Opens an empty store for one test; it is closed when that test ends. */
export type OpenStore = (t: Test) => Promise<VectorStore>

export function bank (bankId: string, tenantId: string | null = null): BankKey {
  return { tenantId, bankId }
}

/** A search by words, unless `options` says otherwise. */
export async function searchFor (
  store: VectorStore, banks: readonly BankKey[], query: string, options: Partial<SearchRequest> = {},
): Promise<SearchResult> {
  return await store.search({
    banks, now: NOW, filters: {}, limit: 1000, lexical: { terms: queryTerms(query), ...BM25 }, ...options,
  })
}

/** A search by words alone. */
export async function lexical (
  store: VectorStore, banks: readonly BankKey[], query: string, options: Partial<SearchRequest> = {},
): Promise<Candidate[]> {
  const { lexical } = await searchFor(store, banks, query, options)
  if (lexical === undefined) throw new Error('the lexical strategy was asked for and has no answer')
  return lexical
}

/** A search by embedding alone. */
export async function semantic (
  store: VectorStore, banks: readonly BankKey[], vector: readonly number[], options: Partial<SearchRequest> = {},
): Promise<Candidate[]> {
  const { semantic } = await store.search({
    banks, now: NOW, filters: {}, limit: 1000, semantic: { vector: Float32Array.from(vector) }, ...options,
  })
  if (semantic === undefined) throw new Error('the semantic strategy was asked for and has no answer')
  return semantic
}

export async function listAll (
  store: VectorStore, key: BankKey, options: Partial<ListRequest> = {},
): Promise<Memory[]> {
  return await store.list(key, { now: NOW, limit: 1000, filters: {}, ...options })
}

/** What a scan gives; its count has to be true. */
export async function scanAll (store: VectorStore, key: BankKey, now = NOW): Promise<Memory[]> {
  const { count, memories } = await store.scan(key, now)
  const found = await collect(memories)
  if (found.length !== count) throw new Error(`a scan of ${count} gave ${found.length}`)
  return found
}

export async function collect<T> (items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

export const REMOVE = { now: NOW, dryRun: false, idLimit: 1000 }

export function texts (memories: ReadonlyArray<{ text: string } | { memory: Memory }>): string[] {
  return memories.map((item) => 'memory' in item ? item.memory.text : item.text)
}

/** In a form that compares well: metadata has no order, and a key may be `__proto__`. */
export function comparable (memory: Memory): unknown {
  return {
    ...memory, tags: [...memory.tags], metadata: Object.entries(memory.metadata).sort(([a], [b]) => a < b ? -1 : 1),
  }
}

/** The other store-wide view: everything that a bank shows of itself. */
export async function everything (store: VectorStore, key: BankKey, now = NOW): Promise<unknown> {
  const { tagCounts, speakerCounts, ...statistics } = await store.statistics(key, now)
  return {
    list: (await listAll(store, key, { now })).map(comparable),
    scan: (await scanAll(store, key, now)).map(comparable),
    statistics: {
      ...statistics,
      tagCounts: [...tagCounts].sort(([a], [b]) => a < b ? -1 : 1),
      speakerCounts: [...speakerCounts].sort(([a], [b]) => a < b ? -1 : 1),
    },
    banks: await store.listBanks({ now, limit: 1000 }),
  }
}
