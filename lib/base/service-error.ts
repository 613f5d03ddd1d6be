/**
 * Every error code and its meaning. No other codes exist. Codes are stable, so that clients can rely on them.
 * http/error-responses.ts gives each code its HTTP status, and what HTTP adds to its meaning.
 */
export const ERROR_CODES = {
  invalid_request: 'The request is malformed or breaks a documented limit; `errors` names the fields.',
  invalid_json: 'The body is not valid JSON.',
  unauthenticated: 'Credentials are missing, wrong or expired.',
  access_denied: 'The caller is authenticated but may not do this on this bank.',
  host_not_allowed: 'The server does not serve the host that the request names, or not at this address; `detail` ' +
    'names the setting.',
  not_found: 'No such route, memory, bank or source.',
  method_not_allowed: 'The path exists with other methods.',
  idempotency_key_reused: 'The idempotency key was used before with another body.',
  idempotency_key_in_flight: 'A request with this idempotency key is still being worked on.',
  message_conflict: 'The conversation has another message under the id of one of these; nothing was stored.',
  conflict: 'Other changes of the same resource were made in the meantime; read it and try again.',
  place_taken: 'Another memory that is current has the key, or the same content; `memory_ids` names it.',
  higher_trust: 'A memory of higher trust than the caller\'s would be changed or superseded.',
  not_current: 'The memory is superseded or retired; restore it before it is changed.',
  configuration_invalid: 'The configuration file has problems and was not applied; `problems` lists them.',
  restart_required: 'The configuration file has changes that need a restart and was not applied; `restart_required` ' +
    'lists them.',
  precondition_failed: 'The precondition of the request does not hold for what is in force.',
  body_too_large: 'The body is longer, deeper or has more elements or lines than the server accepts; `detail` ' +
    'names the limit.',
  answer_too_large: 'The answer would be larger than the server allows (`bounds.answer_bytes`); request less.',
  unsupported_media_type: 'The route does not accept the form in which the body was sent.',
  rate_limited: 'A per-minute limit is used up; retry after `retry_after_seconds`.',
  quota_exceeded: 'A daily quota is used up; `retry_after_seconds` counts to midnight UTC.',
  overloaded: 'Too many requests wait for a model; retry after `retry_after_seconds`.',
  too_many_requests: 'The caller has as many requests in flight as the server allows ' +
    '(`bounds.requests_per_caller`).',
  too_many_streams: 'The caller has as many exports and event streams open as the server allows ' +
    '(`bounds.streams_per_caller`).',
  misconfigured: 'The server lacks a setting that the selected auth mode requires; `detail` names it.',
  internal_error: 'An unexpected fault. The log has its cause under the same request id.',
  not_supported: 'The configured backend cannot do this.',
  model_output_invalid: 'A model returned an unusable answer.',
  deadline_exceeded: 'The answer was not ready within `timeout_ms` or the limit of the server.',
  server_busy: 'The server is at capacity; retry after `retry_after_seconds`.',
  dependency_unavailable: 'The vector store or a model is down or did not answer in time.',
  identity_provider_unavailable: 'No signing key of the identity provider is available.',
  shutting_down: 'The server is stopping; send the request to another instance.',
} as const satisfies Record<string, string>

export type ErrorCode = keyof typeof ERROR_CODES

export interface FieldError {
  /** The field as the client wrote it, for instance `items[3].tags`. */
  field: string
  message: string
}

/** Members of an error's body besides `detail`, `code` and `request_id`. */
export interface ErrorMembers {
  memory_ids?: string[]
  errors?: FieldError[]
  /** What is wrong with a configuration file, one sentence for each problem. */
  problems?: string[]
  /** Paths of a configuration file. */
  changed?: string[]
  restart_required?: string[]
}

export interface ErrorOptions {
  members?: ErrorMembers
  /** Seconds after which a retry can succeed. */
  retryAfterSeconds?: number | undefined
  /** The underlying error. It is logged and never sent. */
  cause?: unknown
}

/** The error type of all modules. `detail` is sent to the client unchanged. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly members: ErrorMembers
  readonly retryAfterSeconds: number | undefined

  constructor (code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.detail = detail
    this.members = options.members ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The time until a retry, in whole seconds and at least one. */
export function retryAfter (milliseconds: number): { retryAfterSeconds: number } {
  return { retryAfterSeconds: Math.max(1, Math.ceil(milliseconds / 1000)) }
}

/** Capacity is released as soon as other work ends, so a retry after one second makes sense. */
const CAPACITY_RETRY_MS = 1000

/** The error of a request for which the server has no capacity now. */
export function atCapacity (
  code: 'server_busy' | 'too_many_requests' | 'too_many_streams', detail: string, cause?: unknown,
): ServiceError {
  return new ServiceError(code, detail, { ...retryAfter(CAPACITY_RETRY_MS), cause })
}

/** `invalid_request` with an entry for each wrong field. @param errors at least one */
export function invalidRequest (errors: FieldError[]): ServiceError {
  const detail = errors.map(({ field, message }) => field === '' ? message : `${field}: ${message}`).join('; ')
  return new ServiceError('invalid_request', detail, { members: { errors } })
}

/** `invalid_request` for one field. */
export function invalidField (field: string, message: string): ServiceError {
  return invalidRequest([{ field, message }])
}
