import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { invalidRequest, ServiceError, type FieldError } from '../lib/errors.js'

/** Fields named in one answer; a body of a thousand wrong items is told about its first twenty. */
const MAX_FIELD_ERRORS = 20

/** The body of every answer from 400 up. */
export function errorBody (error: ServiceError, requestId: string): Record<string, unknown> {
  return { detail: error.detail, code: error.code, request_id: requestId, ...error.members }
}

/** What Fastify itself throws, in our words: its texts can quote the body, so none of them is passed on. */
function fromFastify (error: FastifyError): ServiceError | undefined {
  if (error.validation !== undefined) return invalidRequest(fieldErrors(error.validation))
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError('body_too_large', 'Request body is too large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError('unsupported_media_type', 'Unsupported Content-Type')
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

export function toServiceError (error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof Error) {
    const known = fromFastify(error as FastifyError)
    if (known !== undefined) return known
  }
  return new ServiceError('internal_error', 'Internal server error', { cause: error })
}

function fieldErrors (validation: FastifySchemaValidationError[]): FieldError[] {
  const seen = new Map<string, FieldError>()
  for (const problem of validation) {
    const error = fieldError(problem)
    // One wrong field often breaks several rules; the first says enough.
    if (!seen.has(error.field)) seen.set(error.field, error)
  }
  return [...seen.values()].slice(0, MAX_FIELD_ERRORS)
}

function fieldError (problem: FastifySchemaValidationError): FieldError {
  const at = fieldPath(problem.instancePath)
  const below = (name: unknown) => at === '' ? String(name) : `${at}.${String(name)}`
  switch (problem.keyword) {
    case 'required':
      return { field: below(problem.params['missingProperty']), message: 'is required' }
    case 'additionalProperties':
      return { field: below(problem.params['additionalProperty']), message: 'is not a known field' }
    case 'enum':
      return { field: at, message: `must be one of ${(problem.params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}` }
    case 'const':
      return { field: at, message: `must be ${JSON.stringify(problem.params['allowedValue'])}` }
    default:
      return { field: at, message: problem.message ?? 'is invalid' }
  }
}

/** `/items/3/tags` becomes `items[3].tags`. */
function fieldPath (pointer: string): string {
  return pointer.split('/').slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => /^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)
    .join('')
}

/** Sends an error in the contract's shape; the log gets the cause of a fault of ours. */
export function sendError (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error)
  if (known.status >= 500) {
    request.log.error({ err: known.cause ?? known, code: known.code }, 'request failed')
  }
  void reply
    .code(known.status)
    .headers(known.headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(known, request.id))
}

/** The one error mapper and the 404 handler. */
async function errors (app: FastifyInstance): Promise<void> {
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => {
    sendError(new ServiceError('not_found', 'No such route'), request, reply)
  })
}

export default fp(errors, { name: 'errors', fastify: '5.x' })
