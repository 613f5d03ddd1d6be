import type { Static, TObject } from 'typebox'
import type { Permission } from '../lib/access/access-control.js'
import type { RequestContext } from '../lib/access/context.js'
import { requestFingerprint, type IdempotencyKey } from '../lib/operations/idempotency.js'
import type { MemoryService } from '../lib/operations/memory-service.js'
import type { Operation } from '../lib/operations/operation.js'

// Imported by path, because the package of the gateway contains the built client and does not depend on its package.
import { Listing, MemoryGatewayClient } from '../packages/client/src/index.js'

interface CallOptions {
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal
  idempotencyKey?: string | undefined
}

/** The operations as one caller. Refusals are ServiceErrors or MemoryGatewayErrors. */
export interface Caller {
  /**
   * Checks access to banks before the rest of a request is validated.
   * @returns undefined when the check is complete without waiting
   */
  checkAccess (permission: Permission, bankIds: readonly string[]): Promise<unknown> | undefined
  ask<Request extends TObject, Answer extends TObject> (
    operation: Operation<Request, Answer>, request: Static<Request>, options: CallOptions,
  ): Promise<Static<Answer>>
}

/** A caller of the memory service in this process. */
export function localCaller (memory: MemoryService, context: RequestContext): Caller {
  return {
    checkAccess: (permission, bankIds) => memory.checkAccess(context, permission, bankIds),
    ask: async (operation, request, { signal, idempotencyKey: key }) => {
      const idempotency = key === undefined ? undefined : await idempotencyOf(operation.name, request, key)
      return await memory.run(operation, request, { context, signal, idempotency })
    },
  }
}

/** Keys of tools and of routes are separate, because their answers differ in form. */
async function idempotencyOf (operation: string, request: unknown, key: string): Promise<IdempotencyKey> {
  return { key, operation: `MCP ${operation}`, fingerprint: await requestFingerprint({}, request) }
}

/** A server, and the credentials of the caller. */
export interface ServerConnection {
  /** `https://memory.example.com` for instance; a path before `/v1` is kept. */
  url: string
  apiKey?: string | undefined
  token?: string | undefined
  principal?: string | undefined
}

/** A caller of a server, over its HTTP API. The server decides access before it validates. */
export function remoteCaller ({ url: baseUrl, ...credentials }: ServerConnection): Caller {
  // No retries: the model reads the refusal, and waits or does something else.
  const client = new MemoryGatewayClient({ baseUrl, ...credentials, retries: 0 })
  return {
    checkAccess: () => undefined,
    ask: async ({ name }, request, options) => {
      // Methods of the client have the names of the operations and answer as these do.
      const method: unknown = Reflect.get(client, name)
      if (typeof method !== 'function') throw new Error(`The client has no method ${name}`)
      const answer: unknown = method.call(client, request, options)
      return answer instanceof Listing ? (await answer.pages().next()).value : await answer
    },
  }
}
