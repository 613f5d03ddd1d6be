import { ServiceError } from '../../errors/service-error.js'
import { SqlError } from './executor.js'

/** Seconds after which a caller who met a busy store should come back. */
const RETRY_AFTER = 1

/**
 * What a client is told of a database's fault: never more than that the store is unavailable, and when to come back.
 */
export function toServiceError (error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  const busy = error.kind === 'busy'
  return new ServiceError('dependency_unavailable', busy ? 'The vector store is busy' : 'The vector store is unavailable', {
    ...(busy && { retryAfterSeconds: RETRY_AFTER }),
    cause: error,
  })
}
