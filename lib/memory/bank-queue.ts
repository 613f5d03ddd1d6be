import { atCapacity } from '../errors/service-error.js'
import { bankKeyString, type BankKey } from '../identity/context.js'
import { KeyedQueue } from '../concurrency/keyed-queue.js'

/** Serializes work on each bank, with a bound on the work that waits. */
export class BankQueue {
  readonly #maxWaiting: number
  readonly #queue = new KeyedQueue()

  /** @param maxWaiting maximum number of waiting calls for one bank; each holds its request in memory */
  constructor (maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /**
   * @param signal cancels the wait, but not work that has begun
   * @throws ServiceError server_busy when the queue of the bank is full
   */
  async inTurn<T> (bank: BankKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = bankKeyString(bank)
    if (this.#queue.length(key) > this.#maxWaiting) {
      throw atCapacity('server_busy', `More than ${this.#maxWaiting} writes wait for this bank; try again`)
    }
    return await this.#queue.run(key, work, signal)
  }
}
