import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ServiceError } from '../lib/base/service-error.js'
import type { WebhookSources } from '../lib/operations/webhook-sources.js'
import type { BankKey } from '../lib/access/context.js'
import { AdminBanksAnswer, AdminBanksQuery, BankConfigAnswer, BankId, TenantId } from '../lib/operations/schemas.js'
import { answers, BODY_ERRORS, ROUTE_ERRORS } from './responses.js'

const config = { scope: 'admin' } as const
const BankParams = Type.Object({ bank_id: BankId })
const errors = [
  'invalid_request', 'unauthenticated', 'internal_error', 'dependency_unavailable', ...ROUTE_ERRORS,
] as const

const JSON_MEDIA_TYPE = /^\s*application\/json\s*(?:;|$)/i
const ReloadRequest = Type.Object({}, {
  additionalProperties: false, title: 'ReloadRequest', description: 'Nothing.', examples: [{}],
})

const SourcesAnswer = Type.Object({
  sources: Type.Array(Type.Object({
    id: Type.String(),
    type: Type.Literal('webhook'),
    target_bank: Type.String(),
    healthy: Type.Boolean({ description: 'False after an event that was not retained, until the next one that is.' }),
    message: Type.String(),
    last_event_at: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    accepted: Type.Integer({ description: 'Events retained since the start.' }),
    rejected: Type.Integer({ description: 'Events refused since the start, bad signatures included.' }),
  }, { title: 'Source', description: 'A webhook source and its state.' })),
}, {
  title: 'SourcesAnswer',
  description: 'The webhook sources.',
  examples: [{
    sources: [{
      id: 'shop',
      type: 'webhook',
      target_bank: 'orders',
      healthy: true,
      message: 'ok',
      last_event_at: '2026-01-05T09:30:00.000Z',
      accepted: 17,
      rejected: 0,
    }],
  }],
})

const OperatorQuery = Type.Object({
  tenant_id: Type.Optional(TenantId('Tenant of the bank. Absent: the bank of callers without a tenant.')),
}, { additionalProperties: false })
const ReloadAnswer = Type.Object({
  changed: Type.Array(Type.String(), {
    description: 'Paths in the configuration file that were changed and are now in force.',
  }),
}, { title: 'ReloadAnswer', description: 'The changes that were applied.', examples: [{ changed: ['homeostasis'] }] })

export const adminRoutes: FastifyPluginAsyncTypebox<{ sources: WebhookSources }> = async (app, { sources }) => {
  app.get('/v1/admin/sources', {
    config,
    schema: {
      operationId: 'listSources',
      tags: ['admin'],
      summary: 'List the webhook sources and their state',
      response: answers({ 200: SourcesAnswer }, errors),
    },
  }, async () => ({ sources: sources.report() }))

  app.get('/v1/admin/banks', {
    config,
    schema: {
      operationId: 'adminListBanks',
      tags: ['admin'],
      summary: 'List the banks of all tenants',
      querystring: AdminBanksQuery,
      response: answers({ 200: AdminBanksAnswer }, errors),
    },
  }, async ({ query }) => await app.memory.listAllBanks(tenantOf(query)))

  app.get('/v1/admin/banks/:bank_id', {
    config,
    schema: {
      operationId: 'adminGetBank',
      tags: ['admin'],
      summary: 'List the banks with an id, one entry for each tenant',
      params: BankParams,
      querystring: AdminBanksQuery,
      response: answers({ 200: AdminBanksAnswer }, errors, ['not_found']),
    },
  }, async ({ params, query }) => await app.memory.listAllBanks({ ...tenantOf(query), bankId: params.bank_id }))

  app.get('/v1/admin/banks/:bank_id/config', {
    config,
    schema: {
      operationId: 'adminGetBankConfig',
      tags: ['admin'],
      summary: 'Get the configuration of a bank, as its admins see it',
      params: BankParams,
      querystring: OperatorQuery,
      response: answers({ 200: BankConfigAnswer }, errors),
    },
  }, async ({ params, query }) => await app.memory.inspectBankConfig(keyOf(params, query)))

  app.delete('/v1/admin/banks/:bank_id/config', {
    config,
    schema: {
      operationId: 'adminResetBankConfig',
      tags: ['admin'],
      summary: 'Reset the configuration that the admins of a bank have set',
      description: 'Also removes the grants in that configuration.',
      params: BankParams,
      querystring: OperatorQuery,
      response: answers({ 200: BankConfigAnswer }, errors, ['not_supported']),
    },
  }, async ({ params, query }) => await app.memory.revokeBankConfig(keyOf(params, query)))

  app.post('/v1/admin/reload', {
    config,
    onRequest: requireJson,
    schema: {
      operationId: 'reloadConfiguration',
      tags: ['admin'],
      summary: 'Apply a changed configuration file',
      description: 'Applies all changes or none, as SIGHUP does: a file with a problem, or with a change that needs ' +
        'a restart, changes nothing. The body is an empty JSON object.',
      body: ReloadRequest,
      response: answers({ 200: ReloadAnswer }, errors, BODY_ERRORS, [
        'configuration_invalid', 'restart_required', 'not_supported',
      ]),
    },
  }, async () => app.reloadConfiguration())
}

/**
 * Browsers send a request of any page without asking the server first, unless it has such a media type. Where no admin
 * token is set, every page could otherwise reload the configuration of a gateway on the machine of its reader.
 */
async function requireJson ({ headers }: FastifyRequest): Promise<void> {
  if (JSON_MEDIA_TYPE.test(headers['content-type'] ?? '')) return
  throw new ServiceError('unsupported_media_type', 'Content-Type must be application/json: send the body {}')
}

function keyOf (params: { bank_id: string }, query: { tenant_id?: string }): BankKey {
  return { tenantId: query.tenant_id ?? null, bankId: params.bank_id }
}

function tenantOf (query: AdminBanksQuery): { tenantId?: string } {
  return query.tenant_id === undefined ? {} : { tenantId: query.tenant_id }
}
