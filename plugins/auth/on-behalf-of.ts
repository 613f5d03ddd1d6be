import type { FastifyRequest } from 'fastify'
import { invalidField } from '../../lib/base/service-error.js'
import { isPrincipal, splitPrincipal } from '../../lib/access/context.js'
import { identityHeader } from './headers.js'

const NAME = 'X-Service-On-Behalf-Of'

function read (request: FastifyRequest): string | undefined {
  return identityHeader(request, NAME.toLowerCase(), () => invalidField(NAME, 'must be sent once'))
}

/** @returns the identity in X-Service-On-Behalf-Of; undefined when absent or blank @throws 400 when invalid */
export function onBehalfOfHeader (request: FastifyRequest): string | undefined {
  const principal = read(request)
  if (principal === undefined) return undefined
  if (!isPrincipal(principal) || splitPrincipal(principal) === undefined) {
    throw invalidField(NAME, 'must be <type>:<id>')
  }
  return principal
}

/**
 * Refuses X-Service-On-Behalf-Of where it has no effect: a caller who asks for fewer rights must not have the request
 * run with all of them.
 * @param why completes the sentence that begins with the header's name
 */
export function refuseOnBehalfOfHeader (request: FastifyRequest, why: string): void {
  if (read(request) !== undefined) throw invalidField(NAME, why)
}

/** Why the header is refused in every mode but jwt_oidc. */
export const ONLY_IN_OIDC = 'is accepted only in auth mode jwt_oidc'
