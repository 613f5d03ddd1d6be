import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors/service-error.js'

/** Requests in flight finish; one that still comes in over an open connection is sent elsewhere. */
async function shutdown (app: FastifyInstance): Promise<void> {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    for (const { raw } of app.activeRequests.replies()) {
      // A connection that is kept alive would be waited for until the client lets go of it.
      if (!raw.headersSent) raw.setHeader('connection', 'close')
      // The header is too late for an answer that has begun.
      raw.once('close', () => { setImmediate(() => { app.server.closeIdleConnections() }) })
    }
  })
  app.addHook('onRequest', (_request, _reply, done) => {
    done(closing ? new ServiceError('shutting_down', 'The server is shutting down') : undefined)
  })
}

export default fp(shutdown, { name: 'shutdown', fastify: '5.x', dependencies: ['errors', 'active-requests'], decorators: { fastify: ['activeRequests'] } })
