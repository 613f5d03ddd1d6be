import { KeyedQueue } from '../concurrency/keyed-queue.js'
import { atCapacity } from '../errors/service-error.js'

/** How long a call waits: while it does, it holds its request in memory. */
const MAX_WAIT_MS = 5 * 60_000

/**
 * Serializes writes to each bank, by `bankKeyString`.
 * @param maxWaiting maximum number of waiting calls for one bank; each holds its request in memory
 */
export function makeBankQueue (maxWaiting: number): KeyedQueue {
  return new KeyedQueue({
    maxWaiting,
    waitMs: MAX_WAIT_MS,
    queueFullError: () => (
      atCapacity('server_busy', `More than ${maxWaiting} writes wait for this bank; try again`)
    ),
    timeoutError: () => atCapacity('server_busy', 'Other writes to this bank take too long; try again'),
  })
}
