import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ExplainAnswer, ExplainRequest, RecallAnswer, RecallRequest } from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, LARGE_ERRORS, LIMIT_ERRORS } from './responses.js'

const errors = [BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, ['model_output_invalid']] as const

export const recallRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/v1/recall', {
    config: { scope: 'memory', permission: 'read' },
    schema: {
      operationId: 'recall',
      tags: ['memory'],
      summary: 'Search one bank or several',
      description: 'Requires exactly one of bank_id and banks. Filters apply within every strategy. A bank that does ' +
        'not exist counts as empty.',
      body: RecallRequest,
      response: answers({ 200: RecallAnswer }, ...errors, LARGE_ERRORS, ['not_supported']),
    },
  }, async (request, reply) => {
    const { body, context } = request
    // Only a call to a model takes long enough to be worth cancelling when the client disconnects.
    const asksModel = body.rewrite === true || body.model_rerank === true
    const signal = asksModel ? disconnectSignal(reply) : undefined
    return await app.memory.recall(body, context, { signal })
  })
  app.post('/v1/recall/explain', {
    config: { scope: 'memory', permission: 'read' },
    schema: {
      operationId: 'explainRecall',
      tags: ['memory'],
      summary: 'Explain why a recall returns or excludes a memory',
      description: 'Runs the recall and reports, for one memory, its rank at each stage and what excluded it. Counts ' +
        'as a recall.',
      body: ExplainRequest,
      response: answers({ 200: ExplainAnswer }, ...errors),
    },
  }, async ({ body, context }) => await app.memory.explain(body, context))
}
