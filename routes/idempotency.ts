import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import stringify from 'safe-stable-stringify'
import { Type } from 'typebox'
import { invalidField } from '../lib/errors.js'
import type { IdempotencyKey } from '../lib/memory/idempotency.js'

const KEY = /^[\x20-\x7e]{1,255}$/

/** For the OpenAPI document; the value is checked below, where the error can say more. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({ description: '1–255 visible characters. The same key and body within 24 hours gives the same answer again without doing the work.' })),
})

/**
 * The request's Idempotency-Key with what it is bound to. Equal bodies are equal as values: the order of keys and white space do not count.
 * An answer that is given again carries `Idempotent-Replayed: true`.
 */
export function idempotencyOf (request: FastifyRequest, reply: FastifyReply): IdempotencyKey | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !KEY.test(key)) throw invalidField('Idempotency-Key', 'must be 1 to 255 visible characters')
  return {
    key,
    operation: `${request.method} ${request.url.split('?', 1)[0]}`,
    // The lines of an import come as bytes; as a text they have the fingerprint that earlier versions gave them.
    fingerprint: createHash('sha256').update(stringify([request.query, Buffer.isBuffer(request.body) ? request.body.toString() : request.body])).digest('hex'),
    onReplay: () => { reply.header('idempotent-replayed', 'true') },
  }
}
