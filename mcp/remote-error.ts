import type { FieldError } from '../lib/errors/service-error.js'

/** The refusal of a server, or the failure to reach it. */
export class RemoteError extends Error {
  /** The code of the server's answer, or one of `connection_lost`, `timed_out` and `unusable_answer`. */
  readonly code: string
  readonly retryAfterSeconds: number | undefined
  /** The id under which the server has logged the request. */
  readonly requestId: string | undefined
  readonly errors: FieldError[] | undefined

  constructor (
    code: string, message: string, { retryAfterSeconds, requestId, errors, cause }: RemoteErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RemoteError'
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
    this.requestId = requestId
    this.errors = errors
  }
}

interface RemoteErrorOptions {
  retryAfterSeconds?: number | undefined
  requestId?: string | undefined
  /** The wrong fields of a request. */
  errors?: FieldError[] | undefined
  cause?: unknown
}
