import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../lib/errors/service-error.js'
import { refusal } from '../lib/validation/schema-check.js'

const JSON_TYPE = 'application/json'

/** The body of every answer from 400 up. */
export function errorBody (error: ServiceError, requestId: string): Record<string, unknown> {
  return { detail: error.detail, code: error.code, request_id: requestId, ...error.members }
}

/** The media types of bodies that the route documents. */
function mediaTypesOf ({ routeOptions: { schema } }: FastifyRequest): string[] {
  const { content } = (schema?.body ?? {}) as { content?: Record<string, unknown> }
  return content === undefined ? [JSON_TYPE] : Object.keys(content)
}

/** What Fastify itself throws, in our words: its texts can quote the body, so none of them is passed on. */
function fromFastify (error: FastifyError, request: FastifyRequest): ServiceError | undefined {
  if (error.validation !== undefined) return refusal(error.validation)
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError('body_too_large', 'Request body is too large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError('unsupported_media_type', `Unsupported Content-Type: this route takes ${mediaTypesOf(request).join(' or ')}`)
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new ServiceError('invalid_json', 'Request body is not valid JSON')
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new ServiceError('invalid_json', 'Request body is empty')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ServiceError('invalid_request', 'Request body does not match Content-Length')
    case 'FST_ERR_BAD_URL':
      return new ServiceError('invalid_request', 'The URL is malformed')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ServiceError('invalid_request', 'A part of the URL is too long')
    default:
      // What is left below 500 is a body that broke off, a bad header and the like: the client's doing.
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? new ServiceError('invalid_request', 'The request could not be read')
        : undefined
  }
}

/** @param request that failed */
export function toServiceError (error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof Error) {
    const known = fromFastify(error as FastifyError, request)
    if (known !== undefined) return known
  }
  return new ServiceError('internal_error', 'Internal server error', { cause: error })
}

/** The log gets the cause of a fault of ours. */
export function logFailure (error: ServiceError, request: FastifyRequest): void {
  // That this server has not what was asked for (501) is no fault.
  if (error.status < 500 || error.status === 501) return
  // A crowd that is turned away would fill the log, and nothing is wrong with the server.
  if (error.code === 'server_busy') {
    request.log.info({ code: error.code }, 'the request found no room')
    return
  }
  // Work that is given up because nobody waits for it fails as well, and that is no fault.
  if (request.raw.socket.destroyed) request.log.info({ code: error.code }, 'the client left before its answer')
  else request.log.error({ err: error.cause ?? error, code: error.code }, 'request failed')
}

/** Sends an error in the contract's shape. */
export function sendError (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error, request)
  logFailure(known, request)
  void reply
    .code(known.status)
    .headers(known.headers)
    // No hook runs for a URL that the router cannot read, so the id is set here as well.
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(known, request.id))
}

/** The one error mapper, and the 404 handler for what no hook has refused before. */
async function errors (app: FastifyInstance): Promise<void> {
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => {
    sendError(new ServiceError('not_found', 'No such route'), request, reply)
  })
}

export default fp(errors, { name: 'errors', fastify: '5.x' })
