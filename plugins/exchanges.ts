import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

/** Takes each exchange at its end, and whether its whole answer was sent. */
export type ExchangeEnd = (request: FastifyRequest, reply: FastifyReply, answered: boolean) => void

/** The exchanges of one gateway that are under way, without those of routes that are not watched. */
export interface Exchanges {
  readonly size: number
  underWay (): Iterable<FastifyReply>
  /** Calls `tell` at the end of every exchange; unlike the hook onResponse, for a client that leaves before, too. */
  onEnd (tell: ExchangeEnd): void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests of the route are counted and waited for. False for probes that answer at once and touch nothing. Default true. */
    watched?: boolean
  }
  interface FastifyInstance {
    exchanges: Exchanges
  }
}

/**
 * Knows what is under way. Registered before the hooks that refuse requests, so that it sees those too. It runs for every request, so
 * it makes nothing for one: no closure, no object.
 */
async function exchanges (app: FastifyInstance): Promise<void> {
  const open = new Map<ServerResponse, FastifyReply>()
  const listeners: ExchangeEnd[] = []
  const end = (reply: FastifyReply, answered: boolean) => {
    open.delete(reply.raw)
    for (const tell of listeners) tell(reply.request, reply, answered)
  }
  // Of an answer that was sent this comes after onResponse.
  function closed (this: ServerResponse): void {
    const reply = open.get(this)
    if (reply !== undefined) end(reply, false)
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.watched !== false) {
      open.set(reply.raw, reply)
      reply.raw.on('close', closed)
    }
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    // Fastify calls this for an answer that broke off with an error as well.
    if (reply.raw.writableEnded && open.has(reply.raw)) end(reply, true)
    done()
  })
  app.decorate('exchanges', {
    get size () { return open.size },
    underWay: () => open.values(),
    onEnd: (tell) => { listeners.push(tell) },
  })
}

export default fp(exchanges, { name: 'exchanges', fastify: '5.x' })
