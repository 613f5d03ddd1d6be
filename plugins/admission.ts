import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { turnKeyOf } from '../http/turn-key.js'
import { atCapacity } from '../lib/errors/service-error.js'
import { turns } from '../lib/concurrency/turn-budget.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether operators look at the process with it: it is answered however much work there is. Default false. */
    probe?: boolean
  }
}

/**
 * Lets so many requests in at the same time and no more, and each in a turn of the event loop that has room: a crowd
 * that comes at once does not hold up what is being worked on. It runs for every request, so it makes nothing for one
 * that need not wait.
 */
async function admission (app: FastifyInstance): Promise<void> {
  const { connections, requests_in_flight: requests } = app.bounds
  app.server.maxConnections = connections
  app.metrics.collected.gauge({
    name: 'http_requests_in_flight',
    help: 'Requests under way, this one too where it is served on the same port.',
    read: () => [{ value: app.activeRequests.size }],
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.probe === true) {
      done()
    } else if (app.activeRequests.size > requests) {
      done(atCapacity('server_busy', `The server works on as many requests as it takes, ${requests} (bounds.requests_in_flight)`))
    } else if (turns.isSpent) {
      void turns.next(turnKeyOf(request)).then(() => { done() }, done)
    } else {
      done()
    }
  })
}

export default fp(admission, { name: 'admission', fastify: '5.x', dependencies: ['bounds', 'errors', 'active-requests', 'metrics'] })
