import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { ErrorSchema } from '../http/error-schema.js'
import type { AuthMode } from '../lib/config/config.js'
import { forEveryMode, forGenerators } from './openapi/document.js'
import { securityOf, securitySchemesOf } from './openapi/security.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document as JSON. It is made at the first call, which must come after the gateway is ready. */
    openApiDocument: () => Buffer
    /** The same with the credentials of every auth mode, as stored in openapi.json. */
    openApiDocumentOfEveryMode: () => object
  }
}

const SERVERS = [
  { url: '/', description: 'The server that serves this document.' },
  { url: 'http://127.0.0.1:8080', description: 'A gateway on this machine, with default settings.' },
]

interface OpenApiOptions {
  mode: AuthMode | 'host'
  version: string
}

/** Whether a POST changes nothing, so that clients may send it again after a lost connection. */
function isRepeatable ({ method, config }: RouteOptions): boolean {
  return method === 'POST' && (config?.permission === 'read' || config?.repeatable === true)
}

/** Serves /openapi.json, which is made from the schemas of the routes, and its pages at /docs. */
async function openapi (app: FastifyInstance, { mode, version }: OpenApiOptions): Promise<void> {
  app.links.push(
    { name: 'openapi', path: '/openapi.json', title: 'The API as an OpenAPI document' },
    { name: 'docs', path: '/docs', title: 'Documentation of the API, to read and to try' },
  )
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Memory Gateway',
        description: 'Memory service for AI agents: retain, recall, reflect and forget memories in named banks.',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      // The paths are those of the contract; the prefix of a gateway that is part of another app is in the URL.
      servers: app.prefix === '' ? SERVERS : [{ url: app.prefix }],
      tags: [
        { name: 'memory', description: 'The four operations.' },
        { name: 'banks', description: 'Banks, their memories and their configuration.' },
        { name: 'transfer', description: 'Export and import.' },
        { name: 'identity', description: 'The identity of the caller.' },
        { name: 'admin', description: 'For operators; guarded by the admin token, not by the auth mode.' },
        { name: 'sources', description: 'Webhooks; guarded by each source\'s signature.' },
        { name: 'health', description: 'Probes.' },
      ],
      components: { schemas: { Error: ErrorSchema }, securitySchemes: securitySchemesOf(mode) },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...schema,
        security: securityOf(route.config?.scope ?? 'public', mode),
        ...(isRepeatable(route) && { 'x-repeatable': true }),
      },
      url,
    }),
    transformObject: (made) => 'openapiObject' in made ? forGenerators(made.openapiObject) : made.swaggerObject,
  })
  // The document does not change, so all responses share one buffer.
  let document: Buffer | undefined
  app.decorate('openApiDocument', () => (document ??= Buffer.from(JSON.stringify(app.swagger()))))
  app.decorate('openApiDocumentOfEveryMode', () => forEveryMode(app.swagger(), mode))
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
