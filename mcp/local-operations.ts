import type { RowBudget } from '../lib/concurrency/byte-budget.js'
import { invalidField } from '../lib/errors/service-error.js'
import type { RequestContext } from '../lib/identity/context.js'
import { IDEMPOTENCY_KEY_IN_WORDS, isIdempotencyKey, type IdempotencyKey } from '../lib/memory/idempotency.js'
import { requestFingerprint } from '../lib/memory/request-fingerprint.js'
import type { MemoryService } from '../lib/memory/service.js'
import type { MemoryOperations } from './operations.js'

/** Runs work with a budget for the rows that the store reads. */
export type WithRowBudget = <T>(work: (budget: RowBudget | undefined) => Promise<T>) => Promise<T>

const unbounded: WithRowBudget = async (work) => await work(undefined)

/** The operations of the memory service in this process, as one caller. */
export function localOperations (
  memory: MemoryService, context: RequestContext, withRowBudget: WithRowBudget = unbounded,
): MemoryOperations {
  const { banks } = memory
  const keyOf = async (operation: string, request: object, key: string | undefined) => (
    key === undefined ? undefined : await idempotencyOf(operation, request, key)
  )
  return {
    checkAccess: (permission, bankIds) => memory.checkAccess(context, permission, bankIds),
    retain: async (request, { idempotencyKey, signal }) => (
      await withRowBudget(async (budget) => (
        await memory.retain(request, context, {
          idempotency: await keyOf('retain', request, idempotencyKey), signal, budget,
        })
      ))
    ),
    recall: async (request, { signal }) => (
      await withRowBudget(async (budget) => await memory.recall(request, context, { signal, budget }))
    ),
    reflect: async (request, { signal }) => (
      await withRowBudget(async (budget) => await memory.reflect(request, context, { signal, budget }))
    ),
    forget: async (request, { idempotencyKey, signal }) => (
      await memory.forget(request, context, {
        idempotency: await keyOf('forget', request, idempotencyKey), signal,
      })
    ),
    listBanks: async (query, { signal }) => await banks.list(query, context, { signal }),
    getBank: async (bankId) => await banks.describe(bankId, context),
    listMemories: async (bankId, query) => (
      await withRowBudget(async (budget) => await banks.memories({ ...query, bank_id: bankId }, context, { budget }))
    ),
    getMemory: async (bankId, memoryId) => await banks.memory(bankId, memoryId, context),
  }
}

/** Keys of tools and of routes are separate, because their answers differ in form. */
async function idempotencyOf (
  operation: string, request: object, key: string,
): Promise<IdempotencyKey> {
  if (!isIdempotencyKey(key)) throw invalidField('idempotency_key', `must be ${IDEMPOTENCY_KEY_IN_WORDS}`)
  return {
    key,
    operation: `MCP ${operation}`,
    fingerprint: await requestFingerprint({}, request),
  }
}
