import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { missingVariables } from '../http/missing-auth-variables.js'
import { AUTH_MODES, type Config, type ProviderChoice } from '../lib/config/config.js'
import type { MemoryOverrides } from '../lib/operations/memory-service.js'
import { providerLabel } from '../lib/config/providers/registry.js'
import { formatInstant, type Clock } from '../lib/base/clock.js'
import { roundedMs } from '../lib/base/rounded-ms.js'
import { ModelConditionField } from './health.js'
import { answers, ROUTE_ERRORS } from './responses.js'
import { optionalOrUndefined } from '../lib/operations/schemas.js'

const AUTH_MODES_OR_HOST = [...AUTH_MODES, 'host'] as const
const STORE_CONDITIONS = ['ok', 'unhealthy', 'failed', 'timed_out'] as const

const Provider = Type.String({
  description: 'Registered name of the provider; `custom` for a class of the operator\'s own.',
})
const ModelName = Type.Unsafe<string | null>({
  type: ['string', 'null'], description: 'The model; null when the provider names none.',
})
const Model = Type.Object({ provider: Provider, model: ModelName, status: ModelConditionField }, {
  title: 'ModelInUse', description: 'A model that the server uses.',
})

const AdminStatusAnswer = Type.Object({
  version: Type.String({ description: 'Version of the gateway.' }),
  started_at: Type.String({ format: 'date-time', description: 'When this process became ready to listen.' }),
  auth: Type.Object({
    mode: Type.Enum([...AUTH_MODES_OR_HOST], {
      description: '`host`: the program that embeds the gateway authenticates callers.',
    }),
    missing: Type.Array(Type.String(), {
      description: 'Environment variables that the mode requires and that are not set.',
    }),
  }),
  access_control: Type.Boolean({ description: 'Whether grants and policies are enforced.' }),
  vector_store: Type.Object({
    provider: Provider,
    status: Type.Enum([...STORE_CONDITIONS], {
      description: 'Current state of the store. `unhealthy`: the store reports a fault. `failed`: the check ended ' +
        'in an error.',
    }),
    latency_ms: Type.Unsafe<number | null>({
      type: ['number', 'null'], description: 'Response time in milliseconds; null when the status is not `ok`.',
    }),
    connections: optionalOrUndefined(Type.Object({
      size: Type.Integer({ description: 'Maximum number of connections.' }),
      in_use: Type.Integer(),
      waiting: Type.Integer({ description: 'Callers that wait for a connection.' }),
    }, { description: 'Connections to the database, when the store uses one.' })),
    vectors_pending: optionalOrUndefined(Type.Integer({
      description: 'Memories that are known to have no vector yet; absent when vectors are written together with ' +
        'the memory.',
    })),
  }),
  embedding: Type.Object({
    provider: Provider,
    model: ModelName,
    dimensions: Type.Integer({ description: 'Number of elements of every vector.' }),
    status: ModelConditionField,
  }),
  language_model: Model,
  reranker: optionalOrUndefined(Model),
}, {
  title: 'AdminStatus',
  description: 'The providers and settings of this process and their state. Contains no secrets and no addresses.',
  examples: [{
    version: '0.1.0',
    started_at: '2026-01-05T09:30:00.000Z',
    auth: { mode: 'jwt_oidc', missing: [] },
    access_control: true,
    vector_store: {
      provider: 'postgres',
      status: 'ok',
      latency_ms: 0.8,
      connections: { size: 10, in_use: 1, waiting: 0 },
      vectors_pending: 0,
    },
    embedding: { provider: 'local', model: 'use-lite-en-1', dimensions: 512, status: 'ok' },
    language_model: { provider: 'mock', model: null, status: 'ok' },
  }],
})

interface AdminStatusOptions {
  config: Config
  /** The auth mode of the process; `host` when the embedding program authenticates. */
  mode: typeof AUTH_MODES_OR_HOST[number]
  /** Providers that replace those of the configuration. */
  overrides: MemoryOverrides
  clock: Clock
  version: string
}

/** Answers 200 even when the store is down, because reporting its state is the purpose of the route. */
export const adminStatusRoutes: FastifyPluginAsyncTypebox<AdminStatusOptions> = async (app, options) => {
  const { config: { settings, healthTimeoutMs, auth }, mode, overrides, clock, version } = options
  let startedAt = clock()
  app.addHook('onReady', async () => { startedAt = clock() })
  const missing = mode === 'host' ? [] : missingVariables(auth)

  const storeStatus = async () => {
    const check = await app.memory.checkHealth(healthTimeoutMs)
    const { pool, vectorsPending } = app.memory.status()
    return {
      provider: nameOf(settings.vectorStore, overrides.store),
      status: check.status === 'ok' ? check.status : STATUS_OF[check.reason],
      latency_ms: check.status === 'ok' ? roundedMs(check.latencyMs) : null,
      connections: pool && { size: pool.size, in_use: pool.inUse, waiting: pool.waiting },
      vectors_pending: vectorsPending,
    }
  }

  app.get('/v1/admin/status', {
    config: { scope: 'admin' },
    schema: {
      operationId: 'adminGetStatus',
      tags: ['admin'],
      summary: 'Get the providers of the server and their state',
      description: 'Covers only this process. Checks the store as `GET /health` does, and calls no model.',
      response: answers({ 200: AdminStatusAnswer }, [
        'invalid_request', 'unauthenticated', 'internal_error', ...ROUTE_ERRORS,
      ]),
    },
  }, async () => {
    const { embedding, languageModel, reranker } = app.memory.modelNames()
    const conditions = app.memory.modelConditions()
    return {
      version,
      started_at: formatInstant(startedAt),
      auth: { mode, missing },
      access_control: app.access.isEnabled,
      vector_store: await storeStatus(),
      embedding: {
        ...named(nameOf(settings.embeddings, overrides.embeddings), embedding),
        dimensions: app.memory.dimensions,
        status: conditions.embedding,
      },
      language_model: {
        ...named(nameOf(settings.languageModel, overrides.languageModel), languageModel),
        status: conditions.language_model,
      },
      reranker: conditions.reranker && {
        ...named(nameOf(settings.reranker, overrides.reranker), reranker),
        status: conditions.reranker,
      },
    }
  })
}

const STATUS_OF = { unhealthy: 'unhealthy', error: 'failed', timeout: 'timed_out' } as const

function nameOf (choice: ProviderChoice | undefined, override: object | undefined): string {
  return choice === undefined || override !== undefined ? 'custom' : providerLabel(choice.name)
}

/** A provider without a model of its own reports its own name as the model's. */
function named (provider: string, model: string | undefined): { provider: string, model: string | null } {
  return { provider, model: model === undefined || model === provider || model === 'custom' ? null : model }
}
