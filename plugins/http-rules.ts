import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { HttpError } from '../http/error-responses.js'

/**
 * What Node would refuse by itself, with an empty body: a request without Host, which app.ts lets through to here, and
 * an Expect that is not 100-continue, which RFC 9110 section 10.1.1 lets a server pass over.
 */
async function httpRules (app: FastifyInstance): Promise<void> {
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => { app.server.emit('request', request, response) })
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const refused = countHosts(raw.rawHeaders) !== 1 && raw.httpVersion !== '1.0'
    done(refused ? new HttpError('invalid_request', 'A request must have one Host header', { connection: 'close' }) : undefined)
  })
}

/** Node's own `headers` keeps the first of several. */
function countHosts (rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

export default fp(httpRules, { name: 'http-rules', fastify: '5.x', dependencies: ['errors'] })
