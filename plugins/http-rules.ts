import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { HttpError } from '../http/error-responses.js'
import { isRepeated } from '../http/repeated-header.js'

/**
 * Handles two kinds of request that Node by itself refuses with an empty body. A request without Host, which app.ts
 * lets through, is refused here with the contract's error. An Expect other than 100-continue is ignored, as RFC 9110
 * section 10.1.1 allows.
 */
async function httpRules (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  if (ownsServer) ignoreExpectations(app)
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const hasOneHost = raw.headers.host !== undefined && !isRepeated(raw, 'host')
    if (hasOneHost || raw.httpVersion === '1.0') done()
    else done(new HttpError('invalid_request', 'A request must have one Host header', { connection: 'close' }))
  })
}

function ignoreExpectations ({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
}

export default fp(httpRules, { name: 'http-rules', fastify: '5.x', dependencies: ['errors'] })
