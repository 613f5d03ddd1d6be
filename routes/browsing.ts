import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { GrowthAnswer, GrowthQuery, NeighboursAnswer, NeighboursQuery } from '../lib/memory/schemas.js'
import { BankParams, MemoryParams } from './banks.js'
import { answers, CALLER_ERRORS, LARGE_ERRORS } from './responses.js'

const config = { scope: 'memory', permission: 'read' } as const

export const browsingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { browser } = app.memory

  app.get('/v1/banks/:bank_id/growth', {
    config,
    schema: {
      operationId: 'getBankGrowth',
      tags: ['banks'],
      summary: 'Get the growth of a bank by day',
      params: BankParams,
      querystring: GrowthQuery,
      response: answers({ 200: GrowthAnswer }, CALLER_ERRORS, ['not_supported']),
    },
  }, async ({ params, query, context }) => await browser.growth(params.bank_id, query, context))

  app.get('/v1/banks/:bank_id/memories/:memory_id/neighbours', {
    config,
    schema: {
      operationId: 'getMemoryNeighbours',
      tags: ['banks'],
      summary: 'Get a memory and its neighbours in the document',
      params: MemoryParams,
      querystring: NeighboursQuery,
      response: answers({ 200: NeighboursAnswer }, CALLER_ERRORS, LARGE_ERRORS, ['not_found', 'not_supported']),
    },
  }, async ({ params, query, context }, reply) => (
    await app.withRowBudget(reply, async (budget) => (
      await browser.neighbours(params.bank_id, params.memory_id, query, context, budget)
    ))
  ))
}
