import type { MemoryGatewayError } from './errors.js'

/**
 * Whether a call may be repeated. `read`: always. `keyed`: a write with an Idempotency-Key, which the gateway executes
 * once however often it arrives. `once`: a write without one. `never`: not even after a refusal.
 */
export type Safety = 'read' | 'keyed' | 'once' | 'never'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 8000
/** Refusals with status 503 that precede any work. */
const REFUSED = new Set(['server_busy', 'shutting_down', 'identity_provider_unavailable'])

/** Whether another attempt can help and executes nothing twice. */
export function isRetriable ({ code, status }: MemoryGatewayError, safety: Safety): boolean {
  if (safety === 'never') return false
  if (code === 'connection_lost') return safety !== 'once'
  // The previous attempt, whose answer was lost, is still being executed.
  if (code === 'idempotency_key_in_flight') return safety === 'keyed'
  // The request has used up all the time that it asked for.
  if (code === 'deadline_exceeded') return false
  if (status === 503) return safety !== 'once' || REFUSED.has(code)
  return status === 429
}

/**
 * Milliseconds until the next attempt. They respect the wait that the gateway asks for, plus a random share, so that
 * clients that were refused together do not retry together.
 * @param attempt from 0
 */
export function waitBefore (attempt: number, { retryAfter }: MemoryGatewayError, random: () => number): number {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt)
  return retryAfter === undefined ? most * random() : retryAfter * 1000 + FIRST_WAIT_MS * random()
}
