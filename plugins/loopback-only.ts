import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { isLoopback } from '../lib/base/uri.js'
import { ServiceError } from '../lib/base/service-error.js'

/**
 * Serves only connections that arrive on a loopback address. The gateway's own process refuses to listen on any other
 * in dev mode, which trusts every caller; as a part of another app it does not decide where that app listens.
 */
async function loopbackOnly (app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', ({ raw: { socket: { localAddress } } }, _reply, done) => {
    // A Unix socket has no address; only this machine can reach it.
    if (localAddress === undefined || isLoopback(localAddress)) done()
    else {
      done(new ServiceError('host_not_allowed', 'Dev mode, which trusts every caller, is served on loopback ' +
        'addresses only; choose another SERVICE_AUTH_MODE, or set SERVICE_ALLOW_DEV_AUTH=1'))
    }
  })
}

export default fp(loopbackOnly, { name: 'loopback-only', fastify: '5.x', dependencies: ['errors'] })
