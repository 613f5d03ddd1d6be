import type { UsageStore } from '../policy/usage-counters.js'
import { guarded } from '../retrieval/retriever.js'
import type { VectorStore } from '../stores/vector-store.js'

/**
 * The counts that a store keeps, with its failures as the one error that a client sees.
 * @returns undefined for a store that keeps none
 */
export function usageStore (store: VectorStore): UsageStore | undefined {
  if (store.reserveUsage === undefined || store.adjustUsage === undefined) return undefined
  return {
    reserveUsage: async (entries) => await guarded(async () => await store.reserveUsage!(entries)),
    adjustUsage: async (entries) => { await guarded(async () => { await store.adjustUsage!(entries) }) },
  }
}
