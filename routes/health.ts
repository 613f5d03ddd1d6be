import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { AuthConfig } from '../lib/config/config.js'
import { ServiceError } from '../lib/base/service-error.js'
import { MODEL_CONDITIONS } from '../lib/models/health.js'
import { roundedMs } from '../lib/base/rounded-ms.js'
import { answers, PROBE_ERRORS } from './responses.js'
import { missingVariables } from '../http/missing-auth-variables.js'

const Alive = Type.Object({ status: Type.Literal('ok') }, {
  title: 'LiveAnswer', description: 'The process is up.', examples: [{ status: 'ok' }],
})

export const ModelConditionField = Type.Enum([...MODEL_CONDITIONS], {
  title: 'ModelCondition',
  description: '`ok`: the last call was answered. `degraded`: the last call failed, or calls resume after a series ' +
    'of failures. `failing`: so many calls failed in a row that the model counts as down. `unknown`: no call has ' +
    'been made yet.',
})

const Model = (what: string) => Type.Object({
  status: ModelConditionField,
}, {
  title: 'ModelHealth',
  description: `${what}: its condition in the latest calls. This request calls no model. The condition does not ` +
    'affect readiness.',
})

const Ready = Type.Object({
  status: Type.Literal('ok', { description: 'The service is ready: the vector store answers.' }),
  checks: Type.Object({
    vector_store: Type.Object({
      status: Type.Literal('ok'),
      latency_ms: Type.Number({ description: 'Response time in milliseconds.' }),
    }),
    embedding: Model('The embedding provider'),
    language_model: Model('The language model'),
    reranker: Type.Optional(Model('The reranker, when there is one')),
    limits_store: Type.Optional(Type.Object({
      status: Type.Enum(['ok', 'degraded'], {
        description: '`degraded`: it is down, and each process counts rate limits for itself.',
      }),
    }, { title: 'LimitsStoreHealth', description: 'The place of rate limits, when it is a Valkey or Redis.' })),
    auth: Type.Optional(Type.Object({
      status: Type.Literal('misconfigured'),
      missing: Type.Array(Type.String(), {
        description: 'Environment variables that SERVICE_AUTH_MODE requires and that are not set.',
      }),
    }, {
      title: 'AuthHealth',
      description: 'Present only while every request to the memory routes is answered with 500 because of the ' +
        'configuration.',
    })),
  }),
}, {
  title: 'HealthAnswer',
  description: 'The service is ready.',
  examples: [{
    status: 'ok',
    checks: {
      vector_store: { status: 'ok', latency_ms: 0.2 },
      embedding: { status: 'ok' },
      language_model: { status: 'unknown' },
    },
  }],
})

const REASONS = { unhealthy: 'reports itself unhealthy', error: 'failed', timeout: 'did not answer in time' }

/**
 * Liveness uses no backend. Readiness depends on the store, whose answer it awaits for at most `timeoutMs`, and on a
 * limits_store without which operations are refused.
 */
export async function healthRoutes (
  app: FastifyInstance, { timeoutMs, auth }: { timeoutMs: number, auth: AuthConfig },
): Promise<void> {
  app.links.unshift({ name: 'health', path: '/health', title: 'Health: whether the server is ready' })
  const missing = missingVariables(auth)
  const config = { scope: 'public', accessLog: 'debug', probe: true } as const
  for (const [url, operationId] of [['/live', 'live'], ['/health/live', 'healthLive']] as const) {
    app.get(url, {
      config: { ...config, watched: false },
      schema: {
        operationId,
        tags: ['health'],
        summary: 'Check whether the process is up',
        response: answers({ 200: Alive }, PROBE_ERRORS),
      },
    }, async () => ({ status: 'ok' }))
  }
  app.get('/health', {
    config,
    schema: {
      operationId: 'health',
      tags: ['health'],
      summary: 'Check whether the service is ready for requests',
      response: answers({ 200: Ready }, PROBE_ERRORS, ['dependency_unavailable']),
    },
  }, async () => {
    if (app.shutdown.isDraining) throw new ServiceError('shutting_down', 'Not ready: the server is stopping')
    const check = await app.memory.checkHealth(timeoutMs)
    if (check.status === 'failed') {
      const detail = `Not ready: vector_store ${REASONS[check.reason]}`
      throw new ServiceError('dependency_unavailable', detail, { cause: check.cause })
    }
    const limitsStore = app.memory.rateCounts()
    if (limitsStore?.isUp === false && limitsStore.refuses) {
      throw new ServiceError('dependency_unavailable', 'Not ready: limits_store cannot be reached')
    }
    const { embedding, language_model: languageModel, reranker } = app.memory.modelConditions()
    return {
      status: 'ok',
      checks: {
        vector_store: { status: 'ok', latency_ms: roundedMs(check.latencyMs) },
        embedding: { status: embedding },
        language_model: { status: languageModel },
        reranker: reranker && { status: reranker },
        limits_store: limitsStore && { status: limitsStore.isUp ? 'ok' : 'degraded' },
        auth: missing.length > 0 ? { status: 'misconfigured', missing } : undefined,
      },
    }
  })
}
