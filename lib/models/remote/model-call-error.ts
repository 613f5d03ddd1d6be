/**
 * What became of a call to a model:
 * - `timeout`: no answer in time
 * - `unreachable`: no connection, one that broke, or an answer 408, 409 or 5xx
 * - `rejected`: the endpoint refuses this request and would refuse it again (any other status)
 * - `rate_limited`: 429
 * - `unusable`: an answer that is not what the protocol says
 * - `overloaded`: too many calls wait here already
 * - `circuit_open`: the endpoint failed too often a moment ago, so it was not asked
 */
export type ModelCallKind = 'timeout' | 'unreachable' | 'rejected' | 'rate_limited' | 'unusable' | 'overloaded' | 'circuit_open'

export interface ModelCallDetails {
  /** HTTP status of the answer. */
  status?: number
  /** Milliseconds after which the endpoint wants to be asked again, or after which it makes sense. */
  retryAfterMs?: number
  /** The caller left it less time or fewer tokens than such a call may take, so that no answer tells nothing. */
  cutShort?: boolean
}

const RETRIED: ReadonlySet<ModelCallKind> = new Set<ModelCallKind>(['timeout', 'unreachable', 'rate_limited'])
const FAULTS: ReadonlySet<ModelCallKind> = new Set<ModelCallKind>(['timeout', 'unreachable', 'unusable'])

/**
 * A call to a model that failed. It has no cause and no word of the endpoint: errors of HTTP clients carry headers and bodies, and
 * with them keys and memories, which must not come into a log.
 */
export class ModelCallError extends Error {
  readonly kind: ModelCallKind
  readonly status?: number
  readonly retryAfterMs?: number
  readonly cutShort?: true

  constructor (kind: ModelCallKind, message: string, { status, retryAfterMs, cutShort = false }: ModelCallDetails = {}) {
    super(message)
    this.name = 'ModelCallError'
    this.kind = kind
    if (cutShort) this.cutShort = true
    if (status !== undefined) this.status = status
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }

  /** Whether the same request may fare better a moment later. */
  get isRetryable (): boolean {
    return RETRIED.has(this.kind)
  }

  /**
   * Whether it tells against the endpoint as a whole. A refused key (401, 403) does, for it fails every call; a request that is
   * refused for what it holds does not, nor does 429, which comes from an endpoint in good health, nor an answer for which the caller
   * did not wait.
   */
  get isFault (): boolean {
    return (FAULTS.has(this.kind) && this.cutShort !== true) || this.status === 401 || this.status === 403
  }
}
