import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../time/clock.js'
import { ServiceError } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import { guarded } from '../retrieval/retriever.js'
import { RECEIPT_LIFETIME_MS, ReceiptTaken, type KeptReceipt, type Receipt, type VectorStore } from '../stores/vector-store.js'

/** Answers kept at a time, in characters of JSON. Beyond it the oldest are given up before their 24 hours are over. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** How a caller marks a repeat of the same request. */
export interface IdempotencyKey {
  key: string
  /** Method and path: a key on another operation is another key. */
  operation: string
  /** Equal for equal bodies. */
  fingerprint: string
  /** Called when the answer is an earlier one. */
  onReplay?: () => void
}

/** Makes of what turns a store's outcome into the answer the receipt that the store keeps with the work; nothing when it keeps none. */
export type KeepReceipt<T> = <Outcome>(answer: (outcome: Outcome) => T) => Receipt<Outcome> | undefined

interface Kept {
  fingerprint: string
  answer: string
  keptAt: number
}

/**
 * Answers by idempotency key, for 24 hours: a repeat gets the first answer again and does no work. A store that takes receipts keeps
 * them in the transaction of the work, for every process and over restarts; with another they live as long as this process.
 */
export class IdempotencyLedger {
  readonly #clock: Clock
  readonly #store: Pick<VectorStore, 'findReceipt'>
  readonly #inFlight = new Map<string, string>()
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ answer }, key) => answer.length + key.length + 128,
  })

  constructor (clock: Clock, store: Pick<VectorStore, 'findReceipt'> = {}) {
    this.#clock = clock
    this.#store = store
  }

  /**
   * Does the work once a key. Only the answer of work that succeeds is kept; after a failure the key is free again.
   * @param work hands the receipt, if there is one, to the store's write
   * @throws ServiceError idempotency_key_reused for another body, idempotency_key_in_flight while the first is not done
   */
  async once<T> (idempotency: IdempotencyKey | undefined, context: RequestContext, work: (keep: KeepReceipt<T>) => Promise<T>): Promise<T> {
    if (idempotency === undefined) return await work(() => undefined)
    const { fingerprint, onReplay } = idempotency
    const id = JSON.stringify([context.tenantId, context.principal ?? null, context.onBehalfOf ?? null, idempotency.operation, idempotency.key])
    const kept = this.#kept.get(id)
    if (kept !== undefined && this.#clock() - kept.keptAt < RECEIPT_LIFETIME_MS) {
      requireSame(kept.fingerprint, fingerprint)
      onReplay?.()
      return JSON.parse(kept.answer) as T
    }
    const running = this.#inFlight.get(id)
    if (running !== undefined) {
      requireSame(running, fingerprint)
      throw new ServiceError('idempotency_key_in_flight', 'A request with this Idempotency-Key is still being worked on')
    }
    this.#inFlight.set(id, fingerprint)
    try {
      const { answer, replayed } = await this.#durably(id, idempotency, context, work)
      // A replayed one is older than now, by how much the store knows.
      if (!replayed) this.#kept.set(id, { fingerprint, answer: JSON.stringify(answer), keptAt: this.#clock() })
      return answer
    } finally {
      this.#inFlight.delete(id)
    }
  }

  async #durably<T> (id: string, { fingerprint, onReplay }: IdempotencyKey, context: RequestContext, work: (keep: KeepReceipt<T>) => Promise<T>): Promise<{ answer: T, replayed: boolean }> {
    if (this.#store.findReceipt === undefined) return { answer: await work(() => undefined), replayed: false }
    const key = createHash('sha256').update(id).digest('hex')
    const find = async (): Promise<KeptReceipt | undefined> => await guarded(async () => await this.#store.findReceipt!(context.tenantId, key, this.#clock()))
    const replay = (receipt: KeptReceipt): { answer: T, replayed: boolean } => {
      requireSame(receipt.requestFingerprint, fingerprint)
      onReplay?.()
      return { answer: JSON.parse(receipt.answer) as T, replayed: true }
    }
    const earlier = await find()
    if (earlier !== undefined) return replay(earlier)
    try {
      const answer = await work((toAnswer) => ({ key, requestFingerprint: fingerprint, answer: (outcome) => JSON.stringify(toAnswer(outcome)) }))
      return { answer, replayed: false }
    } catch (error) {
      // Another process has worked on the same request meanwhile.
      const first = error instanceof ReceiptTaken ? await find() : undefined
      if (first === undefined) throw error
      return replay(first)
    }
  }
}

function requireSame (known: string, given: string): void {
  if (known !== given) throw new ServiceError('idempotency_key_reused', 'This Idempotency-Key was used with another body')
}
