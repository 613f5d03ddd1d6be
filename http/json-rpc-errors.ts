import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../lib/errors/service-error.js'
import { logFailure, sendError, toServiceError } from './error-handling.js'
import { errorBody, errorHeaders, statusOf } from './error-responses.js'

/** The faults of a message that cannot be read, with their codes of JSON-RPC 2.0 (section 5.1). */
const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_json: -32_700,
  invalid_request: -32_600,
  body_too_large: -32_600,
  unsupported_media_type: -32_600,
  internal_error: -32_603,
}

/**
 * Sends the error of a request that the JSON-RPC handler did not answer. For a fault of the message it is a JSON-RPC
 * error, without an id, because the message was not read. Other refusals, such as of credentials, have the format of
 * all other routes.
 */
export function sendJsonRpcError (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error, request)
  const code = CODES[known.code]
  if (code === undefined) {
    sendError(known, request, reply)
    return
  }
  logFailure(known, request)
  const { detail, ...data } = errorBody(known, request.id)
  void reply
    .code(statusOf(known))
    .headers(errorHeaders(known))
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ jsonrpc: '2.0', id: null, error: { code, message: detail, data } })
}
