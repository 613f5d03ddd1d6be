import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/**
 * Pipelined requests of one connection that may wait for earlier responses; a client that sends more is disconnected.
 */
const MAX_QUEUED = 32

/**
 * Bounds pipelining: requests that a client sends on a connection before it has read earlier responses. They are served
 * one after the other, since hundreds can arrive in one turn of the event loop, and no more than a few wait. Node keeps
 * reading until the responses fill its buffer, and creates a request for everything it has read. It also emits no
 * `close` on the responses that still wait when the connection is lost, so this plugin does.
 */
async function pipelining (app: FastifyInstance): Promise<void> {
  const queued = new WeakMap<Socket, number>()

  const endQueued = (socket: Socket) => {
    for (const { raw } of [...app.activeRequests.replies()]) {
      if (raw.req.socket === socket && raw.socket === null && !raw.destroyed) end(raw)
    }
  }

  app.addHook('onRequest', (request, { raw }, done) => {
    // A response that has the socket is the first of its connection, so the request does not wait.
    if (raw.socket !== null) {
      done()
      return
    }
    const { socket } = request.raw
    if (socket.destroyed) {
      end(raw)
      return
    }
    const before = queued.get(socket)
    if (before === undefined) socket.once('close', () => { endQueued(socket) })
    if (before === MAX_QUEUED) {
      app.log.info(
        { request_id: request.id }, 'a client that sends requests without reading the responses is disconnected',
      )
      stopParsing(socket)
      socket.destroy()
      return
    }
    queued.set(socket, (before ?? 0) + 1)
    // Node emits it while the previous request ends, whose asynchronous context must not pass to this one.
    raw.once('socket', AsyncResource.bind(() => {
      queued.set(socket, queued.get(socket)! - 1)
      done()
    }))
  })
}

/** Ends a waiting response, as Node ends those that have the socket. */
function end (raw: ServerResponse): void {
  raw.destroyed = true
  raw.emit('close')
}

/**
 * Makes Node drop what it has read of a connection, which can be hundreds of requests: each would be created, then
 * aborted with an error of its own. Node has no documented way to do this. Its parser stops at a request that upgrades
 * to another protocol, which `onIncoming` signals by returning 2.
 */
function stopParsing (socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  if (socket.parser != null) socket.parser.onIncoming = () => 2
}

export default fp(pipelining, { name: 'pipelining', fastify: '5.x', dependencies: ['active-requests'] })
