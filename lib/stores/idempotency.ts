/** How long the record of an idempotency key is kept, in milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 86_400_000

/** What a store keeps in the transaction of a write, for a caller who asks again with the same idempotency key. */
export interface IdempotentWrite {
  /** SHA-256 of caller, operation and key, in hex. */
  key: string
  /** Equal for equal requests. */
  requestFingerprint: string
  /** What the answer needs beside the outcome of the write, as JSON. */
  context: string
}

/** What was kept of a write, from which its answer can be made again. */
export interface IdempotencyRecord {
  requestFingerprint: string
  /** As `recordText` made it; `readRecord` reads it. */
  text: string
}

/** The write under this key was done by another request. Nothing was written; its record can be found. */
export class IdempotencyKeyTaken extends Error {
  constructor () {
    super('The work of this idempotency key has been done')
    this.name = 'IdempotencyKeyTaken'
  }
}

/** Releases before this form kept the finished answer, which has no member `form`. */
const FORM = 2

export type KeptResult =
  | { kind: 'outcome', context: unknown, outcome: unknown }
  /** Of an earlier release. */
  | { kind: 'answer', answer: unknown }

/** The text of a record. The context is put in as it is: a batch's is large, and a transaction waits meanwhile. */
export function recordText ({ context }: IdempotentWrite, outcome: unknown): string {
  return `{"form":${FORM},"context":${context},"outcome":${JSON.stringify(outcome)}}`
}

/** @throws Error for a form that a later release has kept */
export function readRecord (text: string): KeptResult {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('form' in value)) return { kind: 'answer', answer: value }
  if (value.form !== FORM || !('context' in value) || !('outcome' in value)) {
    throw new Error(`The record of an idempotency key has the form ${String(value.form)}, which this release does not read`)
  }
  return { kind: 'outcome', context: value.context, outcome: value.outcome }
}
