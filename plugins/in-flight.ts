import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { turnKeyOf } from '../http/turn-key.js'
import { SharedLimit } from '../lib/concurrency/shared-limit.js'
import { atCapacity } from '../lib/errors/service-error.js'
import { turns } from '../lib/concurrency/turn-budget.js'

const COUNTED: unique symbol = Symbol('the caller for whom the request is counted')

declare module 'fastify' {
  interface FastifyRequest {
    [COUNTED]: string | null
  }
  interface FastifyContextConfig {
    /** Whether the route is a probe for operators, which is answered even when the server is busy. Default false. */
    probe?: boolean
  }
}

/**
 * Bounds the number of requests in flight, of all callers and of each, and starts each request in a turn of the event
 * loop that has time left, so that a burst of new requests does not delay those in progress. Requests wait after
 * authentication and take turns by caller: otherwise a burst of one caller would delay every other caller behind the
 * same proxy. It runs for every request, so it allocates nothing for one that need not wait.
 */
async function inFlight (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  const { connections, requests_in_flight: requests } = app.bounds
  if (ownsServer) app.server.maxConnections = connections
  // A dropped connection is one above the maximum: it was accepted as well, and is closed at once.
  for (const event of ['connection', 'drop']) app.server.on(event, () => { turns.connectionAccepted() })
  app.metrics.collected.gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in flight, including the scrape itself when it is served on the same port.',
    read: () => [{ value: app.activeRequests.size }],
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const isAccepted = request.routeOptions.config.probe === true || app.activeRequests.size <= requests
    if (isAccepted) done()
    else done(tooMany(`the maximum of ${requests} requests`))
  })
  /** The requests whose caller is known. */
  const known = new SharedLimit(requests)
  app.decorateRequest(COUNTED, null)
  app.activeRequests.onEnd((request) => {
    const caller = request[COUNTED]
    if (caller !== null) known.add(-1, caller)
  })
  // preParsing hooks run after authentication and before the body is read.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { probe, watched } = request.routeOptions.config
    // The end of a request whose client has disconnected has already been reported.
    if (probe === true || watched === false || reply.raw.destroyed) {
      done(null, payload)
      return
    }
    const caller = turnKeyOf(request)
    if (!known.fits(1, caller)) {
      done(tooMany(`${known.heldBy(caller)} requests of the caller, the maximum of its share`))
      return
    }
    request[COUNTED] = caller
    known.add(1, caller)
    if (mustWait(caller)) void turns.next(caller).then(() => { done(null, payload) }, done)
    else done(null, payload)
  })

  function tooMany (what: string) {
    return atCapacity('server_busy', `The server is already processing ${what} (bounds.requests_in_flight)`)
  }
}

/** Also true in a turn that runs under another key, such as the one in which the request's token was verified. */
function mustWait (caller: string): boolean {
  return turns.isExhausted || (turns.runningCaller !== undefined && turns.runningCaller !== caller)
}

export default fp(inFlight, {
  name: 'in-flight', fastify: '5.x', dependencies: ['bounds', 'errors', 'active-requests', 'metrics'],
})
