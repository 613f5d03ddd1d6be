import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { pathParameter } from '../http/path-parameter.js'
import { isBankId } from '../lib/access/context.js'

/**
 * Checks access to the bank of a path (`:bank_id`) as soon as the caller is identified, so that the body is not read
 * for a caller without the permission. Registered in the scope of the auth mode, after its hook.
 */
async function bankAccess (app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', (request, _reply, done) => {
    const { permission } = request.routeOptions.config
    const bankId = pathParameter(request, 'bank_id')
    // The validation refuses an invalid bank id.
    const needsAccess = permission !== undefined && typeof bankId === 'string' && isBankId(bankId)
    const accessCheck = needsAccess ? app.memory.checkAccess(request.context, permission, [bankId]) : undefined
    if (accessCheck === undefined) done()
    else void accessCheck.then(() => { done() }, done)
  })
}

export default fp(bankAccess, { name: 'bank-access', fastify: '5.x', dependencies: ['auth', 'memory'] })
