import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ForgetAnswer, ForgetRequest } from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { IdempotencyHeaders, idempotencyOf } from './idempotency.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS } from './responses.js'

export const forgetRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/v1/forget', {
    config: {
      scope: 'memory',
      permission: 'forget',
      permissionFor: ({ scope }) => scope === 'all' ? 'admin' : undefined,
    },
    schema: {
      operationId: 'forget',
      tags: ['memory'],
      summary: 'Delete memories by id or by filters, or the whole bank',
      description: 'Requires memory_ids, or one or more filters, or `scope: "all"`. A memory is deleted when it ' +
        'passes all filters that are given; one without `occurred_at` passes no bound on it. `scope: "all"` requires ' +
        'the permission `admin`.',
      headers: IdempotencyHeaders,
      body: ForgetRequest,
      response: answers({ 200: ForgetAnswer }, BODY_ERRORS, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS),
    },
  }, async (request, reply) => (
    await app.memory.forget(request.body, request.context, {
      idempotency: await idempotencyOf(request, reply), signal: disconnectSignal(reply),
    })
  ))
}
