import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { HttpError } from '../http/error-responses.js'
import { isRepeated } from '../http/repeated-header.js'

/**
 * Headers of one request. A head of the allowed size could have thousands, for which Node takes milliseconds: it makes
 * two texts and an entry of an object for each.
 */
export const MAX_HEADERS = 100

/**
 * Bounds the number of headers, and handles two kinds of request that Node by itself refuses with an empty body. A
 * request without Host, which app.ts lets through, is refused here with the contract's error. An Expect other than
 * 100-continue is ignored, as RFC 9110 section 10.1.1 allows.
 */
async function httpRules (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  if (ownsServer) {
    ignoreExpectations(app)
    // Node drops the headers beyond this number without a word, so a request that reaches it is refused.
    app.server.maxHeadersCount = MAX_HEADERS + 1
  }
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (ownsServer && raw.rawHeaders.length > 2 * MAX_HEADERS) {
      const detail = `The request has more than ${MAX_HEADERS} headers`
      done(new HttpError('invalid_request', detail, { connection: 'close' }))
      return
    }
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
