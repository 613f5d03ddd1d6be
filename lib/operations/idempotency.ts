import { createHash } from 'node:crypto'
import stringify from 'safe-stable-stringify'
import { bankKeyString, callerOf, type BankKey, type RequestContext } from '../access/context.js'
import type { Clock } from '../base/clock.js'
import { giveWay, isDue } from '../base/event-loop.js'
import { isJsonObject } from '../base/json-object.js'
import { ServiceError } from '../base/service-error.js'
import {
  IDEMPOTENCY_LIFETIME_MS, IdempotencyKeyTaken, readRecord, type IdempotentWrite, type VectorStore,
} from '../stores/vector-store.js'

const MAX_KEY_CHARACTERS = 255
/** The space is a printable character. */
const KEY = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_CHARACTERS}}$`)

/** Maximum characters of the answers that this process keeps, about 32 MB. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024
/** About what an entry takes besides its answer. */
const ENTRY_CHARACTERS = 512
/** Bytes of an import that are hashed at a time. */
const CHUNK_BYTES = 1024 * 1024

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

interface KeptAnswer {
  fingerprint: string
  answer: string
  /** Milliseconds. */
  keptAt: number
}

/** The answers of one caller, the oldest first. */
interface KeptAnswers {
  readonly answers: Map<string, KeptAnswer>
  characters: number
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
  /** Of a store without `findIdempotencyRecord`, by caller. */
  readonly #kept = new Map<string, KeptAnswers>()
  #characters = 0

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
    const kept = this.#kept.get(caller)?.answers.get(id)
    if (kept !== undefined && this.#clock() - kept.keptAt < IDEMPOTENCY_LIFETIME_MS) {
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
      if (this.#store.findIdempotencyRecord !== undefined) {
        return await this.#runWithRecord(id, idempotency, bank, toAnswer, work)
      }
      const answer = toAnswer(await work())
      this.#keep(caller, id, { fingerprint, answer: JSON.stringify(answer), keptAt: this.#clock() })
      return answer
    } finally {
      this.#inFlight.delete(id)
    }
  }

  /** Beyond the maximum the callers with most lose their oldest answers, so that none makes others lose theirs. */
  #keep (caller: string, id: string, answer: KeptAnswer): void {
    this.#drop(caller, id)
    const own = this.#kept.get(caller) ?? { answers: new Map<string, KeptAnswer>(), characters: 0 }
    this.#kept.set(caller, own)
    own.answers.set(id, answer)
    own.characters += sizeOf(id, answer)
    this.#characters += sizeOf(id, answer)
    while (this.#characters > MAX_KEPT_CHARACTERS) {
      let most = caller
      for (const [other, { characters }] of this.#kept) {
        if (characters > (this.#kept.get(most)?.characters ?? 0)) most = other
      }
      const [oldest] = this.#kept.get(most)!.answers.keys()
      this.#drop(most, oldest!)
    }
  }

  #drop (caller: string, id: string): void {
    const own = this.#kept.get(caller)
    const answer = own?.answers.get(id)
    if (own === undefined || answer === undefined) return
    own.answers.delete(id)
    own.characters -= sizeOf(id, answer)
    this.#characters -= sizeOf(id, answer)
    if (own.answers.size === 0) this.#kept.delete(caller)
  }

  async #runWithRecord<Context, Outcome, Answer> (
    id: string,
    { fingerprint, onReplay }: IdempotencyKey,
    bank: BankKey,
    toAnswer: (result: WriteResult<Context, Outcome>) => Answer,
    work: (keyed?: KeyedWrite) => Promise<WriteResult<Context, Outcome>>,
  ): Promise<Answer> {
    const key = createHash('sha256').update(id).digest('hex')
    /** The record has the answer type of this operation, because its key includes the operation. */
    const replayed = async (): Promise<{ answer: Answer } | undefined> => {
      const record = await this.#store.findIdempotencyRecord!(bank, key, this.#clock())
      if (record === undefined) return undefined
      requireSameBody(record.requestFingerprint, fingerprint)
      const kept = readRecord(record.text)
      onReplay?.()
      return { answer: toAnswer({ context: kept.context as Context, outcome: kept.outcome as Outcome }) }
    }
    const earlier = await replayed()
    if (earlier !== undefined) return earlier.answer
    try {
      return toAnswer(await work({ key, requestFingerprint: fingerprint }))
    } catch (error) {
      // Another process has made the same write meanwhile.
      const first = error instanceof IdempotencyKeyTaken ? await replayed() : undefined
      if (first === undefined) throw error
      return first.answer
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

function sizeOf (id: string, { answer }: KeptAnswer): number {
  return ENTRY_CHARACTERS + id.length + answer.length
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

/**
 * SHA-256 in hexadecimal of a request, equal for bodies that are equal as JSON values. A large body is hashed in parts,
 * so that others get their turns.
 * @param body a JSON value, or the bytes of an import
 */
export async function requestFingerprint (query: unknown, body: unknown): Promise<string> {
  const hash = createHash('sha256').update(`${jsonOf(query)}\n`)
  const add = async (part: string | Uint8Array): Promise<void> => {
    if (isDue()) await giveWay()
    hash.update(part)
  }
  if (body instanceof Uint8Array) {
    for (let at = 0; at < body.length; at += CHUNK_BYTES) await add(body.subarray(at, at + CHUNK_BYTES))
  } else if (isJsonObject(body)) {
    for (const name of Object.keys(body).sort()) {
      const value = body[name]
      if (value === undefined) continue
      await add(`${JSON.stringify(name)}${Array.isArray(value) ? '[' : ':'}`)
      for (const part of Array.isArray(value) ? value : [value]) await add(`${jsonOf(part)},`)
    }
  } else {
    await add(jsonOf(body))
  }
  return hash.digest('hex')
}

/** With sorted members; null for a value that is not JSON. */
function jsonOf (value: unknown): string {
  return stringify(value) ?? 'null'
}
