import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../../lib/base/service-error.js'
import { secretMatcher } from '../secret-matcher.js'
import { guardMisconfigured, guardWith, type AuthOptions } from './authentication.js'
import { headerValue, principalHeader } from './headers.js'
import { ONLY_IN_OIDC, refuseOnBehalfOfHeader } from './on-behalf-of.js'

const refused = () => new ServiceError('unauthenticated', 'Invalid or missing API key')

/** Auth mode `api_key`: X-Api-Key carries the shared secret, X-Service-Principal the caller's principal. */
async function apiKey (app: FastifyInstance, { auth }: AuthOptions): Promise<void> {
  if (!auth.apiKey) {
    guardMisconfigured(app, 'SERVICE_API_KEY is not set')
    return
  }
  const matches = secretMatcher(auth.apiKey)
  guardWith(app, (request) => {
    const key = headerValue(request, 'x-api-key', refused)
    if (key === undefined || !matches(key)) throw refused()
    const principal = principalHeader(request)
    if (principal === undefined) throw new ServiceError('unauthenticated', 'X-Service-Principal required')
    refuseOnBehalfOfHeader(request, ONLY_IN_OIDC)
    return { principal, tenantId: null }
  })
}

export default fp(apiKey, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
