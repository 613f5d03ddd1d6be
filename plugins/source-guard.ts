import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { rawBody } from '../http/raw-body.js'
import type { WebhookSource, WebhookSources } from '../lib/sources/webhook-sources.js'

/**
 * Guards the scope in which it is registered: a request has to name a source that is there (`:source_id`), and to carry
 * its signature. Bodies come to the routes as the bytes that were signed. A route without that parameter is closed.
 */
async function sourceGuard (app: FastifyInstance, { sources }: { sources: WebhookSources }): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', app.readBody)
  // Before the body is read: one for a source that is not there costs nothing.
  app.addHook('onRequest', async (request) => { sourceOf(request, sources) })
  app.addHook('preValidation', async (request) => {
    await sourceOf(request, sources).authenticate((name) => request.headers[name], rawBody(request.body))
  })
}

function sourceOf ({ params }: FastifyRequest, sources: WebhookSources): WebhookSource {
  const id: unknown = typeof params === 'object' && params !== null && 'source_id' in params ? params.source_id : undefined
  return sources.get(typeof id === 'string' ? id : '')
}

export default fp(sourceGuard, { name: 'source-guard', fastify: '5.x', dependencies: ['errors', 'body-reader'] })
