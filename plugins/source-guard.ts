import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { pathParameter } from '../http/path-parameter.js'
import { rawBody } from '../http/raw-body.js'
import type { WebhookSource, WebhookSources } from '../lib/sources/webhook-sources.js'

/**
 * Guards the scope in which it is registered: a request must name a configured source (`:source_id`) and carry its
 * signature. Routes get the body as the bytes that were signed. A route without that parameter refuses every request.
 */
async function sourceGuard (app: FastifyInstance, { sources }: { sources: WebhookSources }): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', app.readBody)
  // Checked before the body is read, so that a request for an unknown source costs nothing.
  app.addHook('onRequest', async (request) => { sourceOf(request, sources) })
  app.addHook('preValidation', async (request) => {
    await sourceOf(request, sources).authenticate((name) => request.headers[name], rawBody(request.body))
  })
}

function sourceOf (request: FastifyRequest, sources: WebhookSources): WebhookSource {
  const id = pathParameter(request, 'source_id')
  return sources.get(typeof id === 'string' ? id : '')
}

export default fp(sourceGuard, { name: 'source-guard', fastify: '5.x', dependencies: ['errors', 'body-reader'] })
