import { ProviderError } from '../providers/registry.js'
import { OpenAiLanguageSettings } from '../providers/schemas/language-models.js'

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

/** Those of a language model behind HTTP, for a model that does not state its own. */
const {
  timeout_ms: attemptTimeout, max_retries: retries, max_concurrency: concurrency, max_waiting: waiting,
} = OpenAiLanguageSettings.properties
const DEFAULT_LIMITS: CallLimits = {
  attemptTimeoutMs: attemptTimeout.default,
  maxRetries: retries.default,
  maxConcurrency: concurrency.default,
  maxWaiting: waiting.default,
}

/** A model with bounds of its own; a `module:Class` may have them, too. Default of each: DEFAULT_LIMITS. */
export interface LimitedModel {
  readonly limits?: Partial<CallLimits>
}

const MINIMA: Record<keyof CallLimits, number> = {
  attemptTimeoutMs: 1, maxRetries: 0, maxConcurrency: 1, maxWaiting: 0,
}

/**
 * The limits of a model, checked, because it may be of an operator's own class.
 * @param key the configuration key that chose it
 * @throws ProviderError for invalid ones
 */
export function limitsOf (key: string, model: LimitedModel): CallLimits {
  const limits = model.limits ?? {}
  const entries = Object.entries(MINIMA) as Array<[keyof CallLimits, number]>
  return Object.fromEntries(entries.map(([name, minimum]) => {
    const value: unknown = limits[name] ?? DEFAULT_LIMITS[name]
    if (!Number.isSafeInteger(value) || Number(value) < minimum) {
      throw new ProviderError(`${key}: limits.${name} must be a whole number of at least ${minimum}`)
    }
    return [name, value]
  })) as Record<keyof CallLimits, number>
}
