import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Requests of one connection that may wait for the answers before theirs; a client that sends more is cut off. */
const MAX_QUEUED = 32

/**
 * Requests that come on a connection before the answers of earlier ones were taken. Node reads on until the answers on
 * the connection fill a buffer, and makes a request of everything in what it has read by then; and it does not tell the
 * answers that wait in line when the connection is gone.
 */
async function pipelining (app: FastifyInstance): Promise<void> {
  const queued = new WeakMap<Socket, number>()

  const endQueued = (socket: Socket) => {
    for (const { raw } of [...app.activeRequests.replies()]) {
      if (raw.req.socket !== socket || raw.socket !== null || raw.destroyed) continue
      raw.destroyed = true
      raw.emit('close')
    }
  }

  // Requests that came in the same bytes as the one that was too many: hundreds, of which nothing is made.
  const handlers = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (incoming.socket.destroyed) return
    for (const handle of handlers) Reflect.apply(handle, app.server, [incoming, outgoing])
  })

  app.addHook('onRequest', (request, { raw }, done) => {
    // An answer that has its connection is the first in line.
    if (raw.socket !== null) {
      done()
      return
    }
    const { socket } = request.raw
    // A name that has two addresses has a second server, which has its own listeners.
    if (socket.destroyed) return
    const before = queued.get(socket)
    if (before === undefined) socket.once('close', () => { endQueued(socket) })
    if (before === MAX_QUEUED) {
      app.log.info({ request_id: request.id }, 'a client that sends requests and takes no answers is cut off')
      socket.destroy()
      return
    }
    queued.set(socket, (before ?? 0) + 1)
    raw.once('socket', () => { queued.set(socket, queued.get(socket)! - 1) })
    done()
  })
}

export default fp(pipelining, { name: 'pipelining', fastify: '5.x', dependencies: ['active-requests'], decorators: { fastify: ['activeRequests'] } })
