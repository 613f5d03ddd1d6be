import { arrayElements } from '../../lib/stores/sql/executor.js'
import type { SearchRequest } from '../../lib/stores/vector-store.js'
import { mean } from '../percentiles.js'
import { runRaw } from './cell.js'
import { searches, ONE_TENTH, type Bank } from './data.js'
import type { BenchDatabase, OpenStore } from './database.js'

const DEPTH = 10
const QUERIES = 200

export interface RecallResult {
  filter: string
  queries: number
  /** The share of the ten nearest memories that the index finds among its first ten. */
  recall_at_10: number
  /** The same for the hundred that are requested. */
  recall_at_100: number
}

/** Compares the vector search by index with the same statement without the index, which is exact. */
export async function measureRecall (
  database: BenchDatabase, { store, indexes }: OpenStore, bank: Bank,
): Promise<RecallResult[]> {
  if (indexes.passagesPerMemory(bank.key) === undefined) throw new Error('The big bank has no index')
  const results: RecallResult[] = []
  for (const [filter, filters] of [['none', {}], ['a tag of 10 %', ONE_TENTH]] as const) {
    const shares: Array<{ ten: number, all: number }> = []
    for (const request of searches([bank], 'vector', QUERIES, { seed: 11, filters })) {
      const found = (await store.search(request)).semantic!.map(({ memory }) => memory.memoryId)
      const exact = await exactNearest(database, request)
      shares.push({ ten: share(found.slice(0, DEPTH), exact.slice(0, DEPTH)), all: share(found, exact) })
    }
    results.push({
      filter,
      queries: QUERIES,
      recall_at_10: mean(shares.map(({ ten }) => ten)),
      recall_at_100: mean(shares.map(({ all }) => all)),
    })
  }
  return results
}

/** @returns the ids of the nearest memories, nearest first */
async function exactNearest (database: BenchDatabase, request: SearchRequest): Promise<string[]> {
  const [row] = await runRaw(database, request, false)
  const scores = arrayElements(String(row!['semantic_scores'])).map(Number)
  return arrayElements(String(row!['semantic_ids']))
    .map((id, index) => ({ id: String(id), score: scores[index]! }))
    .sort((a, b) => b.score - a.score)
    .map(({ id }) => id)
}

function share (found: readonly string[], wanted: readonly string[]): number {
  const present = new Set(found)
  return wanted.filter((id) => present.has(id)).length / wanted.length
}
