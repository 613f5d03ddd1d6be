import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.js'
import { ServiceError } from '../errors.js'
import type { RequestContext } from '../identity/context.js'

const DAY = 86_400_000
/** Answers kept at a time, in bytes of JSON. Beyond it the oldest are given up before their 24 hours are over. */
const MAX_BYTES = 64 * 1024 * 1024

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

interface Kept {
  fingerprint: string
  answer: string
  keptAt: number
}

/** Answers by idempotency key, for 24 hours: a repeat gets the first answer again and does no work. */
export class IdempotencyLedger {
  readonly #clock: Clock
  readonly #inFlight = new Map<string, string>()
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }, key) => answer.length + key.length + 128,
  })

  constructor (clock: Clock) {
    this.#clock = clock
  }

  /**
   * Does the work once a key. Only the answer of work that succeeds is kept; after a failure the key is free again.
   * @throws ServiceError idempotency_key_reused for another body, idempotency_key_in_flight while the first is not done
   */
  async once<T> (idempotency: IdempotencyKey | undefined, context: RequestContext, work: () => Promise<T>): Promise<T> {
    if (idempotency === undefined) return await work()
    const { fingerprint, onReplay } = idempotency
    const id = JSON.stringify([context.tenantId, context.principal ?? null, context.onBehalfOf ?? null, idempotency.operation, idempotency.key])
    const kept = this.#kept.get(id)
    if (kept !== undefined && this.#clock() - kept.keptAt < DAY) {
      requireSame(kept.fingerprint, fingerprint)
      onReplay?.()
      return JSON.parse(kept.answer) as T
    }
    const running = this.#inFlight.get(id)
    if (running !== undefined) {
      requireSame(running, fingerprint)
      throw new ServiceError('idempotency_key_in_flight', 'A request with this Idempotency-Key is still being worked on', { headers: { 'retry-after': '1' } })
    }
    this.#inFlight.set(id, fingerprint)
    try {
      const answer = await work()
      this.#kept.set(id, { fingerprint, answer: JSON.stringify(answer), keptAt: this.#clock() })
      return answer
    } finally {
      this.#inFlight.delete(id)
    }
  }
}

function requireSame (known: string, given: string): void {
  if (known !== given) throw new ServiceError('idempotency_key_reused', 'This Idempotency-Key was used with another body')
}
