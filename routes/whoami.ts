import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { WhoamiAnswer, WhoamiQuery } from '../lib/memory/schemas.js'
import { answers, CALLER_ERRORS } from './responses.js'

export const whoamiRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/v1/whoami', {
    config: { scope: 'memory' },
    schema: {
      operationId: 'whoami',
      tags: ['identity'],
      summary: 'Who the service takes the caller for',
      description: 'With ?bank_id=, also what the caller may do on that bank and which grant or policy says so.',
      querystring: WhoamiQuery,
      response: answers({ 200: WhoamiAnswer }, CALLER_ERRORS),
    },
  }, async ({ context, query }) => ({
    principal: context.principal ?? null,
    actor: context.actor ?? null,
    tenant_id: context.tenantId,
    on_behalf_of: context.onBehalfOf ?? null,
    ...(query.bank_id !== undefined && { permissions: await app.memory.banks.permissions(query.bank_id, context) }),
  }))
}
