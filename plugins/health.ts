import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Type } from 'typebox'
import { ServiceError } from '../lib/errors.js'
import { answers } from '../routes/responses.js'

const Alive = Type.Object({ status: Type.Literal('ok') })
const Ready = Type.Object({
  status: Type.Literal('ok'),
  checks: Type.Object({ vector_store: Type.Object({ status: Type.Literal('ok'), latency_ms: Type.Number() }) }),
})

const REASONS = { unhealthy: 'reports itself unhealthy', error: 'failed', timeout: 'did not answer in time' }

/** Liveness touches no backend; readiness asks the store and waits no longer than `timeoutMs`. */
async function health (app: FastifyInstance, { timeoutMs }: { timeoutMs: number }): Promise<void> {
  const config = { ring: 'public', accessLog: 'debug' } as const
  for (const [url, operationId] of [['/live', 'live'], ['/health/live', 'healthLive']] as const) {
    app.get(url, {
      config: { ...config, watched: false },
      schema: { operationId, tags: ['health'], summary: 'Whether the process is up', response: answers({ 200: Alive }, ['shutting_down']) },
    }, async () => ({ status: 'ok' }))
  }
  app.get('/health', {
    config,
    schema: { operationId: 'health', tags: ['health'], summary: 'Whether the service is ready for requests', response: answers({ 200: Ready }, ['dependency_unavailable', 'shutting_down']) },
  }, async () => {
    const check = await app.memory.health.check(timeoutMs)
    if (check.status === 'failed') throw new ServiceError('dependency_unavailable', `Not ready: vector_store ${REASONS[check.reason]}`, { cause: check.cause })
    return { status: 'ok', checks: { vector_store: { status: 'ok', latency_ms: Math.round(check.latencyMs * 1000) / 1000 } } }
  })
}

export default fp(health, { name: 'health', fastify: '5.x', dependencies: ['errors', 'memory', 'rings'], decorators: { fastify: ['memory'] } })
