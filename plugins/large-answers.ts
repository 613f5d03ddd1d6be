import type { FastifyInstance, FastifyReply, FastifyRequest, preSerializationHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors/service-error.js'
import { callerOf } from '../lib/identity/context.js'
import { NO_CALLER, turns } from '../lib/concurrency/turn-budget.js'
import { answerPartsOf, escapedBytes, jsonLength, piecesOf, type AnswerSchema } from './answer-parts.js'
import { backPressured, CHUNK_BYTES, encodeChunks, splitBytes, STREAM_BYTES } from '../http/chunked-body.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts the bytes of a response until it is sent or the client has left.
     * @param lists the members whose elements are counted one by one, in turns of the event loop
     * @throws ServiceError answer_too_large, server_busy
     */
    holdAnswer (reply: FastifyReply, answer: object, lists: readonly string[]): Promise<void>
  }
}

/** The memory of the objects of a response that is not sent yet, besides its bytes. */
const QUEUED_BYTES = 1024

/**
 * Sends large answers in chunks, as fast as the client reads, and counts their bytes against the budget until then.
 */
async function largeAnswers (app: FastifyInstance): Promise<void> {
  app.decorate('holdAnswer', async (reply: FastifyReply, answer: object, lists: readonly string[]) => {
    app.holdBytes(reply, await bytesOf(answer, lists, app.bounds.answer_bytes, callerIn(reply.request)) + STREAM_BYTES)
  })

  app.addHook('onRoute', (route) => {
    const schema = jsonAnswer(route.schema?.response)
    if (schema === undefined) return
    // Answers of writes are short, so they are not sent in parts; onSend counts those that are long anyway.
    const isReadOnly = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD') ||
      route.config?.permission === 'read'
    if (!isReadOnly && answerPartsOf(schema).lists.length === 0) return
    route.preSerialization = [inParts(schema), ...[route.preSerialization ?? []].flat()]
  })

  // Counts the responses that are not sent in parts: documents, and short answers that wait for earlier responses of
  // their connection.
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (request.method === 'HEAD' || reply.statusCode >= 400 ||
      !(typeof payload === 'string' || Buffer.isBuffer(payload))) {
      done(null, payload)
      return
    }
    // A UTF-16 unit has at most three bytes, so a text of so few units is shorter than a chunk.
    const isLarge = payload.length > CHUNK_BYTES / 3 && Buffer.byteLength(payload) > CHUNK_BYTES
    try {
      // Probes are answered regardless of load, unless their client leaves earlier answers unread.
      const isCounted = isQueued(reply) || (isLarge && request.routeOptions.config.probe !== true)
      if (isCounted && isRefusable(request)) app.holdBytes(reply, Buffer.byteLength(payload) + QUEUED_BYTES)
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

/** Sends an answer of this schema in parts when it is large. */
function inParts (schema: AnswerSchema): preSerializationHookHandler {
  return function (request, reply, payload, done) {
    // Fastify gives a HEAD route the hooks of its GET route in addition to its own.
    if (reply.statusCode !== 200 || !isObject(payload) || jsonLength(payload, CHUNK_BYTES) <= CHUNK_BYTES) {
      // The rows that the answer was made of are no longer referenced.
      this.holdBytes(reply, 0)
      done(null, payload)
      return
    }
    const send = (source: AsyncIterable<Buffer> | Buffer[]) => {
      reply.serializer(asIs)
      done(null, backPressured(source))
    }
    const parts = answerPartsOf(schema)
    const begin = () => {
      send(
        request.method === 'HEAD' ? [] : encodeChunks(inTurns(parts.texts(payload), callerIn(request))),
      )
    }
    if (isRefusable(request)) this.holdAnswer(reply, payload, parts.lists).then(begin, done)
    else begin()
  }
}

/** Fastify calls the serializer for a payload that is not a stream, and accepts a stream as its result. */
function asIs (stream: string): string {
  return stream
}

/** Only answers of reads are refused for lack of memory, because a client can repeat them; a write is done already. */
function isRefusable ({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || routeOptions.config.permission === 'read'
}

/** Whether the answer waits for earlier responses of its connection. */
function isQueued ({ raw }: FastifyReply): boolean {
  return raw.socket === null || raw.socket.writableLength > 0
}

function callerIn (request: FastifyRequest): string {
  return request.hasContext ? callerOf(request.context) : NO_CALLER
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !('pipe' in value)
}

/** A documented response of a route: a schema, or one for each media type. */
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
    if (turns.isExhausted) await turns.next(caller)
  }
}

async function bytesOf (answer: object, lists: readonly string[], limit: number, caller: string): Promise<number> {
  let bytes = 0
  for (const [name, value] of Object.entries(answer)) {
    for (const part of stepsOf(value, lists.includes(name))) {
      if (turns.isExhausted) await turns.next(caller)
      bytes += jsonLength(part, limit - bytes, escapedBytes)
      if (bytes > limit) {
        throw new ServiceError(
          'answer_too_large',
          `The answer is larger than ${limit} bytes (bounds.answer_bytes); ask for less with max_results, ` +
            'max_tokens or limit',
        )
      }
    }
  }
  return bytes
}

/** The parts of a member that are counted one by one. */
function stepsOf (value: unknown, isList: boolean): Iterable<unknown> {
  if (typeof value === 'string') return piecesOf(value)
  return isList && Array.isArray(value) ? value : [value]
}

export default fp(largeAnswers, { name: 'large-answers', fastify: '5.x', dependencies: ['bounds', 'row-budget'] })
