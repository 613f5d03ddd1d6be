import { atCapacity } from '../errors/service-error.js'
import { bankKeyString, type BankKey } from '../identity/context.js'
import { KeyedQueue } from '../concurrency/keyed-queue.js'

/** How long a call waits: while it does, it holds its request in memory. */
const MAX_WAIT_MS = 5 * 60_000

/** Serializes work on each bank, with bounds on the work that waits. */
export class BankQueue {
  readonly #maxWaiting: number
  readonly #maxWaitMs: number
  readonly #queue = new KeyedQueue()

  /** @param maxWaiting maximum number of waiting calls for one bank; each holds its request in memory */
  constructor (maxWaiting: number, maxWaitMs = MAX_WAIT_MS) {
    this.#maxWaiting = maxWaiting
    this.#maxWaitMs = maxWaitMs
  }

  /**
   * @param signal cancels the wait, but not work that has begun
   * @throws ServiceError server_busy when the queue of the bank is full, or the wait takes too long
   */
  async inTurn<T> (bank: BankKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = bankKeyString(bank)
    if (this.#queue.length(key) > this.#maxWaiting) {
      throw atCapacity('server_busy', `More than ${this.#maxWaiting} writes wait for this bank; try again`)
    }
    return await this.#queue.run(key, work, signal, {
      waitMs: this.#maxWaitMs,
      expired: () => atCapacity('server_busy', 'Other writes to this bank take too long; try again'),
    })
  }
}
