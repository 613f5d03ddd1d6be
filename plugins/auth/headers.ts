import type { FastifyRequest } from 'fastify'
import { isRepeated } from '../../http/repeated-header.js'
import { invalidField } from '../../lib/base/service-error.js'
import { isPrincipal } from '../../lib/access/context.js'
import { PRINCIPAL_IN_WORDS } from '../../lib/base/ids.js'
import { trimWhitespace } from './whitespace.js'

/**
 * The trimmed value of a header that may be sent once.
 * @param name in lower case
 * @param repeated makes the error for a header that is sent more than once. A proxy may choose another of
 *   the values than Node, and the caller's identity must not depend on that.
 * @returns undefined when the header is absent or blank
 */
export function headerValue (request: FastifyRequest, name: string, repeated: () => Error): string | undefined {
  const value = request.headers[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || isRepeated(request.raw, name)) throw repeated()
  const trimmed = trimWhitespace(value)
  return trimmed === '' ? undefined : trimmed
}

const BEYOND_ASCII = /[\x80-\xff]/
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The value of a header that names a principal. Node reads each byte of a header as a character (Latin-1), which is
 * what fetch sends; curl and most other clients send UTF-8. Text in Latin-1 is hardly ever valid UTF-8, so whatever is
 * valid UTF-8 is read as such.
 */
export function identityHeader (request: FastifyRequest, name: string, repeated: () => Error): string | undefined {
  const value = headerValue(request, name, repeated)
  if (value === undefined || !BEYOND_ASCII.test(value)) return value
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** @returns the principal of X-Service-Principal; undefined when it is absent or blank @throws 400 when invalid */
export function principalHeader (request: FastifyRequest): string | undefined {
  const repeated = () => invalidField('X-Service-Principal', 'must be sent once')
  const principal = identityHeader(request, 'x-service-principal', repeated)
  if (principal !== undefined && !isPrincipal(principal)) {
    throw invalidField('X-Service-Principal', `must be ${PRINCIPAL_IN_WORDS}`)
  }
  return principal
}
