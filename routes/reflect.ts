import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { logFailure, toServiceError } from '../http/error-handling.js'
import { errorBody } from '../http/error-responses.js'
import { ErrorSchema } from '../http/error-schema.js'
import { answerTooLarge, charactersIn } from '../http/answer-limit.js'
import { ReflectAnswer, reflectEvents, ReflectRequest, type ReflectEvent } from '../lib/memory/schemas.js'
import { onResponseClose } from '../http/response-close.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { EVENT_STREAM, eventStream, HEARTBEAT_MS, wantsEvents } from '../http/event-stream.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, LARGE_ERRORS, LIMIT_ERRORS } from './responses.js'

const DESCRIPTION = `The answer cites its sources as [1], [2], in the order of \`sources\`. Without evidence, the \
service abstains and calls no model.

With \`Accept: ${EVENT_STREAM}\` the answer is streamed: \`evidence\` (\`{sources}\`, in the order of the ranking), \
any number of \`delta\` (\`{text}\`), \`usage\`, then \`done\` (the members of the JSON answer except usage; its \
\`answer\` is the whole text), or \`error\` (the body of an error answer). A comment is sent after every \
${HEARTBEAT_MS / 1000} seconds of silence. An error before the \`evidence\` event gets an ordinary error status.`

const ErrorEvent = Type.Object({ event: Type.Literal('error'), data: ErrorSchema }, { title: 'ErrorEvent' })
const EVENTS = Type.String({
  description: 'Server-sent events.',
  examples: ['event: delta\ndata: {"text":"Alice drinks tea. [1]"}\n\n'],
  'x-item-schema': {
    title: 'ReflectEvent',
    description: 'An event of a reflect: its name and its data, which is JSON.',
    oneOf: [...reflectEvents, ErrorEvent],
  },
})

const ERRORS = [
  'too_many_streams', 'model_output_invalid', 'overloaded', 'deadline_exceeded', 'not_supported',
] as const

interface ReflectRouteOptions {
  /** See EventStreamOptions. */
  heartbeatMs: number
}

export const reflectRoutes: FastifyPluginAsyncTypebox<ReflectRouteOptions> = async (app, { heartbeatMs }) => {
  app.post('/v1/reflect', {
    config: { scope: 'memory', permission: 'read' },
    schema: {
      operationId: 'reflect',
      tags: ['memory'],
      summary: 'Answer a question from memories',
      description: DESCRIPTION,
      body: ReflectRequest,
      response: answers({
        200: {
          description: 'The answer.',
          content: {
            'application/json': { schema: ReflectAnswer },
            [EVENT_STREAM]: { schema: EVENTS },
          },
        },
      }, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, LARGE_ERRORS, ERRORS),
    },
  }, async (request, reply) => {
    const { memory } = app
    const { body, context } = request
    const signal = disconnectSignal(reply)
    if (!wantsEvents(request.headers.accept)) return await memory.reflect(body, context, { signal })
    app.openStream(reply)
    const events = memory.reflectStream(body, context, { signal })
    // Errors before the first event get an HTTP status of their own.
    const first = await events.next()
    // Ends the source even if nothing was read from it; an ended source ignores the call.
    onResponseClose(reply, () => { void events.return().catch(() => {}) })
    const { answer_bytes: limit } = app.bounds
    if (first.done !== true && charactersIn(first.value.data, limit) > limit) throw answerTooLarge(limit)
    return await reply
      .type(EVENT_STREAM)
      .headers({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
      .send(eventStream(continued(first, events), {
        heartbeatMs,
        onError: (error) => {
          const known = toServiceError(error, request)
          logFailure(known, request)
          return { event: 'error', data: errorBody(known, request.id) }
        },
      }))
  })
}

async function * continued (
  first: IteratorResult<ReflectEvent, void>, rest: AsyncGenerator<ReflectEvent, void>,
): AsyncGenerator<ReflectEvent, void> {
  try {
    if (first.done !== true) yield first.value
    yield * rest
  } finally {
    await rest.return()
  }
}
