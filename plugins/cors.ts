import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route exists for preflights only; other requests get the answer of the path without it. */
    takesPreflights?: boolean
    /** False: no script of another origin may read its answers. Default: those of the listed origins may. */
    cors?: false
  }
}

/** The request headers of the routes except the admin token: pages of other origins must not call admin routes. */
const ALLOWED_HEADERS = [
  'Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID',
  'Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id', 'Traceparent', 'Tracestate', 'X-Api-Key',
  'X-Request-Id', 'X-Service-On-Behalf-Of', 'X-Service-Principal',
]

/** The response headers that scripts may read besides those that CORS always allows. */
const EXPOSED_HEADERS = [
  'Allow', 'Content-Disposition', 'ETag', 'Idempotent-Replayed', 'Mcp-Session-Id', 'RateLimit', 'RateLimit-Policy',
  'Retry-After', 'WWW-Authenticate', 'X-Request-Id',
]

/** Seconds for which a browser may cache the answer to a preflight. */
const MAX_AGE_S = 600

/**
 * Lets scripts of the listed origins call all routes but those of the admin scope. The gateway uses no cookies, so
 * `Access-Control-Allow-Credentials` is never sent. Preflights carry no credentials, so they are answered before
 * authentication; a preflight of another origin is answered like any request of its method.
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
    // @fastify/cors adds this route, but its hook answers before the handler of the route is called.
    else if (route.url === '*') route.config = { scope: 'public', anyMethod: true, takesPreflights: true }
  })
  await app.register(cors, {
    delegator: ({ headers, url }, done) => {
      if (headers.origin === undefined || !listed.has(headers.origin) || isForOperators(url)) done(null, refused)
      else done(null, headers['access-control-request-method'] === undefined ? notPreflight : allowed)
    },
  })
}

/** Whether a path, percent-encoded or not, is in the admin scope: a preflight does not reach the route itself. */
function isForOperators (url: string): boolean {
  try {
    return /^\/(v1\/admin|metrics)(\/|$)/.test(decodeURIComponent(url.split('?', 1)[0]!))
  } catch {
    return true
  }
}

export default fp(corsPlugin, { name: 'cors', fastify: '5.x', dependencies: ['errors', 'route-scopes'] })
