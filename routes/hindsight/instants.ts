import { invalidField } from '../../lib/errors/service-error.js'
import { parseInstant } from '../../lib/time/clock.js'

const MAX_CHARACTERS = 64
const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/

/**
 * Parses an instant in the form of Hindsight's clients: ISO 8601, in UTC without an offset, and a date as its first
 * instant.
 * @returns RFC 3339
 * @throws ServiceError invalid_request that names the field
 */
export function readInstant (field: string, text: string): string {
  const parts = text.length <= MAX_CHARACTERS ? ISO_8601.exec(text) : null
  const [, day = '', minute = '00:00', seconds = ':00', offset = 'Z'] = parts ?? []
  const instant = `${day}T${minute}${seconds}${offset.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`
  if (parts === null || parseInstant(instant) === undefined) throw invalidField(field, 'must be an ISO 8601 date-time')
  return instant
}
