import type { FastifyRequest } from 'fastify'
import { isRepeated } from '../../http/repeated-header.js'
import { invalidField } from '../../lib/errors/service-error.js'
import { isPrincipal } from '../../lib/identity/context.js'
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

/** @returns the principal of X-Service-Principal; undefined when it is absent or blank @throws 400 when invalid */
export function principalHeader (request: FastifyRequest): string | undefined {
  const repeated = () => invalidField('X-Service-Principal', 'must be sent once')
  const principal = headerValue(request, 'x-service-principal', repeated)
  if (principal !== undefined && !isPrincipal(principal)) {
    throw invalidField('X-Service-Principal', 'must be 1 to 256 visible characters without spaces')
  }
  return principal
}
