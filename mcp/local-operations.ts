import { invalidField } from '../lib/errors/service-error.js'
import type { RequestContext } from '../lib/identity/context.js'
import { IDEMPOTENCY_KEY_IN_WORDS, isIdempotencyKey, type IdempotencyKey } from '../lib/memory/idempotency.js'
import { requestFingerprint } from '../lib/memory/request-fingerprint.js'
import type { MemoryService } from '../lib/memory/service.js'
import type { MemoryOperations } from './operations.js'

/** The operations of the memory service in this process, as one caller. */
export function localOperations (memory: MemoryService, context: RequestContext): MemoryOperations {
  const { banks } = memory
  const keyOf = async (operation: string, request: object, key: string | undefined) => (
    key === undefined ? undefined : await idempotencyOf(operation, request, key)
  )
  return {
    checkAccess: (permission, bankIds) => memory.checkAccess(context, permission, bankIds),
    retain: async (request, { idempotencyKey, signal }) => (
      await memory.retain(request, context, {
        idempotency: await keyOf('retain', request, idempotencyKey), signal,
      })
    ),
    recall: async (request, { signal }) => await memory.recall(request, context, { signal }),
    reflect: async (request, { signal }) => await memory.reflect(request, context, { signal }),
    forget: async (request, { idempotencyKey, signal }) => (
      await memory.forget(request, context, {
        idempotency: await keyOf('forget', request, idempotencyKey), signal,
      })
    ),
    listBanks: async (query, { signal }) => await banks.list(query, context, { signal }),
    getBank: async (bankId) => await banks.describe(bankId, context),
    listMemories: async (bankId, query) => await banks.memories({ ...query, bank_id: bankId }, context),
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
