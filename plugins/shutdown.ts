import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors.js'

/** Requests in flight finish; one that still comes in over an open connection is sent elsewhere. */
async function shutdown (app: FastifyInstance): Promise<void> {
  let closing = false
  app.addHook('preClose', async () => { closing = true })
  app.addHook('onRequest', async () => {
    if (closing) throw new ServiceError('shutting_down', 'The server is shutting down', { headers: { connection: 'close', 'retry-after': '1' } })
  })
}

export default fp(shutdown, { name: 'shutdown', fastify: '5.x', dependencies: ['errors'] })
