/**
 * Why a call to a model failed:
 * - `timeout`: no answer in time
 * - `unreachable`: no connection, a broken one, or an answer with status 408, 409 or 5xx
 * - `rejected`: the endpoint refuses this request and would refuse it again (any other status)
 * - `rate_limited`: 429
 * - `unusable`: an answer that violates the protocol
 * - `overloaded`: too many calls wait in this process
 * - `circuit_open`: the circuit breaker is open, so the endpoint was not called
 */
export type ModelCallKind = (
  'timeout' | 'unreachable' | 'rejected' | 'rate_limited' | 'unusable' | 'overloaded' | 'circuit_open'
)

export interface ModelCallDetails {
  /** HTTP status of the answer. */
  status?: number
  /** Milliseconds after which a further call makes sense. */
  retryAfterMs?: number | undefined
  /** The caller allowed less time or fewer tokens than such a call may take, so the failure does not count. */
  cutShort?: boolean
}

const RETRIED: ReadonlySet<ModelCallKind> = new Set<ModelCallKind>(['timeout', 'unreachable', 'rate_limited'])
const FAULTS: ReadonlySet<ModelCallKind> = new Set<ModelCallKind>(['timeout', 'unreachable', 'unusable'])

/**
 * A failed call to a model. It has no cause and no text of the endpoint, because errors of HTTP clients contain headers
 * and bodies, and with them keys and memories, which must not be logged.
 */
export class ModelCallError extends Error {
  readonly kind: ModelCallKind
  readonly status?: number
  readonly retryAfterMs?: number
  readonly cutShort?: true

  constructor (
    kind: ModelCallKind, message: string, { status, retryAfterMs, cutShort = false }: ModelCallDetails = {},
  ) {
    super(message)
    this.name = 'ModelCallError'
    this.kind = kind
    if (cutShort) this.cutShort = true
    if (status !== undefined) this.status = status
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }

  /** Whether the endpoint says that it cannot work now, whatever the request. */
  get isUnavailable (): boolean {
    return this.status === 503
  }

  /** Whether the same request may succeed later. */
  get isRetryable (): boolean {
    return RETRIED.has(this.kind)
  }

  /**
   * Whether the failure counts against the endpoint. A refused key (401, 403) does, because it fails every call. A
   * request that is refused for its content does not, nor does 429, which a healthy endpoint sends, nor a call whose
   * caller did not wait long enough.
   */
  get isFault (): boolean {
    return (FAULTS.has(this.kind) && this.cutShort !== true) || this.status === 401 || this.status === 403
  }
}
