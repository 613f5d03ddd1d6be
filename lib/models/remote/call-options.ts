export type CallPriority = 'interactive' | 'background'

export interface CallOptions {
  signal?: AbortSignal
  /**
   * Milliseconds that the whole call may take, waiting and retries included. Default: no limit but those of the
   * attempts.
   */
  timeoutMs?: number
  /**
   * Milliseconds that one attempt of this call may take, when the endpoint's operator wants less than usual for calls
   * of its kind.
   */
  attemptTimeoutMs?: number
  /** Calls of the two never wait for each other. Default `background`. */
  priority?: CallPriority
  /** Whose call it is; each tenant has a circuit of its own. Default: nobody's. */
  tenantId?: string | null
}

/** A call that has its permit. */
export interface CallUnderWay {
  /** Aborted when the caller leaves and when the provider closes. */
  controller: AbortController
  /** On the timer's clock. */
  deadline: number
  attemptTimeoutMs: number
  tenantId: string | undefined
  /** Gives everything back; may be called twice. */
  end: () => void
}
