import type { FastifyInstance } from 'fastify'
import { bankRoutes } from './banks.js'
import { documentRoutes } from './documents.js'
import { listRoutes } from './list.js'
import { recallRoutes } from './recall.js'
import { reflectRoutes } from './reflect.js'
import { retainRoutes } from './retain.js'
import type { HindsightOptions } from './route.js'
import { unsupportedRoutes } from './unsupported.js'

export { versionRoute } from './version.js'

/**
 * The API that Hindsight's TypeScript client (0.9.1) speaks, on the same service as the gateway's own. Registered in
 * the memory scope. docs/moving-from-hindsight.md tells how each call is mapped.
 */
export async function hindsightRoutes (app: FastifyInstance, options: HindsightOptions): Promise<void> {
  for (const routes of [
    retainRoutes, recallRoutes, reflectRoutes, listRoutes, bankRoutes, documentRoutes, unsupportedRoutes,
  ]) await app.register(routes, options)
}
