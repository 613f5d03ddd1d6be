import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { turnKeyOf } from '../http/turn-key.js'
import { atCapacity } from '../lib/errors/service-error.js'
import { turns } from '../lib/concurrency/turn-budget.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is a probe for operators, which is answered even when the server is busy. Default false. */
    probe?: boolean
  }
}

/**
 * Bounds the number of requests in flight, and starts each request in a turn of the event loop that has time left, so
 * that a burst of new requests does not delay those in progress. Requests wait after authentication and take turns by
 * caller: otherwise a burst of one caller would delay every other caller behind the same proxy. It runs for every
 * request, so it allocates nothing for one that need not wait.
 */
async function inFlight (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  const { connections, requests_in_flight: requests } = app.bounds
  if (ownsServer) app.server.maxConnections = connections
  app.metrics.collected.gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in flight, including the scrape itself when it is served on the same port.',
    read: () => [{ value: app.activeRequests.size }],
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.probe === true) {
      done()
    } else if (app.activeRequests.size > requests) {
      done(atCapacity(
        'server_busy',
        `The server is already processing the maximum of ${requests} requests (bounds.requests_in_flight)`,
      ))
    } else {
      done()
    }
  })
  // preParsing hooks run after authentication and before the body is read.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.routeOptions.config.probe !== true && mustWait(request)) {
      void turns.next(turnKeyOf(request)).then(() => { done(null, payload) }, done)
    } else {
      done(null, payload)
    }
  })
}

/** Also true in a turn that runs under another key, such as the one in which the request's token was verified. */
function mustWait (request: FastifyRequest): boolean {
  return turns.isExhausted || (turns.runningCaller !== undefined && turns.runningCaller !== turnKeyOf(request))
}

export default fp(inFlight, {
  name: 'in-flight', fastify: '5.x', dependencies: ['bounds', 'errors', 'active-requests', 'metrics'],
})
