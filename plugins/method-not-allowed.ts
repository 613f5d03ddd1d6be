import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Leaves a path's other methods to the 404 answer. */
    anyMethod?: boolean
  }
}

/** Answers 405 with `Allow` where a path exists with other methods. Registered last, when all routes are known. */
async function methodNotAllowed (app: FastifyInstance): Promise<void> {
  const allowed = new Map<string, Set<string>>()
  for (const { method, url, config } of app.routeTable) {
    // The documentation's files are a package's own affair.
    if (config?.anyMethod === true) continue
    const methods = allowed.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  }
  for (const [url, methods] of allowed) {
    const allow = [...methods].sort().join(', ')
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      config: { ring: 'public' },
      schema: { hide: true },
      // Before the body is read: what is in it does not matter.
      onRequest: async () => { throw new ServiceError('method_not_allowed', 'Method not allowed', { headers: { allow } }) },
      handler: async () => undefined,
    })
  }
}

export default fp(methodNotAllowed, { name: 'method-not-allowed', fastify: '5.x', dependencies: ['errors', 'rings'] })
