/**
 * Every error that the service answers with: one closed table of codes. A code is the stable word a client
 * programs against, its status the HTTP status that the one error mapper gives it.
 */
export const ERROR_CODES = {
  invalid_request: { status: 400, meaning: 'The request is malformed or breaks a documented limit; `errors` names the fields.' },
  invalid_json: { status: 400, meaning: 'The body is not valid JSON.' },
  unauthenticated: { status: 401, meaning: 'Credentials are missing, wrong or expired.' },
  access_denied: { status: 403, meaning: 'The caller is known and may not do this on this bank.' },
  host_not_allowed: { status: 403, meaning: 'The server is not asked under this host name in dev mode (SERVICES_ALLOWED_HOSTS).' },
  not_found: { status: 404, meaning: 'No such route, memory, bank or source.' },
  method_not_allowed: { status: 405, meaning: 'The path exists with other methods; `Allow` lists them.' },
  idempotency_key_reused: { status: 409, meaning: 'The Idempotency-Key was used before with another body.' },
  idempotency_key_in_flight: { status: 409, meaning: 'A request with this Idempotency-Key is still being worked on.' },
  conflict: { status: 409, meaning: 'Other changes of the same thing came between; read it and try again.' },
  configuration_invalid: { status: 409, meaning: 'The configuration file has problems and was not taken over; `problems` names each.' },
  restart_required: { status: 409, meaning: 'The configuration file was changed in what only a start reads, and was not taken over; `restart_required` names it.' },
  precondition_failed: { status: 412, meaning: 'The `If-Match` of the request names another state than the one in force.' },
  body_too_large: { status: 413, meaning: 'The body is longer, deeper or has more elements or lines than the server takes; `detail` names the bound.' },
  answer_too_large: { status: 413, meaning: 'The answer would be larger than the server gives (`bounds.answer_bytes`); ask for less.' },
  unsupported_media_type: { status: 415, meaning: 'The route does not take this Content-Type.' },
  rate_limited: { status: 429, meaning: 'A per-minute limit is used up; `retry_after_seconds` says when to come back.' },
  quota_exceeded: { status: 429, meaning: 'A daily quota is used up; `retry_after_seconds` counts to midnight UTC.' },
  overloaded: { status: 429, meaning: 'Too many requests wait for a model; `retry_after_seconds` says when to come back.' },
  too_many_streams: { status: 429, meaning: 'The caller has as many exports and event streams open as the server gives one caller (`bounds.streams_per_caller`).' },
  misconfigured: { status: 500, meaning: 'The server lacks a setting that the selected auth mode needs; `detail` names it.' },
  internal_error: { status: 500, meaning: 'An unexpected fault. The log has its cause under the same request id.' },
  not_supported: { status: 501, meaning: 'The configured backend cannot do this.' },
  model_output_invalid: { status: 502, meaning: 'A model answered unusably.' },
  deadline_exceeded: { status: 503, meaning: 'The answer was not there within `timeout_ms`, or the most that the server allows.' },
  server_busy: { status: 503, meaning: 'The server has as much work as it has room for; `retry_after_seconds` says when to come back.' },
  dependency_unavailable: { status: 503, meaning: 'The vector store or a model is down or did not answer in time.' },
  identity_provider_unavailable: { status: 503, meaning: 'No signing key of the identity provider can be had.' },
  shutting_down: { status: 503, meaning: 'The server is stopping; send the request to another instance.' },
} as const satisfies Record<string, { status: number, meaning: string }>

export type ErrorCode = keyof typeof ERROR_CODES

export interface FieldError {
  /** The field as the client wrote it, for instance `items[3].tags`. */
  field: string
  message: string
}

/** Members that stand beside `detail`, `code` and `request_id` in an error answer. */
export interface ErrorMembers {
  errors?: FieldError[]
  retry_after_seconds?: number
  /** What is wrong with a configuration file, a sentence each. */
  problems?: string[]
  /** Paths of a configuration file. */
  changed?: string[]
  restart_required?: string[]
}

export interface ErrorOptions {
  members?: ErrorMembers
  /** HTTP headers that belong to the answer, such as `WWW-Authenticate`. */
  headers?: Record<string, string>
  /** What went wrong underneath; it is logged and never sent. */
  cause?: unknown
}

/** The one error type that crosses a room's border. `detail` is sent to the client as it stands. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly members: ErrorMembers
  readonly headers: Record<string, string>

  constructor (code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.detail = detail
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
  }

  get status (): number {
    return ERROR_CODES[this.code].status
  }
}

/** What tells a client when to come back: whole seconds, at least one, in the body and as `Retry-After`. */
export function comeBackIn (milliseconds: number): { members: { retry_after_seconds: number }, headers: { 'retry-after': string } } {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000))
  return { members: { retry_after_seconds: seconds }, headers: { 'retry-after': String(seconds) } }
}

/** When who was turned away for want of room is asked to come back, in milliseconds. */
const COME_BACK_MS = 1000

/** For want of room, which there may soon be again. Where there is none, no connection is kept for later either. */
export function noRoom (code: 'server_busy' | 'too_many_streams', detail: string, cause?: unknown): ServiceError {
  const { members, headers } = comeBackIn(COME_BACK_MS)
  return new ServiceError(code, detail, { members, headers: { ...headers, connection: 'close' }, cause })
}

/** 400 with one entry per wrong field. @param errors at least one */
export function invalidRequest (errors: FieldError[]): ServiceError {
  const detail = errors.map((error) => error.field === '' ? error.message : `${error.field}: ${error.message}`).join('; ')
  return new ServiceError('invalid_request', detail, { members: { errors } })
}

/** 400 for one field. */
export function invalidField (field: string, message: string): ServiceError {
  return invalidRequest([{ field, message }])
}
