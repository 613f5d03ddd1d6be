import { ServiceError } from '../lib/errors/service-error.js'
import { isJsonObject, valueAt } from '../lib/validation/json-object.js'

/** Maximum characters of an id, a method, the name of a tool and the URI of a resource. */
const MAX_IDENTIFIER = 8192
/** Maximum values of a message, of which its arguments count with their names and not with what is within them. */
export const MAX_MESSAGE_VALUES = 1000
/** How many more values a batch may have for each message after its first. */
const VALUES_OF_FURTHER_MESSAGE = 64
/** Maximum characters of the same texts and names; a client may show itself with an icon in its data. */
const MAX_MESSAGE_CHARACTERS = 262_144

/** What a body may still have. */
interface Room {
  values: number
  characters: number
}

/**
 * Bounds what the SDK reads of messages, all at once, before a tool is called: it validates them by several schemas,
 * each of which visits every value outside of the arguments, and it repeats identifiers and names in its responses.
 * @param messages one message, or those of a batch
 * @throws ServiceError invalid_request
 */
export function checkMessages (messages: readonly unknown[]): void {
  messages.forEach(checkIdentifiers)
  const more = VALUES_OF_FURTHER_MESSAGE * (messages.length - 1)
  const room = { values: MAX_MESSAGE_VALUES + more, characters: MAX_MESSAGE_CHARACTERS }
  for (const message of messages) count(message, room, valueAt(message, 'params.arguments'))
  if (isWithin(room)) return
  throw new ServiceError(
    'invalid_request',
    `A message has at most ${MAX_MESSAGE_VALUES} values and ${MAX_MESSAGE_CHARACTERS} characters besides its arguments`,
  )
}

function checkIdentifiers (message: unknown): void {
  for (const path of ['id', 'method', 'params.name', 'params.uri']) {
    const text = valueAt(message, path)
    if (typeof text === 'string' && text.length > MAX_IDENTIFIER) {
      throw new ServiceError('invalid_request', `The ${path} of a message has at most ${MAX_IDENTIFIER} characters`)
    }
  }
}

/** Takes a value from the room, and reads no more of it than fits. */
function count (value: unknown, room: Room, given: unknown): void {
  room.values -= 1
  if (typeof value === 'string') room.characters -= value.length
  if (typeof value !== 'object' || value === null) return
  for (const name in value) {
    if (isJsonObject(value)) room.characters -= name.length
    if (value === given) room.values -= 1
    else count((value as Record<string, unknown>)[name], room, given)
    if (!isWithin(room)) return
  }
}

function isWithin ({ values, characters }: Room): boolean {
  return values >= 0 && characters >= 0
}
