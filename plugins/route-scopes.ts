import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Permission } from '../lib/access/access-control.js'

/**
 * What guards a route. `memory`: the auth mode. `admin`: the admin token. `source`: the signature of a webhook source.
 * `public`: nothing.
 */
export type RouteScope = 'memory' | 'admin' | 'source' | 'public'

const ROUTE_SCOPE: unique symbol = Symbol('route scope')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that the route declares; boot fails when it is registered in another. */
    scope?: RouteScope
    /**
     * The permission that the operation needs on its bank, checked before the body is read; the memory service checks
     * it again. `read` also marks a route whose answer may be refused for lack of memory, because the request can be
     * repeated.
     */
    permission?: Permission | undefined
    /** Whether a POST without `permission: 'read'` changes nothing either; the document says so to clients. */
    repeatable?: boolean
  }
  interface FastifyInstance {
    /** Every route in the order of registration, for the OpenAPI document, the 405 answers and tests. */
    routeTable: readonly RouteOptions[]
    [ROUTE_SCOPE]: RouteScope
  }
}

/**
 * Sets the scope of the routes of an instance and of its child instances. The plugin that guards the scope is
 * registered in the same instance.
 */
export function setRouteScope (app: FastifyInstance, scope: RouteScope): void {
  app[ROUTE_SCOPE] = scope
}

/** Refuses to boot with a route that declares no scope, or another scope than the one it is registered in. */
async function routeScopes (app: FastifyInstance): Promise<void> {
  const table: RouteOptions[] = []
  const scopes = new Map<RouteOptions, RouteScope>()
  setRouteScope(app, 'public')
  app.decorate('routeTable', table)
  app.addHook('onRoute', function (route) {
    table.push(route)
    scopes.set(route, this[ROUTE_SCOPE])
  })
  app.addHook('onReady', async () => {
    for (const [route, scope] of scopes) {
      const declared = route.config?.scope
      if (declared === scope) continue
      const name = `${String(route.method)} ${route.url}`
      throw new Error(declared === undefined
        ? `${name} does not say its scope`
        : `${name} means to be in the scope ${declared} and sits in ${scope}`)
    }
  })
}

export default fp(routeScopes, { name: 'route-scopes', fastify: '5.x' })
