import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { bodyCodingFault } from '../http/body-coding.js'
import { toServiceError, unsupportedMediaType } from '../http/error-handling.js'
import { pathParameter } from '../http/path-parameter.js'
import type { WebhookSource, WebhookSources } from '../lib/operations/webhook-sources.js'
import { bytesOf } from '../http/body-coding.js'
import { refuseOnBehalfOfHeader } from './auth/on-behalf-of.js'

const JSON_TYPE = 'application/json'
const MEDIA_TYPE = /^\s*[^\s/;]+\/[^\s/;]+\s*(;|$)/
/** Why a sender cannot act on behalf of somebody: completes the sentence that begins with the header's name. */
const NOT_FOR_SOURCES = 'is not accepted from a webhook: its events are stored as the principal of the source'

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
  app.removeAllContentTypeParsers()
  // Only a sender with the secret may learn that a content type is not taken.
  app.takeBytes('*')
  // Checked before the body is read, so that a request for an unknown source costs nothing.
  app.addHook('onRequest', async (request) => {
    sourceOf(request, sources)
    // Fastify would refuse a malformed one before the signature is checked.
    const { 'content-type': type } = request.headers
    if (type !== undefined && !MEDIA_TYPE.test(type)) request.headers['content-type'] = 'application/octet-stream'
  })
  app.addHook('preValidation', async (request) => {
    const { headers, body, mediaType } = request
    await sourceOf(request, sources).authenticate((name) => headers[name], bytesOf(body))
    request[IS_SIGNED] = true
    if (body !== undefined && mediaType !== JSON_TYPE) throw unsupportedMediaType(request)
    refuseOnBehalfOfHeader(request, NOT_FOR_SOURCES)
    const fault = bodyCodingFault(headers)
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

export default fp(sourceGuard, { name: 'source-guard', fastify: '5.x', dependencies: ['errors', 'bodies'] })
