import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/**
 * Pipelined requests of one connection that may wait for earlier responses; a client that sends more is disconnected.
 */
const MAX_QUEUED = 32

/**
 * Bounds pipelining: requests that a client sends on a connection before it has read earlier responses. Node keeps
 * reading until the responses fill its buffer, and creates a request for everything it has read. It also emits no
 * `close` on the responses that still wait when the connection is lost, so this plugin does.
 */
async function pipelining (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  const queued = new WeakMap<Socket, number>()

  const endQueued = (socket: Socket) => {
    for (const { raw } of [...app.activeRequests.replies()]) {
      if (raw.req.socket !== socket || raw.socket !== null || raw.destroyed) continue
      raw.destroyed = true
      raw.emit('close')
    }
  }

  if (ownsServer) dropRequestsOfLostConnections(app)

  app.addHook('onRequest', (request, { raw }, done) => {
    // A response that has the socket is the first of its connection, so the request does not wait.
    if (raw.socket !== null) {
      done()
      return
    }
    const { socket } = request.raw
    // The server of another app, and the second server of a host name with two addresses, drop nothing.
    if (socket.destroyed) return
    const before = queued.get(socket)
    if (before === undefined) socket.once('close', () => { endQueued(socket) })
    if (before === MAX_QUEUED) {
      app.log.info({ request_id: request.id }, 'a client that sends requests without reading the responses is disconnected')
      socket.destroy()
      return
    }
    queued.set(socket, (before ?? 0) + 1)
    raw.once('socket', () => { queued.set(socket, queued.get(socket)! - 1) })
    done()
  })
}

/** One read can hold hundreds of requests. Those after the one that exceeded the limit are dropped here. */
function dropRequestsOfLostConnections ({ server }: FastifyInstance): void {
  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (incoming.socket.destroyed) return
    for (const handle of handlers) Reflect.apply(handle, server, [incoming, outgoing])
  })
}

export default fp(pipelining, {
  name: 'pipelining',
  fastify: '5.x',
  dependencies: ['active-requests'],
  decorators: { fastify: ['activeRequests'] },
})
