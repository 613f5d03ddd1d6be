import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../../lib/errors/service-error.js'
import { secretMatcher } from '../secret-matcher.js'
import { guardMisconfigured, guardWith, type AuthOptions } from './authentication.js'
import { headerValue, principalHeader } from './headers.js'
import { ONLY_IN_OIDC, refuseOnBehalfOfHeader } from './on-behalf-of.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * For clients of other products' APIs, which send the key as `Authorization: Bearer` and know no principals.
     * `principal` is the caller's principal when the request names none.
     */
    bearerKey?: { principal: string }
  }
}

const BEARER = /^bearer[ \t]+(.+)$/i

const refused = () => new ServiceError('unauthenticated', 'Invalid or missing API key')

/** Auth mode `api_key`: X-Api-Key carries the shared secret, X-Service-Principal the caller's principal. */
async function apiKey (app: FastifyInstance, { auth }: AuthOptions): Promise<void> {
  if (!auth.apiKey) {
    guardMisconfigured(app, 'SERVICE_API_KEY is not set')
    return
  }
  const matches = secretMatcher(auth.apiKey)
  guardWith(app, (request) => {
    const { bearerKey } = request.routeOptions.config
    const keys = [headerValue(request, 'x-api-key', refused), bearerKey === undefined ? undefined : bearer(request)]
      .filter((key) => key !== undefined)
    // A request with two keys is refused, because neither may be ignored.
    if (keys.length === 0 || !keys.every(matches)) throw refused()
    const principal = principalHeader(request) ?? bearerKey?.principal
    if (principal === undefined) throw new ServiceError('unauthenticated', 'X-Service-Principal required')
    refuseOnBehalfOfHeader(request, ONLY_IN_OIDC)
    return { principal, tenantId: null }
  })
}

function bearer (request: FastifyRequest): string | undefined {
  const value = headerValue(request, 'authorization', refused)
  if (value === undefined) return undefined
  const key = BEARER.exec(value)?.[1]
  if (key === undefined) throw refused()
  return key
}

export default fp(apiKey, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
