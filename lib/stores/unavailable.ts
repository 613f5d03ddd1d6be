import { ServiceError } from '../errors/service-error.js'

const RETRY_AFTER_SECONDS = 1

/** The error for a store that works but has no capacity now, so that a client may try again. */
export function storeBusyError (cause: unknown): ServiceError {
  return new ServiceError('dependency_unavailable', 'The vector store is busy', {
    retryAfterSeconds: RETRY_AFTER_SECONDS, cause,
  })
}

/** The error for a store that has failed. A client learns nothing else: the cause is for the log. */
export function storeUnavailableError (cause: unknown): ServiceError {
  return new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause })
}
