import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

/** The status of a request whose client disconnects before the response. nginx logs the same. */
const CLIENT_CLOSED_REQUEST = 499

/** @param status of the response, or CLIENT_CLOSED_REQUEST when it was not sent whole */
type RequestEndListener = (request: FastifyRequest, reply: FastifyReply, status: number) => void

/** The requests of one gateway whose response has not been sent yet, except those of routes that are not watched. */
interface ActiveRequests {
  readonly size: number
  replies (): Iterable<FastifyReply>
  /** Calls `listener` at the end of every request, also when the client disconnects, unlike the hook onResponse. */
  onEnd (listener: RequestEndListener): void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether requests of the route are counted, and awaited at shutdown. False for probes that answer at once and use
     * no backend. Default true.
     */
    watched?: boolean
  }
  interface FastifyInstance {
    activeRequests: ActiveRequests
  }
}

/**
 * Keeps the set of active requests. It is registered before the hooks that refuse requests, so that it sees those too.
 * It runs for every request, so it allocates no closure and no object for one.
 */
async function activeRequests (app: FastifyInstance): Promise<void> {
  const active = new Map<ServerResponse, FastifyReply>()
  const listeners: RequestEndListener[] = []
  const end = (reply: FastifyReply, status: number) => {
    active.delete(reply.raw)
    for (const listener of listeners) listener(reply.request, reply, status)
  }
  // If the response was sent, onResponse has already run.
  function onClose (this: ServerResponse): void {
    const reply = active.get(this)
    if (reply !== undefined) end(reply, CLIENT_CLOSED_REQUEST)
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.watched !== false) {
      active.set(reply.raw, reply)
      reply.raw.on('close', onClose)
    }
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    // Fastify also calls this for a response that ends with an error in the middle.
    if (reply.raw.writableEnded && active.has(reply.raw)) end(reply, reply.statusCode)
    done()
  })
  app.decorate('activeRequests', {
    get size () { return active.size },
    replies: () => active.values(),
    onEnd: (listener) => { listeners.push(listener) },
  })
}

export default fp(activeRequests, { name: 'active-requests', fastify: '5.x' })
