import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { bodyCodingFault } from '../http/body-coding.js'
import { toServiceError } from '../http/error-handling.js'
import { pathParameter } from '../http/path-parameter.js'
import { rawBody } from '../http/raw-body.js'
import type { WebhookSource, WebhookSources } from '../lib/sources/webhook-sources.js'
import { refuseOnBehalfOfHeader } from './auth/on-behalf-of.js'

const JSON_TYPE = 'application/json'
/** Why a sender cannot act on behalf of somebody: completes the sentence that begins with the header's name. */
const NOT_FOR_SOURCES = 'is not accepted from a webhook: its events are stored as the principal of the source'
const NO_BYTES = Buffer.alloc(0)

const IS_SIGNED: unique symbol = Symbol('the signature of the source is verified')

declare module 'fastify' {
  interface FastifyRequest {
    [IS_SIGNED]: boolean
  }
}

/**
 * Guards the scope in which it is registered: a request must name a configured source (`:source_id`) and carry its
 * signature. Routes get the body as the bytes that were signed. A route without that parameter refuses every request.
 * Whatever refuses a request to a source, the source counts it.
 */
async function sourceGuard (app: FastifyInstance, { sources }: { sources: WebhookSources }): Promise<void> {
  app.decorateRequest(IS_SIGNED, false)
  const authenticate = async (request: FastifyRequest, body: Buffer) => {
    await sourceOf(request, sources).authenticate((name) => request.headers[name], body)
    request[IS_SIGNED] = true
  }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, app.readBody)
  // Checked before the body is read, so that a request for an unknown source costs nothing.
  app.addHook('onRequest', async (request) => { sourceOf(request, sources) })
  // Fastify refuses another content type before `preValidation`, and only a sender with the secret may learn that.
  app.addHook('preParsing', async (request, reply, payload) => {
    const source = sourceOf(request, sources)
    if (!source.requiresSignature || request.mediaType === JSON_TYPE) return
    try {
      const body = await new Promise<Buffer>((resolve, reject) => {
        app.readBody(request, payload as FastifyRequest['raw'], (error, bytes = NO_BYTES) => {
          if (error === null) resolve(bytes)
          else reject(error)
        })
      })
      await authenticate(request, body)
    } catch (error) {
      // As for a body that a parser refuses: the client may still be sending.
      reply.header('connection', 'close')
      throw error
    }
  })
  app.addHook('preValidation', async (request) => {
    await authenticate(request, rawBody(request.body))
    refuseOnBehalfOfHeader(request, NOT_FOR_SOURCES)
    const fault = bodyCodingFault(request.headers)
    if (fault !== undefined) throw fault
  })
  app.addHook('onError', async (request, _reply, error) => {
    const source = sources.find(idOf(request))
    source?.recordRefusal(toServiceError(error, request), request[IS_SIGNED] || !source.requiresSignature)
  })
}

function idOf (request: FastifyRequest): string {
  const id = pathParameter(request, 'source_id')
  return typeof id === 'string' ? id : ''
}

function sourceOf (request: FastifyRequest, sources: WebhookSources): WebhookSource {
  return sources.get(idOf(request))
}

export default fp(sourceGuard, { name: 'source-guard', fastify: '5.x', dependencies: ['errors', 'body-reader'] })
