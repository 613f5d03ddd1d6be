import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../http/error-responses.js'
import { ServiceError } from '../../lib/base/service-error.js'
import type { RequestContext } from '../../lib/access/context.js'
import { headerValue } from './headers.js'
import { TokenRefused, type TokenRefusalReason } from './token-refused.js'

/** Providers that list groups issue long tokens. The bound limits the decoding and hashing of an unverified token. */
const MAX_TOKEN_LENGTH = 12_288

/** Bytes of a request's headers: the longest token leaves a quarter for all others. */
export const MAX_HEADER_BYTES = 16_384

const BEARER = /^bearer[ \t]+(\S+)$/i

/** RFC 6750 section 3.1: the challenge has no error code without credentials, and invalid_token for bad ones. */
function bearerRequired (): HttpError {
  return new HttpError('unauthenticated', 'Bearer token required', { 'www-authenticate': 'Bearer' })
}

/** @returns the token of `Authorization: Bearer <token>` @throws 401 when the header has another form */
export function bearerToken (request: FastifyRequest): string {
  const value = headerValue(request, 'authorization', bearerRequired)
  const token = value === undefined ? undefined : BEARER.exec(value)?.[1]
  if (token === undefined) throw bearerRequired()
  if (token.length > MAX_TOKEN_LENGTH) throw new TokenRefused('token too long')
  return token
}

/**
 * Turns every error that a token causes, in our code or in a library, into a 401. Only a ServiceError of our own passes
 * through, such as 503 when the identity provider cannot be reached.
 * @param detail the mode's message for a reason; `missing sub` has the same message in all modes
 */
export function withTokenErrors (
  authenticate: (request: FastifyRequest) => Promise<RequestContext>,
  detail: (reason: TokenRefusalReason) => string,
): (request: FastifyRequest) => Promise<RequestContext> {
  return async (request) => {
    try {
      return await authenticate(request)
    } catch (error) {
      if (error instanceof ServiceError) throw error
      const reason = error instanceof TokenRefused ? error.reason : 'malformed token'
      request.log.info({ reason, cause: codeOf(error) }, 'token refused')
      throw new HttpError('unauthenticated', reason === 'missing sub' ? 'Token missing sub' : detail(reason), {
        'www-authenticate': 'Bearer error="invalid_token"',
      })
    }
  }
}

/** The code alone goes to the log: an error of fast-jwt can carry the payload of the token. */
function codeOf (error: unknown): string | undefined {
  const source = error instanceof TokenRefused ? error.cause : error
  if (!(source instanceof Error)) return undefined
  return 'code' in source && typeof source.code === 'string' ? source.code : source.name
}
