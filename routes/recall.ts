import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ExplainAnswer, ExplainRequest, RecallAnswer, RecallRequest } from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, LARGE_ERRORS, LIMIT_ERRORS } from './responses.js'

export const recallRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/v1/recall', {
    config: { scope: 'memory', permission: 'read' },
    schema: {
      operationId: 'recall',
      tags: ['memory'],
      summary: 'Search one bank or several',
      description: 'Exactly one of bank_id and banks. Filters hold inside every strategy; a bank that does not exist is empty.',
      body: RecallRequest,
      response: answers({ 200: RecallAnswer }, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, LARGE_ERRORS, ['model_output_invalid', 'not_supported']),
    },
  }, async (request, reply) => {
    const { body, context } = request
    // Only a model is worth giving up when the client leaves.
    const asksModel = body.rewrite === true || body.model_rerank === true
    const signal = asksModel ? disconnectSignal(reply) : undefined
    return await app.withRowBudget(reply, async (budget) => await app.memory.recall(body, context, signal, budget))
  })
  app.post('/v1/recall/explain', {
    config: { scope: 'memory', permission: 'read' },
    schema: {
      operationId: 'explainRecall',
      tags: ['memory'],
      summary: 'Why a recall gives a memory, or does not',
      description: 'Does the recall, and tells of one memory where it was at each stage and what kept it out. Counts as a recall.',
      body: ExplainRequest,
      response: answers({ 200: ExplainAnswer }, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, ['model_output_invalid']),
    },
  }, async ({ body, context }, reply) => (
    await app.withRowBudget(reply, async (budget) => await app.memory.explain(body, context, undefined, budget))
  ))
}
