import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { decodedPath } from '../http/decoded-path.js'
import { HttpError } from '../http/error-responses.js'
import { ServiceError } from '../lib/base/service-error.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers 404 and not 405 for other methods of the path. */
    anyMethod?: boolean
  }
}

/**
 * Answers 404 for a path that does not exist, and 405 with `Allow` for one that exists with other methods. Both are
 * decided before the body is read.
 */
async function notFound (app: FastifyInstance): Promise<void> {
  let paths: Array<{ pattern: RegExp, allow: string }> = []
  app.addHook('onReady', async () => { paths = compile(app) })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404 && request.routeOptions.config.takesPreflights !== true) {
      done()
      return
    }
    const path = decodedPath(request.url.split('?', 1)[0]!)
    const allow = paths.find(({ pattern }) => pattern.test(path))?.allow
    done(allow === undefined
      ? new ServiceError('not_found', 'No such route')
      : new HttpError('method_not_allowed', 'Method not allowed', { allow }))
  })
}

/** The registered paths with their methods; literal paths come first, as in the router. */
function compile ({ routeTable }: FastifyInstance): Array<{ pattern: RegExp, allow: string }> {
  const methods = new Map<string, Set<string>>()
  for (const { method, url, config } of routeTable) {
    if (config?.anyMethod === true) continue
    const known = methods.get(url) ?? new Set()
    for (const name of [method].flat()) known.add(name)
    methods.set(url, known)
  }
  return [...methods]
    .sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')))
    .map(([url, names]) => ({
      pattern: new RegExp(`^${url.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`),
      allow: [...names].sort().join(', '),
    }))
}

export default fp(notFound, { name: 'not-found', fastify: '5.x', dependencies: ['errors', 'route-scopes'] })
