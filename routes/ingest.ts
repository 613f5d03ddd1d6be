import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { bytesOf } from '../http/body-coding.js'
import { rateLimitHeaders } from '../http/rate-limit-headers.js'
import { RetainAnswer } from '../lib/operations/schemas.js'
import type { WebhookSources } from '../lib/operations/webhook-sources.js'
import { LIMIT_ERRORS } from '../lib/operations/operation.js'
import { answers, BODY_ERRORS, ROUTE_ERRORS } from './responses.js'

const ERRORS = [
  'unauthenticated', 'access_denied', 'not_found', 'internal_error', 'model_output_invalid', 'dependency_unavailable',
] as const

/**
 * Registered in the scope of the source guard, which verifies the body before it is parsed and passes on the
 * bytes that were signed.
 */
export const ingestRoutes: FastifyPluginAsyncTypebox<{ sources: WebhookSources }> = async (app, { sources }) => {
  app.post('/v1/ingest/webhook/:source_id', {
    config: { scope: 'source' },
    schema: {
      operationId: 'ingestWebhook',
      tags: ['sources'],
      summary: 'Retain one event of a webhook source',
      description: 'Reads the content, and metadata, tags, occurred_at and speaker if present; ignores other ' +
        'members, and all query parameters.',
      // Senders add parameters of their own to the URL.
      querystring: Type.Object({}, { additionalProperties: true }),
      params: Type.Object({ source_id: Type.String() }),
      body: {
        content: { 'application/json': { schema: Type.Unknown({ examples: [{ content: 'Order 17 was shipped.' }] }) } },
      },
      response: answers({ 200: RetainAnswer }, BODY_ERRORS, LIMIT_ERRORS, ROUTE_ERRORS, ERRORS),
    },
  }, async ({ params, body }, reply) => (
    await sources.get(params.source_id).retain(bytesOf(body), { noteRates: rateLimitHeaders(reply) })
  ))
}
