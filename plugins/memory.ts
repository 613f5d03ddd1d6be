import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../lib/config/config.js'
import { createMemoryService, type MemoryOverrides, type MemoryService } from '../lib/operations/memory-service.js'
import { registerMemoryMetrics } from './metrics/memory-metrics.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The memory service. */
    memory: MemoryService
  }
}

interface MemoryOptions {
  config: Config
  overrides: MemoryOverrides
}

async function memory (app: FastifyInstance, { config, overrides }: MemoryOptions): Promise<void> {
  const service = await createMemoryService(config, app.access, {
    warn: (message) => { app.log.warn(message) },
    info: (message) => { app.log.info(message) },
    telemetry: app.metrics.telemetry,
    ...overrides,
  })
  registerMemoryMetrics(app.metrics.collected, () => service.status())
  app.decorate('memory', service)
  // Fastify runs this hook when every request has ended.
  app.addHook('onClose', async () => { await service.close() })
}

export default fp(memory, { name: 'memory', fastify: '5.x', dependencies: ['errors', 'access-control', 'metrics'] })
