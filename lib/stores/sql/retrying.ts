import { exponentialBackOff, retry } from '../../concurrency/retry.js'
import { SqlError } from './executor.js'

const ATTEMPTS = 8
/** The first pause at most, in milliseconds. */
const PAUSE_MS = 10

/** Whether a write has surely left nothing behind and may be made again: a deadlock, or a collision with another. */
export function isSerializationFailure (error: unknown): boolean {
  return error instanceof SqlError && (error.code === '40P01' || error.code === '40001')
}

/** Whether a write met an id that is in use. */
export function isUniqueViolation (error: unknown): boolean {
  return error instanceof SqlError && error.code === '23505'
}

/** What is thrown of work that is to be undone and made again. */
export function serializationFailure (reason: string): SqlError {
  return new SqlError('statement', reason, { code: '40001' })
}

/** Does work again that was undone. The pauses are drawn anew each time, so that those who met do not meet again. */
export async function retrySerializationFailures<T> (work: () => Promise<T>): Promise<T> {
  return await retry(work, {
    pauseMs: (error, failures) => {
      if (!isSerializationFailure(error) || failures === ATTEMPTS) return undefined
      return Math.random() * exponentialBackOff(failures, PAUSE_MS)
    },
  })
}
