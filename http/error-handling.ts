import { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../lib/base/service-error.js'
import { UnusableGeneration } from '../lib/operations/model-errors.js'
import { ModelCallError } from '../lib/models/remote/model-call-error.js'
import { validationError } from '../lib/base/schema-check.js'
import { errorBody, errorHeaders, statusOf } from './error-responses.js'

const JSON_TYPE = 'application/json'

/** The media types of bodies that the route documents. */
function mediaTypesOf ({ routeOptions: { schema } }: FastifyRequest): string[] {
  const { content } = (schema?.body ?? {}) as { content?: Record<string, unknown> }
  return content === undefined ? [JSON_TYPE] : Object.keys(content)
}

export function unsupportedMediaType (request: FastifyRequest): ServiceError {
  // Many clients set no Content-Type by themselves, and their users would look for the fault in the body.
  const isMissing = (request.headers['content-type'] ?? '') === ''
  return new ServiceError(
    'unsupported_media_type',
    `${isMissing ? 'Content-Type is missing' : 'Unsupported Content-Type'}: this route takes ` +
      mediaTypesOf(request).join(' or '),
  )
}

function bodyTooLarge ({ routeOptions: { bodyLimit, config } }: FastifyRequest): ServiceError {
  const { bodyBound = 'SERVICES_MAX_BODY_BYTES' } = config
  const setting = bodyBound === null ? '' : ` (${bodyBound})`
  return new ServiceError('body_too_large', `Request body is too large: more than ${bodyLimit} bytes${setting}`)
}

/** Translates Fastify's own errors. Its messages can quote the body, so none of them is passed on. */
function fromFastify (error: FastifyError, request: FastifyRequest): ServiceError | undefined {
  if (error.validation !== undefined) return validationError(error.validation)
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(request)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedMediaType(request)
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
      // Every other error below 500 comes from the client: a body that ends early, a bad header and the like.
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? new ServiceError('invalid_request', 'The request could not be read')
        : undefined
  }
}

/** Makes a ServiceError of any error of a request; an unknown one becomes `internal_error`. */
export function toServiceError (error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof Error) {
    const known = fromFastify(error as FastifyError, request)
    if (known !== undefined) return known
  }
  return new ServiceError('internal_error', 'Internal server error', { cause: error })
}

/** Writes the cause of a server fault to the log. */
export function logFailure (error: ServiceError, request: FastifyRequest): void {
  const status = statusOf(error)
  // 501 means that the configured backend lacks a feature, which is not a fault.
  if (status < 500 || status === 501) return
  // Overload is not a fault, and an error line for each refused request would fill the log.
  if (error.code === 'server_busy') {
    request.log.info({ code: error.code }, 'the request was refused for lack of capacity')
    return
  }
  const err = error.cause ?? error
  if (!request.raw.socket.destroyed) {
    // The fault is outside of the gateway, so a stack would only hide the status that the endpoint answered.
    if (err instanceof ModelCallError || err instanceof UnusableGeneration) {
      request.log.error({ code: error.code }, `request failed: ${err.message}`)
    } else request.log.error({ err, code: error.code }, 'request failed')
  } else {
    // Work that is cancelled because its client disconnected also fails, which is not a fault.
    request.log.info(
      { ...(!isAbort(err) && { err }), code: error.code }, 'the client disconnected before the response',
    )
  }
}

function isAbort (error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/**
 * Milliseconds in which a client that still sends its body can read the refusal, as nginx's lingering_timeout. Node
 * discards what it sends.
 */
const LINGER_MS = 5000

/**
 * Lets a client whose body goes on, which may be without an end, read the refusal before its connection ends. Node
 * would close a connection that the client wants closed with the answer, and the client would lose the answer.
 */
function closeUnfinished ({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  // A request that is injected has no connection.
  if (request.complete || !(request.socket instanceof Socket)) return
  const { socket } = request
  const wantsClose = !response.shouldKeepAlive
  response.shouldKeepAlive = true
  response.once('finish', () => {
    const end = () => { if (wantsClose) socket.end() }
    if (request.complete) return end()
    request.once('end', end)
    setTimeout(() => { if (!request.complete) socket.destroy() }, LINGER_MS).unref()
  })
}

/** Sends an error with the body that the API documents. */
export function sendError (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error, request)
  logFailure(known, request)
  // Fastify would close the connection while the client sends, and the client would lose the answer.
  if (known.code === 'body_too_large') reply.removeHeader('connection')
  closeUnfinished(request, reply)
  void reply
    .code(statusOf(known))
    .headers(errorHeaders(known))
    // No hook runs for a URL that the router cannot read, so the id is set here as well.
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(known, request.id))
}
