import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { answerTooLarge, charactersIn } from '../http/answer-limit.js'

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

export default fp(answerSize, { name: 'answer-size', fastify: '5.x', dependencies: ['limits'] })
