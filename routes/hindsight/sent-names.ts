import { invalidRequest, ServiceError } from '../../lib/errors/service-error.js'

/** The caller's names of fields, by the gateway's own. */
export type SentNames = ReadonlyMap<string, string>

/**
 * Runs an operation of the gateway whose fields the caller knows by other names.
 * @param namesOf is called only when the operation refuses a field
 * @throws ServiceError invalid_request with the caller's names, and every other error as it is
 */
export async function withSentNames<T> (namesOf: () => SentNames, operate: () => Promise<T>): Promise<T> {
  try {
    return await operate()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.members.errors === undefined) throw error
    const names = namesOf()
    throw invalidRequest(error.members.errors.map(({ field, message }) => (
      { field: names.get(field) ?? field, message }
    )))
  }
}
