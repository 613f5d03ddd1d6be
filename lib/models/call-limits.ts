/** Bounds of the calls to a model, which the model knows best. */
export interface CallLimits {
  /** Milliseconds that one attempt may take. */
  attemptTimeoutMs: number
  /** Attempts after the first. */
  maxRetries: number
  /** Calls under way at a time. */
  maxConcurrency: number
  /** Calls that may wait for others to end; beyond it they fail. */
  maxWaiting: number
}

export const DEFAULT_LIMITS: CallLimits = { attemptTimeoutMs: 30_000, maxRetries: 2, maxConcurrency: 64, maxWaiting: 1024 }

/** A model that says by what bounds it wants to be called; one of a `module:Class` may do so too. Default for each: DEFAULT_LIMITS. */
export interface LimitedModel {
  readonly limits?: Partial<CallLimits>
}
