import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalidField } from '../lib/errors/service-error.js'
import { callerOf } from '../lib/identity/context.js'
import type { IdempotencyKey } from '../lib/memory/idempotency.js'
import { requestFingerprint } from './request-fingerprint.js'

const KEY = /^[\x20-\x7e]{1,255}$/

/** For the OpenAPI document; the value is checked below, where the error can say more. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({ description: '1–255 visible characters. The same key and body within 24 hours gives the same answer again without doing the work.' })),
})

/**
 * The request's Idempotency-Key with what it is bound to. Equal bodies are equal as values: the order of keys and white space do not count.
 * An answer that is given again carries `Idempotent-Replayed: true`.
 * @returns undefined, at once, for the many requests without one
 */
export function idempotencyOf (request: FastifyRequest, reply: FastifyReply): Promise<IdempotencyKey> | undefined {
  const key = request.headers['idempotency-key']
  return key === undefined ? undefined : readKey(key, request, reply)
}

async function readKey (key: string | string[], request: FastifyRequest, reply: FastifyReply): Promise<IdempotencyKey> {
  if (typeof key !== 'string' || !KEY.test(key)) throw invalidField('Idempotency-Key', 'must be 1 to 255 visible characters')
  return {
    key,
    operation: `${request.method} ${pathOf(request)}`,
    fingerprint: await requestFingerprint(request.query, request.body, callerOf(request.context)),
    onReplay: () => { reply.header('idempotent-replayed', 'true') },
  }
}

/** The path as the router understands it, so that `%6e` and `n` are one. It is the path of the URL where that encodes nothing. */
function pathOf ({ routeOptions, params }: FastifyRequest): string {
  const values = new Map(Object.entries(typeof params === 'object' && params !== null ? params : {}))
  return (routeOptions.url ?? '').replaceAll(/:([A-Za-z_]+)/g, (_match, name: string) => String(values.get(name)))
}
