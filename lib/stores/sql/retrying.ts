import { exponentialBackOff, retry } from '../../concurrency/retry.js'
import { SqlError } from './executor.js'

const ATTEMPTS = 8
/** Maximum of the first pause, in milliseconds. */
const PAUSE_MS = 10

/** Whether a write was certainly rolled back and may be retried: a deadlock or a serialization failure. */
export function isSerializationFailure (error: unknown): boolean {
  return error instanceof SqlError && (error.code === '40P01' || error.code === '40001')
}

/** Whether a write used an id that exists already. */
export function isUniqueViolation (error: unknown): boolean {
  return error instanceof SqlError && error.code === '23505'
}

/** Thrown by work that has to be rolled back and retried. */
export function serializationFailure (reason: string): SqlError {
  return new SqlError('statement', reason, { code: '40001' })
}

/**
 * Retries work that was rolled back. The pauses are random, so that transactions that collided do not collide again.
 */
export async function retrySerializationFailures<T> (work: () => Promise<T>): Promise<T> {
  return await retry(work, {
    delayMs: (error, failures) => {
      if (!isSerializationFailure(error) || failures === ATTEMPTS) return undefined
      return Math.random() * exponentialBackOff(failures, PAUSE_MS)
    },
  })
}
