import type { UsageStore } from '../policy/usage-counters.js'
import type { VectorStore } from '../stores/vector-store.js'

/** @returns the usage counters of the store; undefined for a store without them */
export function usageStore (store: VectorStore): UsageStore | undefined {
  if (store.reserveUsage === undefined || store.adjustUsage === undefined) return undefined
  return {
    reserveUsage: async (entries) => await store.reserveUsage!(entries),
    adjustUsage: async (entries) => { await store.adjustUsage!(entries) },
  }
}
