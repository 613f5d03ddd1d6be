import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { AuthMode } from '../lib/config/config.js'
import { invalidField } from '../lib/base/service-error.js'
import {
  AccessAnswer, AccessCheckRequest, AccessDecision, AccessRulesAnswer, AdminAccessQuery,
} from '../lib/operations/schemas.js'
import { answers, BODY_ERRORS, ROUTE_ERRORS } from './responses.js'

const config = { scope: 'admin' } as const
const errors = [
  'invalid_request', 'unauthenticated', 'internal_error', 'dependency_unavailable', ...ROUTE_ERRORS,
] as const

export const adminAccessRoutes: FastifyPluginAsyncTypebox<{ mode: AuthMode | 'host' }> = async (app, { mode }) => {
  /** A request of nobody is refused in the other modes, so "allowed" would be a false answer. */
  const requirePrincipal = (principal: string | undefined) => {
    if (principal !== undefined || mode === 'dev') return
    const where = mode === 'host' ? 'where an app authenticates the callers' : `in SERVICE_AUTH_MODE ${mode}`
    throw invalidField('principal', `is required, because no caller is anonymous ${where}`)
  }

  app.get('/v1/admin/access', {
    config,
    schema: {
      operationId: 'adminGetAccess',
      tags: ['admin'],
      summary: 'List the permissions of a principal on each bank',
      description: 'Returns every bank of the tenant, each with the permissions of the principal and the grant or ' +
        'policy that gives each of them.',
      querystring: AdminAccessQuery,
      response: answers({ 200: AccessAnswer }, errors),
    },
  }, async ({ query }) => {
    requirePrincipal(query.principal)
    return await app.memory.accessOf(query)
  })

  app.get('/v1/admin/access/rules', {
    config,
    schema: {
      operationId: 'adminGetAccessRules',
      tags: ['admin'],
      summary: 'Get the rules of access control in the configuration file',
      response: answers({ 200: AccessRulesAnswer }, errors),
    },
  }, async () => app.memory.accessRules())

  app.post('/v1/admin/access/check', {
    config: { ...config, repeatable: true },
    schema: {
      operationId: 'adminCheckAccess',
      tags: ['admin'],
      summary: 'Check whether a principal has a permission, and why',
      description: 'Makes the same decision as for a request of that principal. Changes nothing and does not count ' +
        'as a refusal.',
      body: AccessCheckRequest,
      response: answers({ 200: AccessDecision }, BODY_ERRORS, errors),
    },
  }, async ({ body }) => {
    requirePrincipal(body.principal)
    return await app.memory.decideAccess(body)
  })
}
