import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { bodyCodingFault } from '../http/body-coding.js'
import { giveWay, isDue } from '../lib/base/event-loop.js'
import { ServiceError } from '../lib/base/service-error.js'
import { readJson } from '../lib/base/json-body.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The setting that limits the body, for its error; null: none does. Default: SERVICES_MAX_BODY_BYTES. */
    bodyBound?: string | null
  }
  interface FastifyInstance {
    /** Takes bodies of these media types as JSON, within the bounds of JSON. */
    takeJson (mediaTypes: string | string[]): void
    /** Takes bodies of these media types as they are. `*`: of every other type. */
    takeBytes (mediaTypes: string | string[]): void
  }
}

/** Reads bodies with Fastify's own parsers, each within the limit of its route. */
async function bodies (app: FastifyInstance): Promise<void> {
  // In the scope that calls them, whose parsers they become.
  app.decorate('takeBytes', function (this: FastifyInstance, mediaTypes: string | string[]) {
    this.addContentTypeParser(mediaTypes, { parseAs: 'buffer' }, (_request, body, done) => { done(null, body) })
  })
  app.decorate('takeJson', function (this: FastifyInstance, mediaTypes: string | string[]) {
    this.addContentTypeParser<Buffer>(mediaTypes, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        done(null, jsonOf(request, body))
      } catch (error) {
        done(error as Error)
      }
    })
  })
  const jsonOf = (request: FastifyRequest, body: Buffer): unknown => {
    const fault = bodyCodingFault(request.headers)
    if (fault !== undefined) throw fault
    if (body.length > 0) return readJson(body, app.bounds)
    // Many clients send a Content-Type with every request, so a route without a body accepts an empty one.
    if (request.routeOptions.schema?.body === undefined) return undefined
    throw new ServiceError('invalid_json', 'Request body is empty')
  }
  // Node makes a Buffer of each chunk, and a client may send a million of one byte. This stream reads with back
  // pressure, and gets as one Buffer what has arrived since its last read; others have their turn in between.
  app.addHook('preParsing', ({ headers }, _reply, payload, done) => {
    done(null, headers['transfer-encoding'] === undefined ? payload : Readable.from(inTurns(payload)))
  })
}

async function * inTurns (payload: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of payload) {
    if (isDue()) await giveWay()
    yield chunk
  }
}

export default fp(bodies, { name: 'bodies', fastify: '5.x', dependencies: ['errors'] })
