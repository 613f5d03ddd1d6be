import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode, ServiceError } from '../lib/errors/service-error.js'
import { logFailure, toServiceError } from './error-handling.js'
import { errorBody, errorHeaders, statusOf } from './error-responses.js'

/** JSON-RPC 2.0, section 5.1. Every other code is a refusal by the server, -32000. */
const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_json: -32_700,
  invalid_request: -32_600,
  body_too_large: -32_600,
  unsupported_media_type: -32_600,
  internal_error: -32_603,
}
const REFUSED = -32_000

/**
 * Sends an error of a request whose messages are not read, so that its id is not known.
 * @param headers besides those of the error
 */
export function sendJsonRpcError (
  error: unknown, request: FastifyRequest, reply: FastifyReply,
  headers: (error: ServiceError) => Record<string, string> = () => ({}),
): void {
  const known = toServiceError(error, request)
  logFailure(known, request)
  const { detail, ...data } = errorBody(known, request.id)
  void reply
    .code(statusOf(known))
    .headers({ ...errorHeaders(known), ...headers(known) })
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ jsonrpc: '2.0', id: null, error: { code: CODES[known.code] ?? REFUSED, message: detail, data } })
}
