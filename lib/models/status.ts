/** How a provider stands at a moment, for metrics; counts only rise. */
export interface ModelStatus {
  breaker?: {
    state: 'closed' | 'open' | 'half_open'
    /** Tenants whose own circuit is not closed. */
    tenantsOpen: number
  }
  /** Calls that are under way and that wait for a slot. */
  running?: number
  waiting?: number
  /** It computes by itself, and nothing of it can be down. */
  asksNobody?: true
  cache?: { hits: number, misses: number }
}
