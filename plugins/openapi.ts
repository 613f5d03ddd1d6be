import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { errorSchema } from '../http/error-schema.js'
import type { AuthMode } from '../lib/config/config.js'
import { ERROR_CODES, type ErrorCode } from '../lib/errors/service-error.js'
import type { RouteScope } from './route-scopes.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document as JSON. It is made at the first call, which must come after the gateway is ready. */
    openApiDocument: () => Buffer
  }
}

type Security = Array<Record<string, string[]>>

/** The credentials of the memory scope in each auth mode. */
const CALLER_SECURITY: Record<AuthMode | 'host', Security> = {
  dev: [{}, { principal: [] }],
  api_key: [{ apiKey: [], principal: [] }],
  jwt_hs256: [{ bearer: [] }],
  jwt_oidc: [{ bearer: [] }],
  // The app that the gateway is part of decides, and the gateway does not know how.
  host: [],
}

function securityOf (scope: RouteScope, mode: AuthMode | 'host'): Security {
  switch (scope) {
    case 'memory': return CALLER_SECURITY[mode]
    case 'admin': return [{ adminToken: [] }]
    case 'source': return [{ sourceSignature: [] }, {}]
    case 'public': return []
  }
}

export interface OpenApiOptions {
  mode: AuthMode | 'host'
  version: string
}

/** Serves /openapi.json, which is made from the schemas of the routes, and its pages at /docs. */
async function openapi (app: FastifyInstance, { mode, version }: OpenApiOptions): Promise<void> {
  app.links.push(
    { name: 'openapi', path: '/openapi.json', title: 'the API as an OpenAPI document' },
    { name: 'docs', path: '/docs', title: 'the same to read and to try out' },
  )
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      // The paths are those of the contract; the prefix of a gateway that is part of another app is in the URL.
      servers: [{ url: app.prefix === '' ? '/' : app.prefix }],
      info: {
        title: 'Memory Gateway',
        description: 'Memory service for AI agents: retain, recall, reflect and forget memories in named banks.',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [
        { name: 'memory', description: 'The four operations.' },
        { name: 'banks', description: 'Banks, their memories and their configuration.' },
        { name: 'transfer', description: 'Export and import.' },
        { name: 'identity', description: 'The identity of the caller.' },
        { name: 'admin', description: 'For operators; guarded by the admin token, not by the auth mode.' },
        { name: 'sources', description: 'Webhooks; guarded by each source\'s signature.' },
        { name: 'health', description: 'Probes.' },
      ],
      components: {
        // Each route lists its own codes. This schema has all of them, also those of no route (404, 405).
        schemas: { Error: errorSchema(Object.keys(ERROR_CODES) as ErrorCode[]) },
        securitySchemes: {
          principal: { type: 'apiKey', in: 'header', name: 'X-Service-Principal', description: 'dev and api_key mode: the principal of the caller, `<type>:<id>`.' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'api_key mode: the shared secret.' },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'jwt_hs256 and jwt_oidc mode.' },
          adminToken: { type: 'apiKey', in: 'header', name: 'X-Admin-Token', description: 'Required when the server has an admin token.' },
          sourceSignature: { type: 'apiKey', in: 'header', name: 'X-Signature-256', description: 'HMAC-SHA256 of the raw body; the configuration of a source may name another header, or require no signature.' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: { ...schema, security: securityOf(route.config?.scope ?? 'public', mode) },
      url,
    }),
  })
  // The document does not change, so all responses share one buffer.
  let document: Buffer | undefined
  app.decorate('openApiDocument', () => (document ??= Buffer.from(JSON.stringify(app.swagger()))))
  app.get('/openapi.json', { config: { scope: 'public' }, schema: { hide: true } }, async (_request, reply) => (
    await reply.type('application/json; charset=utf-8').send(app.openApiDocument())
  ))
  await app.register(async (scope) => {
    // The documentation's own routes come from a package; they are public like the document.
    scope.addHook('onRoute', (route) => { route.config = { ...route.config, scope: 'public', anyMethod: true } })
    await scope.register(swaggerUi, { routePrefix: '/docs' })
  })
}

export default fp(openapi, { name: 'openapi', fastify: '5.x', dependencies: ['route-scopes', 'links'] })
