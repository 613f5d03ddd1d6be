import { createHash } from 'node:crypto'
import type { Clock } from '../time/clock.js'
import { ServiceError } from '../errors/service-error.js'
import { bankKeyString, callerOf, type BankKey, type RequestContext } from '../identity/context.js'
import {
  IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, readRecord, type IdempotencyRecord, type IdempotentWrite,
  type VectorStore,
} from '../stores/vector-store.js'
import { AnswerCache } from './answer-cache.js'

const MAX_KEY_CHARACTERS = 255
/** The space is a printable character. */
const KEY = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_CHARACTERS}}$`)

/** The form of a caller's key. */
export const IDEMPOTENCY_KEY_IN_WORDS = `1 to ${MAX_KEY_CHARACTERS} printable ASCII characters`

export function isIdempotencyKey (text: string): boolean {
  return KEY.test(text)
}

/** How a caller marks a repeat of the same request. */
export interface IdempotencyKey {
  key: string
  /** Method and path: the same key with another operation is a different key. */
  operation: string
  /** Equal for equal bodies. */
  fingerprint: string
  /** Called when the answer is a replay. */
  onReplay?: () => void
}

/** The part of an idempotent write that is known before its context. */
export type KeyedWrite = Omit<IdempotentWrite, 'context'>

/**
 * The data from which the answer of a write is built. Both parts are plain data: a store keeps them as JSON, and a
 * repeated request is answered from them.
 */
export interface WriteResult<Context, Outcome> {
  /** Known before the write. */
  context: Context
  /** What the store's write returned. */
  outcome: Outcome
}

interface IdempotentAnswer<Answer> {
  answer: Answer
  isReplayed: boolean
}

/**
 * Replays answers by idempotency key for 24 hours. A store with `findIdempotencyRecord` keeps the data of the answer in
 * the transaction of the write, for all processes and across restarts; with any other store the answers last as long as
 * this process.
 */
export class IdempotencyService {
  readonly #clock: Clock
  readonly #store: Pick<VectorStore, 'findIdempotencyRecord'>
  readonly #inFlight = new Map<string, string>()
  readonly #answers = new AnswerCache()

  constructor (clock: Clock, store: Pick<VectorStore, 'findIdempotencyRecord'> = {}) {
    this.#clock = clock
    this.#store = store
  }

  /**
   * Does the work once for each key of a caller, an operation and a bank. Only a successful result is kept; after a
   * failure the key is free again.
   * @param toAnswer builds the answer from a result, for the first request and for each repeat
   * @param work passes its argument, if any, to the store's write
   * @throws ServiceError idempotency_key_reused for another body, idempotency_key_in_flight while the first request is
   * in progress
   */
  async runOnce<Context, Outcome, Answer> (
    idempotency: IdempotencyKey | undefined,
    context: RequestContext,
    bank: BankKey,
    toAnswer: (result: WriteResult<Context, Outcome>) => Answer,
    work: (keyed?: KeyedWrite) => Promise<WriteResult<Context, Outcome>>,
  ): Promise<Answer> {
    if (idempotency === undefined) return toAnswer(await work())
    const { fingerprint, onReplay } = idempotency
    const id = idOf(idempotency, context, bank)
    const caller = callerOf(context)
    const kept = this.#answers.get(caller, id)
    if (kept !== undefined && this.#clock() - kept.cachedAt < IDEMPOTENCY_LIFETIME_MS) {
      requireSameBody(kept.fingerprint, fingerprint)
      onReplay?.()
      return JSON.parse(kept.answer) as Answer
    }
    const running = this.#inFlight.get(id)
    if (running !== undefined) {
      requireSameBody(running, fingerprint)
      throw new ServiceError(
        'idempotency_key_in_flight', 'A request with this idempotency key is still being worked on',
      )
    }
    this.#inFlight.set(id, fingerprint)
    try {
      const { answer, isReplayed } = await this.#runWithRecord(id, idempotency, bank, toAnswer, work)
      // A replayed answer is not cached, because only the store knows its age.
      if (isReplayed) onReplay?.()
      else this.#answers.set(caller, id, { fingerprint, answer: JSON.stringify(answer), cachedAt: this.#clock() })
      return answer
    } finally {
      this.#inFlight.delete(id)
    }
  }

  async #runWithRecord<Context, Outcome, Answer> (
    id: string,
    { fingerprint }: IdempotencyKey,
    bank: BankKey,
    toAnswer: (result: WriteResult<Context, Outcome>) => Answer,
    work: (keyed?: KeyedWrite) => Promise<WriteResult<Context, Outcome>>,
  ): Promise<IdempotentAnswer<Answer>> {
    if (this.#store.findIdempotencyRecord === undefined) return { answer: toAnswer(await work()), isReplayed: false }
    const key = createHash('sha256').update(id).digest('hex')
    const find = async () => await this.#store.findIdempotencyRecord!(bank, key, this.#clock())
    const earlier = await find()
    if (earlier !== undefined) return replay(earlier, fingerprint, toAnswer)
    try {
      return { answer: toAnswer(await work({ key, requestFingerprint: fingerprint })), isReplayed: false }
    } catch (error) {
      // Another process has made the same write meanwhile.
      const first = error instanceof IdempotencyKeyTaken ? await find() : undefined
      if (first === undefined) throw error
      return replay(first, fingerprint, toAnswer)
    }
  }
}

/** The idempotency record of a write; undefined for a request without a key. */
export function idempotentWrite (keyed: KeyedWrite | undefined, context: unknown): IdempotentWrite | undefined {
  return keyed === undefined ? undefined : { ...keyed, context: JSON.stringify(context) }
}

/** A key belongs to its tenant, principals, operation and bank. */
function idOf (
  { operation, key }: IdempotencyKey, { tenantId, principal, onBehalfOf }: RequestContext, bank: BankKey,
): string {
  return JSON.stringify([tenantId, principal ?? null, onBehalfOf ?? null, operation, bankKeyString(bank), key])
}

/** The record has the answer type of this operation, because its key includes the operation. */
function replay<Context, Outcome, Answer> (
  { requestFingerprint, text }: IdempotencyRecord, fingerprint: string,
  toAnswer: (result: WriteResult<Context, Outcome>) => Answer,
): IdempotentAnswer<Answer> {
  requireSameBody(requestFingerprint, fingerprint)
  const { context, outcome } = readRecord(text)
  return { answer: toAnswer({ context: context as Context, outcome: outcome as Outcome }), isReplayed: true }
}

function requireSameBody (known: string, given: string): void {
  if (known !== given) {
    throw new ServiceError('idempotency_key_reused', 'This idempotency key was used with another body')
  }
}

/** Whether an error only reports that the write itself was committed before, so that it counts in quotas. */
export function isCommitted (error: unknown): boolean {
  return error instanceof IdempotencyKeyTaken && error.isOwn
}
