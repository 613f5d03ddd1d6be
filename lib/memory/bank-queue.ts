import { atCapacity } from '../errors/service-error.js'
import { bankKeyString, type BankKey } from '../identity/context.js'
import { KeyedQueue } from '../concurrency/keyed-queue.js'

/** Runs work on a bank one after the other, with a bound on how much may wait. */
export class BankQueue {
  readonly #maxWaiting: number
  readonly #queue = new KeyedQueue()

  /** @param maxWaiting how much work may wait for one bank; each piece holds its request in memory */
  constructor (maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /**
   * @param signal cancels the wait, not work that has begun
   * @throws ServiceError server_busy when too much work waits for this bank already
   */
  async inTurn<T> (bank: BankKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = bankKeyString(bank)
    if (this.#queue.length(key) > this.#maxWaiting) throw atCapacity('server_busy', `More than ${this.#maxWaiting} writes wait for this bank; try again`)
    return await this.#queue.run(key, work, signal)
  }
}
