/** Bounds of the calls to a model. */
export interface CallLimits {
  /** Milliseconds that one attempt may take. */
  attemptTimeoutMs: number
  /** Attempts after the first. */
  maxRetries: number
  /** Calls in progress at a time. */
  maxConcurrency: number
  /** Calls that may wait for a permit; further calls fail. */
  maxWaiting: number
}

export const DEFAULT_LIMITS: CallLimits = {
  attemptTimeoutMs: 30_000, maxRetries: 2, maxConcurrency: 64, maxWaiting: 1024,
}

/** A model with bounds of its own; a `module:Class` may have them, too. Default of each: DEFAULT_LIMITS. */
export interface LimitedModel {
  readonly limits?: Partial<CallLimits>
}
