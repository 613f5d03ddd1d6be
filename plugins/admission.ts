import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { arrivalKeyOf, turnKeyOf } from '../http/turn-key.js'
import { atCapacity } from '../lib/errors/service-error.js'
import { turns } from '../lib/concurrency/turn-budget.js'

const HAS_WAITED: unique symbol = Symbol('has waited for a turn of the event loop')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is a probe for operators, which is answered even when the server is busy. Default false. */
    probe?: boolean
  }
  interface FastifyRequest {
    [HAS_WAITED]: boolean
  }
}

/**
 * Bounds the number of requests in flight, and starts each request in a turn of the event loop that has time left, so
 * that a burst of new requests does not delay those in progress. A request that has to wait does so twice: before
 * authentication among all requests of its address, and then among those of its caller. Otherwise a burst of one caller
 * would delay every other caller behind the same proxy. It runs for every request, so it allocates nothing for one
 * that need not wait.
 */
async function admission (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  const { connections, requests_in_flight: requests } = app.bounds
  if (ownsServer) app.server.maxConnections = connections
  app.metrics.collected.gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in flight, including the scrape itself when it is served on the same port.',
    read: () => [{ value: app.activeRequests.size }],
  })
  app.decorateRequest(HAS_WAITED, false)
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.probe === true) {
      done()
    } else if (app.activeRequests.size > requests) {
      done(atCapacity('server_busy', `The server works on as many requests as it takes, ${requests} (bounds.requests_in_flight)`))
    } else if (turns.isSpent) {
      request[HAS_WAITED] = true
      void turns.next(arrivalKeyOf(request)).then(() => { done() }, done)
    } else {
      done()
    }
  })
  // The hooks of this kind run after authentication and before the body is read.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request[HAS_WAITED]) void turns.next(turnKeyOf(request)).then(() => { done(null, payload) }, done)
    else done(null, payload)
  })
}

export default fp(admission, { name: 'admission', fastify: '5.x', dependencies: ['bounds', 'errors', 'active-requests', 'metrics'] })
