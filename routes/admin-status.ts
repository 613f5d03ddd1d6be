import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { missingVariables } from '../http/missing-auth-variables.js'
import type { Config } from '../lib/config/config.js'
import type { ProviderChoice } from '../lib/config/settings.js'
import type { MemoryOverrides } from '../lib/memory/service.js'
import { providerLabel } from '../lib/providers/registry.js'
import { formatInstant, type Clock } from '../lib/time/clock.js'
import { ModelConditionField } from './health.js'
import { answers, ROUTE_ERRORS } from './responses.js'

const AUTH_MODES = ['dev', 'api_key', 'jwt_hs256', 'jwt_oidc', 'host'] as const
const STORE_CONDITIONS = ['ok', 'unhealthy', 'failed', 'timed_out'] as const

const Provider = Type.String({ description: 'The registered name. `custom`: a class of the operator\'s own.' })
const ModelName = Type.Unsafe<string | null>({
  type: ['string', 'null'], description: 'The model, where the provider names one.',
})
const Model = Type.Object({ provider: Provider, model: ModelName, status: ModelConditionField }, {
  title: 'ModelInUse', description: 'A model that the server works with.',
})

const AdminStatusAnswer = Type.Object({
  version: Type.String({ description: 'Of the gateway.' }),
  started_at: Type.String({ format: 'date-time', description: 'When this process became ready to listen.' }),
  auth: Type.Object({
    mode: Type.Enum([...AUTH_MODES], { description: '`host`: the program that the gateway is a part of authenticates.' }),
    missing: Type.Array(Type.String(), {
      description: 'Environment variables that the mode needs and that are not set.',
    }),
  }),
  access_control: Type.Boolean({ description: 'Whether grants and policies are enforced.' }),
  vector_store: Type.Object({
    provider: Provider,
    status: Type.Enum([...STORE_CONDITIONS], {
      description: 'What the store answers now. `unhealthy`: it reports a fault. `failed`: the check ended in an error.',
    }),
    latency_ms: Type.Unsafe<number | null>({
      type: ['number', 'null'], description: 'Milliseconds that its answer took; null when it is not `ok`.',
    }),
    connections: Type.Optional(Type.Object({
      size: Type.Integer({ description: 'At most.' }),
      in_use: Type.Integer(),
      waiting: Type.Integer({ description: 'Callers that wait for one.' }),
    }, { description: 'To the database, where the store has one.' })),
    vectors_pending: Type.Optional(Type.Integer({
      description: 'Memories that are known to wait for their vectors; absent where vectors are written with the memory.',
    })),
  }),
  embedding: Type.Object({
    provider: Provider,
    model: ModelName,
    dimensions: Type.Integer({ description: 'Length of every vector.' }),
    status: ModelConditionField,
  }),
  language_model: Model,
  reranker: Type.Optional(Model),
}, {
  title: 'AdminStatus',
  description: 'What this process runs with, and the state of it. It holds no secret and no address.',
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

export interface AdminStatusOptions {
  config: Config
  /** Of the process; `host` where another program authenticates. */
  mode: typeof AUTH_MODES[number]
  /** Providers in the place of those that the configuration names. */
  overrides: MemoryOverrides
  clock: Clock
  version: string
}

/** Answers 200 also when the store is down: its state is what is asked for. */
export const adminStatusRoutes: FastifyPluginAsyncTypebox<AdminStatusOptions> = async (app, options) => {
  const { config: { settings, healthTimeoutMs, auth }, mode, overrides, clock, version } = options
  let startedAt = clock()
  app.addHook('onReady', async () => { startedAt = clock() })
  const missing = mode === 'host' ? [] : missingVariables(auth)

  const storeStatus = async () => {
    const check = await app.memory.health.check(healthTimeoutMs)
    const { pool, vectorsPending } = app.memory.status()
    const connections = pool && { size: pool.size, in_use: pool.inUse, waiting: pool.waiting }
    return {
      provider: nameOf(settings.vectorStore, overrides.store),
      status: check.status === 'ok' ? check.status : STATUS_OF[check.reason],
      latency_ms: check.status === 'ok' ? Math.round(check.latencyMs * 1000) / 1000 : null,
      ...(connections !== undefined && { connections }),
      ...(vectorsPending !== undefined && { vectors_pending: vectorsPending }),
    }
  }

  app.get('/v1/admin/status', {
    config: { scope: 'admin' },
    schema: {
      operationId: 'adminGetStatus',
      tags: ['admin'],
      summary: 'What the server runs with, and its state',
      description: 'Of this process. It asks the store as `GET /health` does, and calls no model.',
      response: answers({ 200: AdminStatusAnswer }, ['unauthenticated', 'internal_error', ...ROUTE_ERRORS]),
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
      ...(conditions.reranker !== undefined && {
        reranker: {
          ...named(nameOf(settings.reranker, overrides.reranker), reranker),
          status: conditions.reranker,
        },
      }),
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
