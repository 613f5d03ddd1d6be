import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors/service-error.js'

/**
 * Refuses answers of more than `bounds.answer_bytes`, as soon as their texts are longer and at the latest when they are
 * written. Only those of reads: a client can ask for less, while a write is done already. Streams are not counted.
 */
async function answerSize (app: FastifyInstance): Promise<void> {
  const { answer_bytes: limit } = app.bounds
  app.addHook('onRoute', (route) => {
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD') ||
      route.config?.permission === 'read'
    if (!isRead || route.config?.probe === true) return
    route.preSerialization = [
      ...[route.preSerialization ?? []].flat(),
      (_request, _reply, payload, done) => {
        if (charactersIn(payload, limit) > limit) done(answerTooLarge(limit))
        else done(null, payload)
      },
    ]
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (_request, { statusCode }, payload, done) => {
        if (statusCode < 400 && typeof payload === 'string' && Buffer.byteLength(payload) > limit) {
          done(answerTooLarge(limit))
        } else done(null, payload)
      },
    ]
  })
}

/** The characters of all texts in a JSON value, which are at most its bytes. Stops at the limit. */
export function charactersIn (value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  // Answers are plain objects and arrays. Object.values would allocate a list for every hit.
  for (const name in value) {
    sum += charactersIn(value[name as keyof typeof value], limit - sum)
    if (sum > limit) break
  }
  return sum
}

export function answerTooLarge (limit: number): ServiceError {
  return new ServiceError(
    'answer_too_large',
    `The answer is larger than ${limit} bytes (bounds.answer_bytes); ask for less with max_results, max_tokens or ` +
      'limit',
  )
}

export default fp(answerSize, { name: 'answer-size', fastify: '5.x', dependencies: ['limits'] })
