import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { rawBody } from '../http/raw-body.js'
import { RetainAnswer } from '../lib/memory/schemas.js'
import type { WebhookSources } from '../lib/sources/webhook-sources.js'
import { answers, BODY_ERRORS, LIMIT_ERRORS, ROUTE_ERRORS } from './responses.js'

/**
 * In a scope that the source guard closes: the body is verified before it is parsed, and comes as the bytes that were
 * signed.
 */
export const ingestRoutes: FastifyPluginAsyncTypebox<{ sources: WebhookSources }> = async (app, { sources }) => {
  app.post('/v1/ingest/webhook/:source_id', {
    config: { scope: 'source' },
    schema: {
      operationId: 'ingestWebhook',
      tags: ['sources'],
      summary: 'Retain one event of a webhook source',
      description: 'Takes the content, and metadata, tags and occurred_at when they are there; ignores what else the sender puts in.',
      params: Type.Object({ source_id: Type.String() }),
      body: { content: { 'application/json': { schema: Type.Unknown({ examples: [{ content: 'Order 17 was shipped.' }] }) } } },
      response: answers({ 200: RetainAnswer }, BODY_ERRORS, LIMIT_ERRORS, ['unauthenticated', 'access_denied', 'not_found', 'internal_error', 'model_output_invalid', 'dependency_unavailable', ...ROUTE_ERRORS]),
    },
  }, async ({ params, body }) => await sources.get(params.source_id).retain(rawBody(body)))
}
