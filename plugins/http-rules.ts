import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { HttpError } from '../http/error-responses.js'

/**
 * Handles two kinds of request that Node by itself refuses with an empty body. A request without Host, which app.ts
 * lets through, is refused here with the contract's error. An Expect other than 100-continue is ignored, as RFC 9110
 * section 10.1.1 allows.
 */
async function httpRules (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  if (ownsServer) ignoreExpectations(app)
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (countHosts(raw.rawHeaders) === 1 || raw.httpVersion === '1.0') done()
    else done(new HttpError('invalid_request', 'A request must have one Host header', { connection: 'close' }))
  })
}

function ignoreExpectations ({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
}

/** Counts in the raw headers, because `headers` keeps only the first of several. */
function countHosts (rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

export default fp(httpRules, { name: 'http-rules', fastify: '5.x', dependencies: ['errors'] })
