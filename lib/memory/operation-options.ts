import type { Precondition } from './entity-tags.js'
import type { IdempotencyKey } from './idempotency.js'

/** Options of the operations of MemoryService. Each operation takes those that have an effect on it. */
export interface OperationOptions {
  /** Marks repeats of a write, which get the answer of the first. */
  readonly idempotency?: IdempotencyKey | undefined
  /**
   * Cancels the operation, for instance when the client has disconnected: it rejects with the signal's reason. A write
   * that has begun is not cancelled; one that has not begun changes nothing.
   */
  readonly signal?: AbortSignal | undefined
  /** The version of a bank's configuration that a change of it requires. */
  readonly precondition?: Precondition | undefined
}

/** Options of an operation that searches. */
export type SearchOptions = Pick<OperationOptions, 'signal'>

/** Options of an operation that stores memories. */
export type RetainOptions = Pick<OperationOptions, 'idempotency' | 'signal'>
