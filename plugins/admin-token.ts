import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/base/service-error.js'
import { secretMatcher } from './secret-matcher.js'

/** Guards the scope in which it is registered with X-Admin-Token; without a configured token the scope is open. */
async function adminToken (app: FastifyInstance, { token }: { token?: string | undefined }): Promise<void> {
  if (token === undefined) return
  const matches = secretMatcher(token)
  app.addHook('onRequest', async (request) => {
    const header = request.headers['x-admin-token']
    if (typeof header !== 'string' || !matches(header.trim())) {
      throw new ServiceError('unauthenticated', 'Invalid or missing X-Admin-Token')
    }
  })
}

export default fp(adminToken, { name: 'admin-token', fastify: '5.x', dependencies: ['errors'] })
