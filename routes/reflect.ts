import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ReflectAnswer, ReflectRequest } from '../lib/memory/schemas.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS } from './responses.js'

export const reflectRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/v1/reflect', {
    config: { ring: 'memory', permission: 'read' },
    schema: {
      operationId: 'reflect',
      tags: ['memory'],
      summary: 'Answer a question from memories',
      description: 'The answer cites the sources that it rests on as [1], [2]. Without evidence it abstains and no model is called.',
      body: ReflectRequest,
      response: answers({ 200: ReflectAnswer }, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, ['model_output_invalid']),
    },
  }, async (request) => await app.memory.reflector.reflect(request.body, request.context, request.signal))
}
