import { invalidField } from '../errors/service-error.js'
import { isBankId } from '../identity/context.js'
import { isUuid } from '../validation/ids.js'
import { parsedJson } from '../validation/json-object.js'

/**
 * The latest instant of a Date (ECMA-262, time values), before or after the epoch; some databases cannot compare larger
 * numbers.
 */
const MAX_INSTANT = 8.64e15

/**
 * Cursors are opaque to clients: base64url of a JSON array. They contain a position in an order and grant no access.
 * @throws ServiceError invalid_request when the text is not a cursor, or `check` rejects its parts
 */
export function decodeCursor<T> (cursor: string, check: (parts: unknown) => parts is T): T {
  const parts = parsedJson(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (check(parts)) return parts
  throw invalidField('cursor', 'is not a cursor that this service gave')
}

export function encodeCursor (parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

// A store uses the values of a cursor unchecked, so only a valid instant, id or bank id may reach it.

export function isMemoryPlace (parts: unknown): parts is [retainedAt: number, memoryId: string] {
  if (!Array.isArray(parts) || parts.length !== 2) return false
  const [retainedAt, memoryId]: unknown[] = parts
  return (
    Number.isInteger(retainedAt) && Math.abs(retainedAt as number) <= MAX_INSTANT && typeof memoryId === 'string' &&
      isUuid(memoryId)
  )
}

export function isBankPlace (parts: unknown): parts is [bankId: string] {
  return Array.isArray(parts) && parts.length === 1 && typeof parts[0] === 'string' && isBankId(parts[0])
}
