import { DAY_MS } from '../time/days.js'

/** How long the record of an idempotency key is kept, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = DAY_MS

/** What a store records in the transaction of a write, for a caller who repeats the request with the same key. */
export interface IdempotentWrite {
  /** SHA-256 of caller, operation and key, in hex. */
  readonly key: string
  /** Equal for equal requests. */
  readonly requestFingerprint: string
  /** The data that the response needs in addition to the outcome of the write, as JSON. */
  readonly context: string
}

/** The record of a write, from which its response can be rebuilt. */
export interface IdempotencyRecord {
  readonly requestFingerprint: string
  /** Written by `recordText`, parsed by `readRecord`. */
  readonly text: string
}

/** A request has used this key for its write. Nothing more was written; the record of the key can be looked up. */
export class IdempotencyKeyTaken extends Error {
  /** Whether the request is this one, of which a first attempt lost its connection and had been committed. */
  readonly isOwn: boolean

  constructor ({ isOwn = false } = {}) {
    super('The work of this idempotency key has been done')
    this.name = 'IdempotencyKeyTaken'
    this.isOwn = isOwn
  }
}

/** Releases before this form stored the finished response, which has no property `form`. */
const RECORD_VERSION = 2

type StoredResult =
  | { readonly kind: 'outcome', readonly context: unknown, readonly outcome: unknown }
  /** From an earlier release. */
  | { readonly kind: 'answer', readonly answer: unknown }

/**
 * The text of a record. The context is inserted unparsed: that of a batch is large, and a transaction is open
 * meanwhile.
 */
export function recordText ({ context }: IdempotentWrite, outcome: unknown): string {
  return `{"form":${RECORD_VERSION},"context":${context},"outcome":${JSON.stringify(outcome)}}`
}

/** @throws Error for a form that a later release wrote */
export function readRecord (text: string): StoredResult {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('form' in value)) return { kind: 'answer', answer: value }
  if (value.form !== RECORD_VERSION || !('context' in value) || !('outcome' in value)) {
    throw new Error(`The record of an idempotency key has the form ${String(value.form)}, which this release ` +
      'does not read')
  }
  return { kind: 'outcome', context: value.context, outcome: value.outcome }
}
