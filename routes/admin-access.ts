import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  AccessAnswer, AccessCheckRequest, AccessDecision, AccessRulesAnswer, AdminAccessQuery,
} from '../lib/memory/schemas.js'
import { answers, BODY_ERRORS, ROUTE_ERRORS } from './responses.js'

const config = { scope: 'admin' } as const
const errors = ['invalid_request', 'unauthenticated', 'internal_error', 'dependency_unavailable', ...ROUTE_ERRORS] as const

export const adminAccessRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { accessReport } = app.memory

  app.get('/v1/admin/access', {
    config,
    schema: {
      operationId: 'adminGetAccess',
      tags: ['admin'],
      summary: 'What a principal may do, bank by bank',
      description: 'Every bank of the tenant, each with the permissions of the principal and the grant or policy that each comes from.',
      querystring: AdminAccessQuery,
      response: answers({ 200: AccessAnswer }, errors),
    },
  }, async ({ query }) => await accessReport.ofAnyone(query))

  app.get('/v1/admin/access/rules', {
    config,
    schema: {
      operationId: 'adminGetAccessRules',
      tags: ['admin'],
      summary: 'The rules of access control in the configuration file',
      response: answers({ 200: AccessRulesAnswer }, errors),
    },
  }, async () => accessReport.rules())

  app.post('/v1/admin/access/check', {
    config,
    schema: {
      operationId: 'adminCheckAccess',
      tags: ['admin'],
      summary: 'Whether a principal may do something, and why',
      description: 'Decides as for a request of that principal. It changes nothing and counts as no refusal.',
      body: AccessCheckRequest,
      response: answers({ 200: AccessDecision }, BODY_ERRORS, errors),
    },
  }, async ({ body }) => await accessReport.check(body))
}
