import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Permission } from '../lib/access/access-control.js'

/**
 * What guards a route. `memory`: the auth mode. `admin`: the admin token. `source`: the signature of a webhook source.
 * `public`: nothing.
 */
export type Ring = 'memory' | 'admin' | 'source' | 'public'

const RING: unique symbol = Symbol('ring')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The ring that the route means to be in; boot fails when its scope is another. */
    ring?: Ring
    /** The permission that the route's operation asks for on its bank; the memory service enforces it. */
    permission?: Permission
  }
  interface FastifyInstance {
    /** Every route in the order of registration, for the OpenAPI document, the 405 answers and tests. */
    routeTable: readonly RouteOptions[]
    [RING]: Ring
  }
}

/** Makes a scope and all scopes below it part of a ring. The guard of the ring is registered in the same scope. */
export function enterRing (scope: FastifyInstance, ring: Ring): void {
  scope[RING] = ring
}

/** Refuses to boot with a route that does not say who may call it, or that says one thing and sits in another. */
async function rings (app: FastifyInstance): Promise<void> {
  const table: RouteOptions[] = []
  const scopes = new Map<RouteOptions, Ring>()
  enterRing(app, 'public')
  app.decorate('routeTable', table)
  app.addHook('onRoute', function (route) {
    table.push(route)
    scopes.set(route, this[RING])
  })
  app.addHook('onReady', async () => {
    for (const [route, ring] of scopes) {
      const meant = route.config?.ring
      if (meant === ring) continue
      const name = `${String(route.method)} ${route.url}`
      throw new Error(meant === undefined ? `${name} does not say its ring` : `${name} means to be in the ring ${meant} and sits in ${ring}`)
    }
  })
}

export default fp(rings, { name: 'rings', fastify: '5.x' })
