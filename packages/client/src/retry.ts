import type { MemoryGatewayError } from './errors.js'

/**
 * Whether a call may be repeated. `read`: always. `keyed`: a write with an Idempotency-Key, which the gateway executes
 * once however often it arrives. `once`: a write without one. `never`: not even after a refusal.
 */
export type Safety = 'read' | 'keyed' | 'once' | 'never'

const INITIAL_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 8000
/** Codes with status 503 with which the gateway refuses a request before it executes anything. */
const REFUSED_BEFORE_WORK = new Set(['server_busy', 'shutting_down', 'identity_provider_unavailable'])

/** Statuses of a proxy that has no answer of the gateway; whether the gateway executed the request is not known. */
const FROM_PROXY = new Set([502, 503, 504])

/** Whether the gateway may have executed the request, or may still do so, although its answer did not arrive. */
export function hasLostAnswer ({ code, status = 0 }: MemoryGatewayError): boolean {
  return code === 'connection_lost' || (code === 'unusable_answer' && FROM_PROXY.has(status))
}

/** Whether another attempt can succeed without executing anything twice. */
export function isRetriable (error: MemoryGatewayError, safety: Safety): boolean {
  const { code, status } = error
  if (safety === 'never') return false
  if (hasLostAnswer(error)) return safety !== 'once'
  // The gateway is still executing the previous attempt, whose answer was lost.
  if (code === 'idempotency_key_in_flight') return safety === 'keyed'
  // The request has used up all the time that it asked for.
  if (code === 'deadline_exceeded') return false
  if (status === 503) return safety !== 'once' || REFUSED_BEFORE_WORK.has(code)
  return status === 429
}

/**
 * Milliseconds until the next attempt: at least the time that the gateway asks for, with random jitter, so that clients
 * that were refused at the same time do not retry at the same time.
 * @param attempt from 0
 */
export function retryDelay (attempt: number, { retryAfter }: MemoryGatewayError, random: () => number): number {
  const maxDelay = Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** attempt)
  return retryAfter === undefined ? maxDelay * random() : retryAfter * 1000 + INITIAL_BACKOFF_MS * random()
}
