import type { BreakerState } from '../concurrency/circuit-breaker.js'

/** The current state of a provider, for metrics. The counts of the cache only rise. */
export interface ModelStatus {
  breaker?: {
    state: BreakerState
    /** Tenants whose own circuit is not closed. */
    tenantsOpen: number
  }
  /** Calls in progress, and calls that wait for a permit. */
  running?: number
  waiting?: number
  /** Set for a provider that computes in this thread and so cannot be down. */
  alwaysAvailable?: true
  cache?: { hits: number, misses: number }
}
