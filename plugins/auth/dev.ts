import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { guardWith, type AuthOptions } from './authentication.js'
import { principalHeader } from './headers.js'
import { ONLY_IN_OIDC, refuseOnBehalfOfHeader } from './on-behalf-of.js'

/** Auth mode `dev`: X-Service-Principal is trusted; without it the caller is anonymous. For local development only. */
async function dev (app: FastifyInstance, _options: AuthOptions): Promise<void> {
  guardWith(app, (request) => {
    const principal = principalHeader(request)
    refuseOnBehalfOfHeader(request, ONLY_IN_OIDC)
    return principal === undefined ? { tenantId: null } : { principal, tenantId: null }
  })
}

export default fp(dev, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
