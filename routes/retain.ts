import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  MAX_BATCH_ITEMS, RetainAnswer, RetainBatchAnswer, RetainBatchRequest, RetainRequest,
} from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { IdempotencyHeaders, idempotencyOf } from './idempotency.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS } from './responses.js'

const errors = [
  BODY_ERRORS, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS, ['model_output_invalid', 'server_busy'],
] as const

export const retainRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/v1/retain', {
    config: { scope: 'memory', permission: 'write' },
    schema: {
      operationId: 'retain',
      tags: ['memory'],
      summary: 'Store one memory',
      description: 'Stores one memory with one id. An exact repeat stores nothing and returns the id of the existing ' +
        'memory, unless the repeat has a more trusted writer and therefore replaces that memory. The answer contains ' +
        '`trust` when the trust of the memory is below `trusted`.',
      headers: IdempotencyHeaders,
      body: RetainRequest,
      response: answers({ 200: RetainAnswer }, ...errors),
    },
  }, async (request, reply) => await app.memory.retain(request.body, request.context, {
    idempotency: await idempotencyOf(request, reply), signal: disconnectSignal(reply),
  }))

  app.post('/v1/retain/batch', {
    config: { scope: 'memory', permission: 'write', bodyBound: 'bounds.batch_bytes' },
    bodyLimit: app.bounds.batch_bytes,
    schema: {
      operationId: 'retainBatch',
      tags: ['memory'],
      summary: `Store up to ${MAX_BATCH_ITEMS} memories, all or none`,
      headers: IdempotencyHeaders,
      body: RetainBatchRequest,
      response: answers({ 200: RetainBatchAnswer }, ...errors),
    },
  }, async (request, reply) => await app.memory.retainBatch(request.body, request.context, {
    idempotency: await idempotencyOf(request, reply), signal: disconnectSignal(reply),
  }))
}
