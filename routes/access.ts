import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AccessAnswer, AccessQuery } from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { answers, CALLER_ERRORS } from './responses.js'

export const accessRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/v1/access', {
    config: { scope: 'memory' },
    schema: {
      operationId: 'getAccess',
      tags: ['identity'],
      summary: 'List the permissions of the caller on each bank',
      description: 'Returns the banks that the caller may read, each with the permissions of the caller and the ' +
        'grant or policy that gives each of them.',
      querystring: AccessQuery,
      response: answers({ 200: AccessAnswer }, CALLER_ERRORS),
    },
  }, async ({ query, context }, reply) => (
    await app.memory.accessReport.ofCaller(query, context, disconnectSignal(reply))
  ))
}
