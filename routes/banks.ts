import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  BankAnswer, BankId, BanksAnswer, GrowthAnswer, GrowthQuery, MemoriesAnswer, MemoriesQuery, MemoryRecord,
  NeighboursAnswer, NeighboursQuery, PageQuery, StatisticsAnswer,
} from '../lib/memory/schemas.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { answers, CALLER_ERRORS, LARGE_ERRORS } from './responses.js'

export const BankParams = Type.Object({ bank_id: BankId })
const MemoryParams = Type.Object({ bank_id: BankId, memory_id: Type.String({ maxLength: 128 }) })
const config = { scope: 'memory', permission: 'read' } as const

export const bankRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { banks, browser } = app.memory

  app.get('/v1/banks', {
    config,
    schema: {
      operationId: 'listBanks',
      tags: ['banks'],
      summary: 'List the banks that the caller may read',
      querystring: PageQuery,
      response: answers({ 200: BanksAnswer }, CALLER_ERRORS),
    },
  }, async ({ query, context }, reply) => await banks.list(query, context, { signal: disconnectSignal(reply) }))

  app.get('/v1/banks/:bank_id', {
    config,
    schema: {
      operationId: 'getBank',
      tags: ['banks'],
      summary: 'Get a bank',
      params: BankParams,
      response: answers({ 200: BankAnswer }, CALLER_ERRORS),
    },
  }, async (request) => await banks.describe(request.params.bank_id, request.context))

  app.get('/v1/banks/:bank_id/stats', {
    config,
    schema: {
      operationId: 'getBankStatistics',
      tags: ['banks'],
      summary: 'Get the statistics of a bank',
      params: BankParams,
      response: answers({ 200: StatisticsAnswer }, CALLER_ERRORS),
    },
  }, async (request) => await banks.statistics(request.params.bank_id, request.context))

  app.get('/v1/banks/:bank_id/memories', {
    config,
    schema: {
      operationId: 'listMemories',
      tags: ['banks'],
      summary: 'List the memories of a bank',
      params: BankParams,
      querystring: MemoriesQuery,
      response: answers({ 200: MemoriesAnswer }, CALLER_ERRORS, LARGE_ERRORS, ['not_supported']),
    },
  }, async ({ params, query, context }) => await banks.memories({ ...query, bank_id: params.bank_id }, context))

  app.get('/v1/banks/:bank_id/memories/:memory_id', {
    config,
    schema: {
      operationId: 'getMemory',
      tags: ['banks'],
      summary: 'Get a memory',
      params: MemoryParams,
      response: answers({ 200: MemoryRecord }, CALLER_ERRORS, LARGE_ERRORS, ['not_found']),
    },
  }, async (request) => await banks.memory(request.params.bank_id, request.params.memory_id, request.context))

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
  }, async ({ params, query, context }) => await browser.growth({ ...query, bank_id: params.bank_id }, context))

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
  }, async ({ params, query, context }) => (
    await browser.neighbours({ ...query, bank_id: params.bank_id, memory_id: params.memory_id }, context)
  ))
}
