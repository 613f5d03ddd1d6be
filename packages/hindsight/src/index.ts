import type { FastifyInstance } from 'fastify'
import { bankRoutes } from './banks.js'
import { documentRoutes } from './documents.js'
import { setRules, type HindsightOptions } from './gateway.js'
import { memoryRoutes } from './memories.js'
import { unsupportedRoutes } from './unsupported.js'
import { version } from './version.js'

export type { HindsightOptions } from './gateway.js'

/**
 * A Fastify plugin: the API that Hindsight's TypeScript client (0.9.1) speaks, on the operations of a Memory Gateway.
 * docs/moving-from-hindsight.md tells how each call is mapped.
 */
export default async function hindsight (app: FastifyInstance, options: HindsightOptions): Promise<void> {
  await app.register(async (scope) => {
    setRules(scope)
    scope.get('/version', async () => version)
    memoryRoutes(scope, options)
    documentRoutes(scope, options)
    bankRoutes(scope, options)
    unsupportedRoutes(scope)
  })
}
