import { isUtf8 } from 'node:buffer'
import secureJson from 'secure-json-parse'
import { ServiceError } from '../errors/service-error.js'
import { checkJsonText, type JsonBounds } from './json-guard.js'
import { parsedJson } from './json-object.js'

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
