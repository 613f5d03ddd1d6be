import { ERROR_CODES, ServiceError, type ErrorCode } from '../lib/base/service-error.js'

interface ErrorResponse {
  status: number
  /** Headers of every response with this code. */
  headers?: Readonly<Record<string, string>>
  /** What HTTP adds to the meaning of the code, for the documents. */
  note?: string
}

/** The header with the key of a request that is to be executed once. */
const KEY_NOTE = 'The key is that of the header `Idempotency-Key`.'

/** Closes the connection of a client that should retry later or on another instance. */
const CLOSE = { connection: 'close' }

/** The only table that maps error codes to HTTP. */
export const ERROR_RESPONSES: Readonly<Record<ErrorCode, ErrorResponse>> = {
  invalid_request: { status: 400 },
  invalid_json: { status: 400 },
  unauthenticated: { status: 401 },
  access_denied: { status: 403 },
  host_not_allowed: {
    status: 403,
    headers: CLOSE,
    note: 'The Host header must be in `SERVICES_ALLOWED_HOSTS` in dev mode, and in `mcp.allowed_hosts` at `/mcp`; ' +
      'dev mode inside another app answers on loopback addresses only.',
  },
  not_found: { status: 404 },
  method_not_allowed: { status: 405, note: 'The header `Allow` lists them.' },
  idempotency_key_reused: { status: 409, note: KEY_NOTE },
  idempotency_key_in_flight: { status: 409, headers: { 'retry-after': '1' }, note: KEY_NOTE },
  message_conflict: { status: 409 },
  conflict: { status: 409 },
  place_taken: { status: 409 },
  higher_trust: { status: 409 },
  not_current: { status: 409 },
  configuration_invalid: { status: 409 },
  restart_required: { status: 409 },
  precondition_failed: { status: 412, note: 'The precondition is its `If-Match` or `If-None-Match`.' },
  body_too_large: { status: 413 },
  answer_too_large: { status: 413 },
  unsupported_media_type: {
    status: 415, note: 'That is its Content-Type, its charset or its Content-Encoding.',
  },
  rate_limited: { status: 429 },
  quota_exceeded: { status: 429 },
  overloaded: { status: 429 },
  too_many_requests: { status: 429, headers: CLOSE },
  too_many_streams: { status: 429, headers: CLOSE },
  misconfigured: { status: 500 },
  internal_error: { status: 500 },
  not_supported: { status: 501 },
  model_output_invalid: { status: 502 },
  deadline_exceeded: { status: 503 },
  server_busy: { status: 503, headers: CLOSE },
  dependency_unavailable: { status: 503 },
  identity_provider_unavailable: { status: 503 },
  shutting_down: { status: 503, headers: { ...CLOSE, 'retry-after': '1' } },
}

/** The meaning of a code for a client of the HTTP API. */
export function meaningOf (code: ErrorCode): string {
  const { note } = ERROR_RESPONSES[code]
  return note === undefined ? ERROR_CODES[code] : `${ERROR_CODES[code]} ${note}`
}

/** An error with headers that only the HTTP layer knows, such as `Allow` or `WWW-Authenticate`. */
export class HttpError extends ServiceError {
  readonly headers: Readonly<Record<string, string>>

  constructor (code: ErrorCode, detail: string, headers: Readonly<Record<string, string>>) {
    super(code, detail)
    this.headers = headers
  }
}

export function statusOf (error: ServiceError): number {
  return ERROR_RESPONSES[error.code].status
}

/** The headers of the response to an error, without those that every response has. */
export function errorHeaders (error: ServiceError): Record<string, string> {
  const headers = { ...ERROR_RESPONSES[error.code].headers }
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
  return error instanceof HttpError ? { ...headers, ...error.headers } : headers
}

/** The body of every response with a status of 400 or higher. */
export function errorBody (error: ServiceError, requestId: string): Record<string, unknown> {
  const { detail, code, members, retryAfterSeconds } = error
  return { detail, code, request_id: requestId, ...members, retry_after_seconds: retryAfterSeconds }
}
