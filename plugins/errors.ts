import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { sendError } from '../http/error-handling.js'
import { ServiceError } from '../lib/base/service-error.js'

/** The error handler, and the 404 handler for requests that no hook has refused. */
async function errors (app: FastifyInstance): Promise<void> {
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => {
    sendError(new ServiceError('not_found', 'No such route'), request, reply)
  })
}

export default fp(errors, { name: 'errors', fastify: '5.x' })
