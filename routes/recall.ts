import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RecallAnswer, RecallRequest } from '../lib/memory/schemas.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS } from './responses.js'

export const recallRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/v1/recall', {
    config: { ring: 'memory', permission: 'read' },
    schema: {
      operationId: 'recall',
      tags: ['memory'],
      summary: 'Search one bank or several',
      description: 'Exactly one of bank_id and banks. Filters hold inside every strategy; a bank that does not exist is empty.',
      body: RecallRequest,
      response: answers({ 200: RecallAnswer }, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, ['model_output_invalid']),
    },
  }, async (request) => await app.memory.reader.recall(request.body, request.context))
}
