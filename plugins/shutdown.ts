import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/base/service-error.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** How far the process is on its way to its end. While it drains, it serves everything but is not ready. */
    shutdown: { isDraining: boolean }
  }
}

/**
 * Lets requests in flight finish, and refuses with 503 those that arrive later on open connections. While it drains,
 * each answer ends its connection, so that no client or proxy keeps one to a server that is about to close it.
 */
async function shutdown (app: FastifyInstance): Promise<void> {
  const state = { isDraining: false }
  app.decorate('shutdown', state)
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    for (const { raw } of app.activeRequests.replies()) {
      // The server would wait for a kept-alive connection until the client closes it.
      if (!raw.headersSent) raw.setHeader('connection', 'close')
      // A response that has begun can no longer get the header, so its connection is closed afterwards.
      raw.once('close', () => { setImmediate(() => { app.server.closeIdleConnections() }) })
    }
  })
  app.addHook('onRequest', (_request, reply, done) => {
    if (state.isDraining) reply.raw.setHeader('connection', 'close')
    done(closing ? new ServiceError('shutting_down', 'The server is shutting down') : undefined)
  })
}

export default fp(shutdown, { name: 'shutdown', fastify: '5.x', dependencies: ['errors', 'active-requests'] })
