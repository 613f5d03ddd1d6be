import {
  ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type CallToolResult,
} from '@modelcontextprotocol/server'
import { ServiceError, type FieldError } from '../lib/base/service-error.js'
import { MemoryGatewayError } from '../packages/client/src/index.js'

/** JSON-RPC leaves this code to servers (section 5.1): the request is valid but refused. */
const REFUSED = -32_000

/** Why a call was refused, in the form that a model gets. */
interface Refusal {
  code: string
  message: string
  /** Seconds after which a retry can succeed. */
  retry_after_seconds?: number | undefined
  errors?: FieldError[] | undefined
  request_id?: string | undefined
}

/** Turns errors of operations into refusals. An unknown error tells the model only that it happened. */
export class Refusals {
  readonly #requestId: string | undefined
  readonly #report: (error: unknown, signal: AbortSignal) => void

  /** @param report gets every error, and the signal of the request; it decides which of them are faults */
  constructor (requestId: string | undefined, report: (error: unknown, signal: AbortSignal) => void) {
    this.#requestId = requestId
    this.#report = report
  }

  of (error: unknown, signal: AbortSignal): Refusal {
    this.#report(error, signal)
    const requestId = error instanceof MemoryGatewayError ? error.requestId : this.#requestId
    return { ...described(error), request_id: requestId }
  }

  /** The result of a tool that was refused: the model reads it, so that it can correct itself or wait. */
  asToolResult (error: unknown, signal: AbortSignal): CallToolResult {
    return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: this.of(error, signal) }) }] }
  }

  /** The error of a resource or a prompt, whose results cannot be errors. */
  asProtocolError (error: unknown, signal: AbortSignal, uri?: string): ProtocolError {
    if (error instanceof ProtocolError) return error
    const { message, ...data } = this.of(error, signal)
    if (data.code === 'not_found' && uri !== undefined) return new ResourceNotFoundError(uri)
    const isInvalid = data.code === 'invalid_request'
    return new ProtocolError(isInvalid ? ProtocolErrorCode.InvalidParams : REFUSED, message, data)
  }
}

function described (error: unknown): Refusal {
  if (error instanceof ServiceError) {
    const { code, detail, members: { errors }, retryAfterSeconds } = error
    return { code, message: detail, retry_after_seconds: retryAfterSeconds, errors }
  }
  if (error instanceof MemoryGatewayError) {
    const { code, message, retryAfter, body } = error
    return { code, message, retry_after_seconds: retryAfter, errors: body?.errors }
  }
  return { code: 'internal_error', message: 'Internal server error' }
}
