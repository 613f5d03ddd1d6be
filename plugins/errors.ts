import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { sendError } from '../http/error-handling.js'
import { arrivalKeyOf, turnKeyOf } from '../http/turn-key.js'
import { turns } from '../lib/concurrency/turn-budget.js'
import { ServiceError } from '../lib/errors/service-error.js'

/** The error handler, and the 404 handler for requests that no hook has refused. */
async function errors (app: FastifyInstance): Promise<void> {
  app.setErrorHandler((error, request, reply) => {
    const send = () => { sendError(error, request, reply) }
    // Most refused requests have not waited for a turn, and a burst of them must not block the event loop.
    if (turns.isExhausted) void turns.next(request.hasContext ? turnKeyOf(request) : arrivalKeyOf(request)).then(send)
    else send()
  })
  app.setNotFoundHandler((request, reply) => {
    sendError(new ServiceError('not_found', 'No such route'), request, reply)
  })
}

export default fp(errors, { name: 'errors', fastify: '5.x' })
