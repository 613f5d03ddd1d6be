import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { logFailure, toServiceError } from '../http/error-handling.js'
import { errorBody } from '../http/error-responses.js'
import { ErrorSchema } from '../http/error-schema.js'
import { answerTooLarge, charactersIn } from '../http/answer-limit.js'
import { reflectEvents, type ReflectEvent, type ReflectRequest } from '../lib/operations/schemas.js'
import type { Call } from '../lib/operations/dependencies.js'
import { reflect } from '../lib/operations/reflect.js'
import { onResponseClose } from '../http/response-close.js'
import { EVENT_STREAM, eventStream, HEARTBEAT_MS, wantsEvents } from '../http/event-stream.js'
import { serve } from './serve.js'

const DESCRIPTION = `${reflect.description}

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

interface ReflectRouteOptions {
  /** See EventStreamOptions. */
  heartbeatMs: number
}

/** Reflect as one answer or, for a client that accepts events, as a stream of them. */
export const reflectRoutes: FastifyPluginAsync<ReflectRouteOptions> = async (app, { heartbeatMs }) => {
  serve(app, 'POST /v1/reflect', reflect, {
    description: DESCRIPTION,
    response: {
      description: 'The answer.',
      content: { 'application/json': { schema: reflect.answer }, [EVENT_STREAM]: { schema: EVENTS } },
    },
    instead: (input: ReflectRequest, call, request, reply) => (
      wantsEvents(request.headers.accept) ? stream(input, call, request, reply) : undefined
    ),
  })

  const stream = async (input: ReflectRequest, call: Call, request: FastifyRequest, reply: FastifyReply) => {
    app.openStream(reply)
    const events = app.memory.reflectStream(input, call.context, {
      signal: call.signal, noteRates: (states) => { call.noteRates?.(states) },
    })
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
  }
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
