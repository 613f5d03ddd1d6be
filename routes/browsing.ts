import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { GrowthAnswer, GrowthQuery } from '../lib/memory/schemas.js'
import { BankParams } from './banks.js'
import { answers, CALLER_ERRORS } from './responses.js'

const config = { scope: 'memory', permission: 'read' } as const

export const browsingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { browser } = app.memory

  app.get('/v1/banks/:bank_id/growth', {
    config,
    schema: {
      operationId: 'getBankGrowth',
      tags: ['banks'],
      summary: 'How one bank grew, by day',
      params: BankParams,
      querystring: GrowthQuery,
      response: answers({ 200: GrowthAnswer }, CALLER_ERRORS, ['not_supported']),
    },
  }, async ({ params, query, context }) => await browser.growth(params.bank_id, query, context))
}
