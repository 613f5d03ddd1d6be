import { invalidField, ServiceError } from '../base/service-error.js'
import { LowerTrustError, PlaceTakenError, UnknownMemoriesError } from '../stores/vector-store.js'

/** The answer to a write that the store refuses. */
export function refusalOf (error: unknown): unknown {
  if (error instanceof LowerTrustError) {
    return new ServiceError('higher_trust', 'A memory of higher trust would be superseded or changed', { cause: error })
  }
  if (error instanceof UnknownMemoriesError) {
    return invalidField('supersedes', `names memories that the bank does not have: ${error.memoryIds.join(', ')}`)
  }
  if (error instanceof PlaceTakenError) {
    const what = error.key === undefined ? 'the same content' : `the key ${JSON.stringify(error.key)}`
    return new ServiceError('place_taken', `Another memory that is current has ${what}: retire it first`, {
      members: { memory_ids: [error.memoryId] }, cause: error,
    })
  }
  return error
}
