import type { MemoryGatewayError } from './errors.js'

/**
 * What may be done twice. `read`: anything. `keyed`: a write with an Idempotency-Key, which the gateway does once
 * however often it comes. `once`: a write without one. `never`: not even what was refused.
 */
export type Safety = 'read' | 'keyed' | 'once' | 'never'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 8000
/** Refusals with status 503 that come before any work. */
const REFUSED = new Set(['server_busy', 'shutting_down', 'identity_provider_unavailable'])

/** Whether another try can help and does nothing twice. */
export function isRetriable ({ code, status }: MemoryGatewayError, safety: Safety): boolean {
  if (safety === 'never') return false
  if (code === 'connection_lost') return safety !== 'once'
  // The try before, whose answer was lost, is still being worked on.
  if (code === 'idempotency_key_in_flight') return safety === 'keyed'
  // The request had all the time that it asked for.
  if (code === 'deadline_exceeded') return false
  if (status === 503) return safety !== 'once' || REFUSED.has(code)
  return status === 429
}

/**
 * Milliseconds until the next try. What the gateway asks for is kept to, and a random share is added, so that clients
 * that were refused together do not come back together.
 * @param attempt from 0
 */
export function waitBefore (attempt: number, { retryAfter }: MemoryGatewayError, random: () => number): number {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt)
  return retryAfter === undefined ? most * random() : retryAfter * 1000 + FIRST_WAIT_MS * random()
}
