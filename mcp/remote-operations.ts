import { invalidField } from '../lib/errors/service-error.js'
import { IDEMPOTENCY_KEY_IN_WORDS, isIdempotencyKey } from '../lib/memory/idempotency.js'
// Imported by path, because the package of the gateway contains the built client and does not depend on its package.
import {
  MemoryGatewayClient, type ForgetRequest, type Listing, type RecallRequest, type ReflectRequest,
} from '../packages/client/src/index.js'
import type { MemoryOperations, WriteOptions } from './operations.js'

/** A server, and the credentials of the caller. */
export interface ServerConnection {
  /** `https://memory.example.com` for instance; a path before `/v1` is kept. */
  url: string
  apiKey?: string | undefined
  token?: string | undefined
  principal?: string | undefined
}

/** The operations of a server, over its HTTP API. The server decides access before it validates. */
export function remoteOperations ({ url: baseUrl, ...credentials }: ServerConnection): MemoryOperations {
  // No retries: the model reads the refusal, and waits or does something else.
  const client = new MemoryGatewayClient({ baseUrl, ...credentials, retries: 0 })
  // The client's types of requests tell in addition which fields exclude each other, which the server checks.
  return {
    checkAccess: () => undefined,
    retain: async (request, call) => await client.retain(request, withKey(call)),
    recall: async (request, call) => await client.recall(request as RecallRequest, call),
    reflect: async (request, call) => await client.reflect(request as ReflectRequest, call),
    forget: async (request, call) => await client.forget(request as ForgetRequest, withKey(call)),
    listBanks: async (query, call) => await firstPage(client.listBanks(query, call)),
    getBank: async (bankId, call) => await client.getBank({ bank_id: bankId }, call),
    listMemories: async (bankId, query, call) => (
      await firstPage(client.listMemories({ ...query, bank_id: bankId }, call))
    ),
    getMemory: async (bankId, memoryId, call) => (
      await client.getMemory({ bank_id: bankId, memory_id: memoryId }, call)
    ),
  }
}

/** @throws ServiceError: the server would name its header, which the tool does not have, and not every text fits in */
function withKey (options: WriteOptions): WriteOptions {
  const { idempotencyKey: key } = options
  if (key === undefined || isIdempotencyKey(key)) return options
  throw invalidField('idempotency_key', `must be ${IDEMPOTENCY_KEY_IN_WORDS}`)
}

async function firstPage<Answer extends { next_cursor: string | null }> (
  listing: Listing<unknown, Answer>,
): Promise<Answer> {
  const { value } = await listing.pages().next()
  if (value === undefined) throw new Error('A listing has at least one page')
  return value
}
