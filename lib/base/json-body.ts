import { isUtf8 } from 'node:buffer'
import secureJson from 'secure-json-parse'
import { parsedJson } from './json-object.js'
import { ServiceError } from './service-error.js'

const FORBIDDEN = 'must not have a member "__proto__", or "constructor" with a member "prototype"'

/**
 * Parses the JSON of a body within the bounds, and refuses member names that cause prototype poisoning. A byte order
 * mark is ignored.
 * @throws ServiceError invalid_json, body_too_large
 */
export function readJson (body: Buffer, bounds: JsonBounds): unknown {
  checkJsonText(body, bounds)
  // Decoding replaces bytes that are not UTF-8 by U+FFFD, so another text than that of the client would be stored.
  if (!isUtf8(body)) throw new ServiceError('invalid_json', 'Request body is not valid UTF-8')
  return parseSafely(body.toString(), (fault) => new ServiceError('invalid_json', `Request body ${fault}`))
}

/**
 * Parses JSON, and refuses member names that cause prototype poisoning. A byte order mark is ignored.
 * @param errorOf the error for a fault, which completes "The text …" and quotes nothing of it
 */
export function parseSafely (json: string, errorOf: (fault: string) => Error): unknown {
  try {
    return secureJson.parse(json)
  } catch {
    const isJson = parsedJson(json.replace(/^\ufeff/, '')) !== undefined
    throw errorOf(isJson ? FORBIDDEN : 'is not valid JSON')
  }
}

/** The limits of a JSON text (lib/config/schema.ts). */
export interface JsonBounds {
  json_depth: number
  json_values: number
  /** Elements of one array, and members of one object. */
  array_elements: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/**
 * Counts the values of a JSON text before it is parsed, because JSON.parse can create an object for every two bytes and
 * cannot be interrupted. For valid JSON the counts are exact; JSON.parse decides whether the text is valid.
 * @param subject what the text is, as the beginning of a sentence
 * @throws ServiceError body_too_large that names the bound
 */
export function checkJsonText (
  text: Uint8Array, { json_depth: maxDepth, json_values: maxValues, array_elements: maxElements }: JsonBounds,
  subject = 'Request body',
): void {
  const refused = (fault: string, bound: keyof JsonBounds) => (
    new ServiceError('body_too_large', `${subject} ${fault} (bounds.${bound})`)
  )
  /** Elements so far of the containers around the innermost one. */
  const outer: number[] = []
  let elements = 0
  let values = 1
  /** Whether the innermost container has no element yet. */
  let isEmpty = true
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    if (byte <= SPACE) continue
    if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      isEmpty = false
      elements = outer.pop() ?? 0
      continue
    }
    if (byte === COMMA || isEmpty) {
      // The outermost value is counted already.
      if (outer.length > 0) {
        elements = isEmpty ? 1 : elements + 1
        if (++values > maxValues) throw refused(`holds more than ${maxValues} values`, 'json_values')
        if (elements > maxElements) {
          throw refused(`holds more than ${maxElements} elements in one array or object`, 'array_elements')
        }
      }
      isEmpty = false
    }
    if (byte === QUOTE) {
      at++
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (outer.push(elements) > maxDepth) throw refused(`is nested deeper than ${maxDepth} levels`, 'json_depth')
      elements = 0
      isEmpty = true
    }
  }
}
