import type { ErrorBody, ErrorCode } from './types.js'

/** Codes of errors that the client itself detects. */
export type ClientErrorCode =
  /** The connection failed, or it was closed before the answer was complete. */
  | 'connection_lost'
  /** No complete answer arrived within `timeoutMs`. */
  | 'timed_out'
  /** The answer is not one of the gateway: a proxy's page, a truncated document, other JSON, or over 10 MiB. */
  | 'unusable_answer'

/** A newer gateway may send a code that this client does not know. */
export type MemoryGatewayErrorCode = ErrorCode | ClientErrorCode | (string & {})

export interface MemoryGatewayErrorOptions {
  status?: number | undefined
  requestId?: string | undefined
  retryAfter?: number | undefined
  body?: Partial<ErrorBody> | undefined
  cause?: unknown
}

/** Every failure of a call, except an abort by the caller's own `signal`, whose reason is thrown unchanged. */
export class MemoryGatewayError extends Error {
  /** What went wrong, for programs. */
  readonly code: MemoryGatewayErrorCode
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined
  /** The id of the request in the gateway's log. */
  readonly requestId: string | undefined
  /** Seconds after which the same request may succeed, if the gateway states them. */
  readonly retryAfter: number | undefined
  /** The whole body of the error, which may list invalid fields in `errors`; undefined without a JSON body. */
  readonly body: Partial<ErrorBody> | undefined

  constructor (code: MemoryGatewayErrorCode, message: string, options: MemoryGatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'MemoryGatewayError'
    this.code = code
    this.status = options.status
    this.requestId = options.requestId
    this.retryAfter = options.retryAfter
    this.body = options.body
  }
}

/** The error for an answer with a status other than 2xx. */
export async function errorOf (response: Response, now: () => number): Promise<MemoryGatewayError> {
  const { status, headers } = response
  const body = parseObject(await readText(response) ?? '')
  const { code, detail, request_id: bodyRequestId } = body ?? {}
  return new MemoryGatewayError(
    typeof code === 'string' ? code : 'unusable_answer',
    typeof detail === 'string' ? detail : `The answer has status ${status} and does not come from the gateway`,
    {
      status,
      body,
      requestId: headers.get('x-request-id') ?? (typeof bodyRequestId === 'string' ? bodyRequestId : undefined),
      retryAfter: retryAfterOf(headers.get('retry-after'), body, now),
    },
  )
}

/** The error that an event of a stream reports. */
export function errorOfEvent (body: Partial<ErrorBody>): MemoryGatewayError {
  const { code = 'unusable_answer', detail = 'The stream failed' } = body
  const { request_id: requestId, retry_after_seconds: retryAfter } = body
  return new MemoryGatewayError(code, detail, { body, requestId, retryAfter })
}

/** The longest answer that a gateway can be configured to give, exports and streams apart. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024

/** @returns the text of the body; undefined as soon as it is longer than any answer of a gateway */
export async function readText ({ body }: Response): Promise<string | undefined> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MAX_ANSWER_BYTES) {
      // Closes the connection, of which the rest is not read.
      void reader.cancel().catch(() => {})
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** A JSON object; undefined when the text is anything else. */
export function parseObject (text: string): Partial<ErrorBody> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The seconds to wait. Browsers hide the header from pages of another origin, so the body contains the value too. */
function retryAfterOf (
  header: string | null, body: Partial<ErrorBody> | undefined, now: () => number,
): number | undefined {
  const seconds = header === null || header === '' ? Number.NaN : Number(header)
  const found = Number.isNaN(seconds) ? (Date.parse(header ?? '') - now()) / 1000 : seconds
  if (Number.isFinite(found)) return Math.max(0, found)
  const inBody = body?.retry_after_seconds
  return typeof inBody === 'number' && inBody >= 0 ? inBody : undefined
}
