import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isRepeated } from '../http/repeated-header.js'
import { invalidField } from '../lib/base/service-error.js'
import {
  IDEMPOTENCY_KEY_IN_WORDS, isIdempotencyKey, requestFingerprint, type IdempotencyKey,
} from '../lib/operations/idempotency.js'
import { IDEMPOTENCY_PERIOD } from '../lib/operations/schemas.js'

/** The schema for the OpenAPI document. readKey() checks the value, because its error is more specific. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({
    description: `${IDEMPOTENCY_KEY_IN_WORDS}; sent once. A request with the same key and body within ` +
      `${IDEMPOTENCY_PERIOD} gets the same answer without being executed again.`,
  })),
})

/**
 * The request's Idempotency-Key with the operation and body that it is bound to. Bodies are compared as JSON values, so
 * the order of members and white space are ignored. A replayed answer carries `Idempotent-Replayed: true`.
 * @param own the key, when it is a member of the body; otherwise the header is read
 * @param query the parameters that the key is bound to, without those that have their default
 * @returns undefined for a request without a key; not a promise, because most requests have none
 */
export function idempotencyOf (
  request: FastifyRequest, reply: FastifyReply, own?: string, query: unknown = request.query,
): Promise<IdempotencyKey> | undefined {
  const key = own ?? idempotencyHeader(request)
  return key === undefined ? undefined : readKey(key, request, reply, query)
}

/** @throws ServiceError invalid_request when the header is sent more than once: Node would join the keys to another */
export function idempotencyHeader ({ raw, headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || isRepeated(raw, 'idempotency-key')) {
    throw invalidField('Idempotency-Key', 'must be sent once')
  }
  return key
}

async function readKey (
  key: string, request: FastifyRequest, reply: FastifyReply, query: unknown,
): Promise<IdempotencyKey> {
  if (!isIdempotencyKey(key)) throw invalidField('Idempotency-Key', `must be ${IDEMPOTENCY_KEY_IN_WORDS}`)
  return {
    key,
    operation: `${request.method} ${pathOf(request)}`,
    fingerprint: await requestFingerprint(query, request.body),
    onReplay: () => { reply.header('idempotent-replayed', 'true') },
  }
}

/** The path with decoded parameters, so that `%6e` and `n` are the same. */
function pathOf ({ routeOptions, params }: FastifyRequest): string {
  const values = new Map(Object.entries(typeof params === 'object' && params !== null ? params : {}))
  return (routeOptions.url ?? '').replaceAll(/:([A-Za-z_]+)/g, (_match, name: string) => String(values.get(name)))
}
