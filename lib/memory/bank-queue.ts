import { atCapacity } from '../errors/service-error.js'
import { bankKeyString, type BankKey } from '../identity/context.js'
import { KeyedQueue } from '../concurrency/keyed-queue.js'

/** Lets one piece of work after the other at a bank, and so many wait for it. */
export class BankQueue {
  readonly #maxWaiting: number
  readonly #queue = new KeyedQueue()

  /** @param maxWaiting how many may wait for one bank; what waits holds its request in memory */
  constructor (maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /**
   * @param signal gives up the wait, not the work
   * @throws ServiceError server_busy when too many wait for this bank already; then nothing is begun
   */
  async inTurn<T> (bank: BankKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = bankKeyString(bank)
    if (this.#queue.length(key) > this.#maxWaiting) throw atCapacity('server_busy', `More than ${this.#maxWaiting} writes wait for this bank; try again`)
    return await this.#queue.run(key, work, signal)
  }
}
