import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is there to take preflights: any other request for it gets the answer of the path. */
    takesPreflights?: boolean
    /** False: no script of another origin may read its answers. Default: those of the listed origins may. */
    cors?: false
  }
}

/** What the routes read but the admin token: no page of another origin may administer the gateway. */
const ALLOWED_HEADERS = [
  'Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'Last-Event-ID', 'Mcp-Protocol-Version',
  'Mcp-Session-Id', 'Traceparent', 'Tracestate', 'X-Api-Key', 'X-Request-Id', 'X-Service-On-Behalf-Of',
  'X-Service-Principal',
]

/** What the routes answer beside the headers that every script may read. */
const EXPOSED_HEADERS = [
  'Allow', 'Content-Disposition', 'ETag', 'Idempotent-Replayed', 'Mcp-Session-Id', 'Retry-After', 'WWW-Authenticate',
  'X-Request-Id',
]

/** Seconds that a browser may keep the answer to a preflight. */
const MAX_AGE_S = 600

/**
 * Lets scripts of listed web pages call the gateway from their own origin, all but its admin scope. The gateway knows
 * no cookies, so `Access-Control-Allow-Credentials` is never sent. Preflights, which have no credentials, are answered
 * before authentication; one of another origin is answered as any request of its method.
 */
async function corsPlugin (app: FastifyInstance, { origins }: { origins: readonly string[] }): Promise<void> {
  const listed = new Set(origins)
  const allowed: FastifyCorsOptions = {
    origin: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE_S,
    credentials: false,
  }
  const notPreflight = { ...allowed, preflight: false }
  const refused = { origin: false }
  app.addHook('onRoute', (route) => {
    if (route.config?.scope === 'admin') route.config = { ...route.config, cors: false }
    // The package adds this route; its hook has answered before the route's handler would be called.
    else if (route.url === '*') route.config = { scope: 'public', anyMethod: true, takesPreflights: true }
  })
  await app.register(cors, {
    delegator: ({ headers, url }, done) => {
      if (headers.origin === undefined || !listed.has(headers.origin) || isForOperators(url)) done(null, refused)
      else done(null, headers['access-control-request-method'] === undefined ? notPreflight : allowed)
    },
  })
}

/** Whether a path, in whatever spelling, is one of the admin scope: a preflight does not reach the route itself. */
function isForOperators (url: string): boolean {
  try {
    return /^\/(v1\/admin|metrics)(\/|$)/.test(decodeURIComponent(url.split('?', 1)[0]!))
  } catch {
    return true
  }
}

export default fp(corsPlugin, { name: 'cors', fastify: '5.x', dependencies: ['errors', 'route-scopes'] })
