import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { isBankId } from '../lib/identity/context.js'

/**
 * Judges access on the bank of a path (`:bank_id`) as soon as it is known who calls: what follows, a body above all, is
 * not even read for a caller without the right. Registered in the scope that the auth mode guards, behind its guard.
 */
async function bankAccess (app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', (request, _reply, done) => {
    const { permission } = request.routeOptions.config
    const { params } = request
    const bankId: unknown = typeof params === 'object' && params !== null && 'bank_id' in params ? params.bank_id : undefined
    // What is no bank id is refused by the validation.
    const asksBank = permission !== undefined && typeof bankId === 'string' && isBankId(bankId)
    const admission = asksBank ? app.memory.admit(request.context, permission, [bankId]) : undefined
    if (admission === undefined) done()
    else void admission.then(() => { done() }, done)
  })
}

export default fp(bankAccess, { name: 'bank-access', fastify: '5.x', dependencies: ['auth', 'memory'] })
