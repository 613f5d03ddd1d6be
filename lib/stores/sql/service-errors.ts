import { ServiceError } from '../../errors/service-error.js'
import { SqlError } from './executor.js'

/** Seconds after which a caller should retry when the store was busy. */
const RETRY_AFTER = 1

/** The error that a client sees for a database error: only that the store is unavailable, and when to retry. */
export function toServiceError (error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  const busy = error.kind === 'busy'
  return new ServiceError('dependency_unavailable', busy
    ? 'The vector store is busy'
    : 'The vector store is unavailable', {
    retryAfterSeconds: busy ? RETRY_AFTER : undefined,
    cause: error,
  })
}
