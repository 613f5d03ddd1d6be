export type CallPriority = 'interactive' | 'background'

export interface CallOptions {
  signal?: AbortSignal | undefined
  /**
   * Milliseconds that the whole call may take, waiting and retries included. Default: no limit but those of the
   * attempts.
   */
  timeoutMs?: number | undefined
  /**
   * Milliseconds that one attempt of this call may take, where calls of this kind have less time than others.
   */
  attemptTimeoutMs?: number
  /** Calls of different priority never wait for each other. Default `background`. */
  priority?: CallPriority
  /** Tenant of the call; each has a circuit breaker of its own. Default: none. */
  tenantId?: string | null | undefined
}

/** A call that holds its permit. */
export interface ActiveCall {
  /** Aborted when the caller leaves and when the provider closes. */
  controller: AbortController
  /** In milliseconds of the timer. */
  deadline: number
  attemptTimeoutMs: number
  tenantId: string | undefined
  /** Releases the permit and the listeners; may be called twice. */
  end: () => void
}
