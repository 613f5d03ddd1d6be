import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/**
 * Closes a connection that sends a request before the answer to its last one: nobody pipelines, and hundreds of such
 * requests fit into one packet. Closes a connection, too, whose client does not read its answer: `server.timeout` has
 * passed without a byte, and bytes are waiting. While a handler computes or an event stream is silent, none wait.
 */
async function connections (app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', ({ raw: { socket }, log }, { raw }, done) => {
    // Node gives the socket to one answer after the other.
    if (raw.socket !== null) {
      raw.on('timeout', closeUnread)
      done()
      return
    }
    if (!socket.destroyed) log.info('a client that sends a request before the answer to its last one is disconnected')
    socket.destroy()
  })
}

function closeUnread (socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}

export default fp(connections, { name: 'connections', fastify: '5.x' })
