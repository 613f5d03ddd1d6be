import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AccessAnswer, AccessQuery, WhoamiAnswer, WhoamiQuery } from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { answers, CALLER_ERRORS } from './responses.js'

export const identityRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/v1/whoami', {
    config: { scope: 'memory' },
    schema: {
      operationId: 'whoami',
      tags: ['identity'],
      summary: 'Get the identity of the caller, as the service sees it',
      description: 'With `?bank_id=`, also returns the permissions of the caller on that bank and the grant or ' +
        'policy that gives each of them.',
      querystring: WhoamiQuery,
      response: answers({ 200: WhoamiAnswer }, CALLER_ERRORS),
    },
  }, async ({ context, query }) => ({
    principal: context.principal ?? null,
    actor: context.actor ?? null,
    tenant_id: context.tenantId,
    on_behalf_of: context.onBehalfOf ?? null,
    permissions: query.bank_id === undefined
      ? undefined
      : await app.memory.accessReport.onBank(query.bank_id, context),
  }))

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
    await app.memory.accessReport.ofCaller(query, context, { signal: disconnectSignal(reply) })
  ))
}
