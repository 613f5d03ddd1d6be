import type { FastifyInstance, FastifyReply, FastifyRequest, preSerializationHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors/service-error.js'
import { callerOf } from '../lib/identity/context.js'
import { turns } from '../lib/concurrency/turn-budget.js'
import { answerPartsOf, jsonLength, type AnswerSchema } from './answer-parts.js'
import { onResponseClose } from '../http/response-close.js'
import { backPressured, CHUNK_BYTES, encodeChunks, splitBytes, STREAM_BYTES } from '../http/chunked-body.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts the bytes of what is sent to a client until it is sent, or the client gone.
     * @param lists the members whose elements are counted one by one, in turns of the event loop
     * @throws ServiceError answer_too_large, server_busy
     */
    holdAnswer (reply: FastifyReply, answer: object, lists: readonly string[]): Promise<void>
  }
}

/** An answer of a few hundred bytes keeps about as much again in objects while it waits behind others. */
const QUEUED_BYTES = 1024

/**
 * Answers that are large are sent in pieces, as fast as their clients read, and are counted as long as they are held.
 */
async function largeAnswers (app: FastifyInstance): Promise<void> {
  const hold = (reply: FastifyReply, bytes: number) => {
    const held = app.workBytes.hold(bytes)
    onResponseClose(reply, () => { held.release() })
  }
  app.decorate('holdAnswer', async (reply: FastifyReply, answer: object, lists: readonly string[]) => {
    hold(reply, await bytesOf(answer, lists, app.bounds.answer_bytes, callerIn(reply.request)) + STREAM_BYTES)
  })

  app.addHook('onRoute', (route) => {
    const schema = jsonAnswer(route.schema?.response)
    if (schema === undefined) return
    // What was done is answered in a few fields where nothing is listed; onSend has what is large all the same.
    const asksOnly = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD') || route.config?.permission === 'read'
    if (!asksOnly && answerPartsOf(schema).lists.length === 0) return
    route.preSerialization = [inParts(schema), ...[route.preSerialization ?? []].flat()]
  })

  // What is not made from parts is known when it is whole: documents, and short answers that wait behind others on
  // their connection.
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (request.method === 'HEAD' || reply.statusCode >= 400 || !(typeof payload === 'string' || Buffer.isBuffer(payload))) {
      done(null, payload)
      return
    }
    // A text of so few units has fewer bytes than a piece.
    const isLarge = payload.length > CHUNK_BYTES / 3 && Buffer.byteLength(payload) > CHUNK_BYTES
    try {
      if (isLarge && isRefusable(request)) hold(reply, Buffer.byteLength(payload))
      else if (isQueued(reply) && isRefusable(request)) hold(reply, Buffer.byteLength(payload) + QUEUED_BYTES)
    } catch (error) {
      done(error as ServiceError)
      return
    }
    if (!isLarge) {
      done(null, payload)
      return
    }
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    reply.header('content-length', String(bytes.length))
    done(null, backPressured(splitBytes(bytes)))
  })
}

/** Sends an answer of this schema in parts when it is large; others go on as they are. */
function inParts (schema: AnswerSchema): preSerializationHookHandler {
  return function (request, reply, payload, done) {
    // A HEAD route has the hooks of its GET route, and once more its own.
    if (reply.statusCode !== 200 || !isObject(payload) || jsonLength(payload, CHUNK_BYTES) <= CHUNK_BYTES) {
      done(null, payload)
      return
    }
    const send = (source: AsyncIterable<Buffer> | Buffer[]) => {
      reply.serializer(asIs)
      done(null, backPressured(source))
    }
    const parts = answerPartsOf(schema)
    const begin = () => { send(request.method === 'HEAD' ? [] : encodeChunks(inTurns(parts.texts(payload), callerIn(request)))) }
    if (isRefusable(request)) this.holdAnswer(reply, payload, parts.lists).then(begin, done)
    else begin()
  }
}

/** Fastify calls a serializer for whatever is no stream to begin with, and sends a stream that it gives back. */
function asIs (stream: string): string {
  return stream
}

/** What was done is told, whatever room there is: only an answer that can be had again is refused. */
function isRefusable ({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || routeOptions.config.permission === 'read'
}

/** Whether the answer has to wait for others on its connection, which the client has not taken. */
function isQueued ({ raw }: FastifyReply): boolean {
  return raw.socket === null || raw.socket.writableLength > 0
}

function callerIn (request: FastifyRequest): string {
  return request.hasContext ? callerOf(request.context) : ''
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !('pipe' in value)
}

/** A response as routes document it: a schema, or one for each media type. */
type DocumentedAnswer = AnswerSchema & { content?: Record<string, { schema: AnswerSchema }> }

/** The schema of a route's successful response, if that is a JSON object. */
function jsonAnswer (response: unknown): AnswerSchema | undefined {
  const own = (response as Record<number, DocumentedAnswer> | undefined)?.[200]
  const schema = own?.content === undefined ? own : own.content['application/json']?.schema
  return schema?.type === 'object' && schema.properties !== undefined ? schema : undefined
}

async function * inTurns (texts: Iterable<string>, caller: string): AsyncGenerator<string, void> {
  for (const text of texts) {
    yield text
    if (turns.isSpent) await turns.next(caller)
  }
}

async function bytesOf (answer: object, lists: readonly string[], limit: number, caller: string): Promise<number> {
  let bytes = 0
  for (const [name, value] of Object.entries(answer)) {
    for (const element of lists.includes(name) && Array.isArray(value) ? value : [value]) {
      if (turns.isSpent) await turns.next(caller)
      bytes += jsonLength(element, limit - bytes, Buffer.byteLength)
      if (bytes > limit) throw new ServiceError('answer_too_large', `The answer is larger than ${limit} bytes (bounds.answer_bytes); ask for less with max_results, max_tokens or limit`)
    }
  }
  return bytes
}

export default fp(largeAnswers, { name: 'large-answers', fastify: '5.x', dependencies: ['bounds'] })
