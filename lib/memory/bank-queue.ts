import { comeBackIn, ServiceError } from '../errors.js'
import { bankKeyString, type BankKey } from '../identity/context.js'

/** When a client that was turned away is asked to come back, in milliseconds. */
const COME_BACK_MS = 1000

interface Line {
  last: Promise<void>
  /** How many are in it, the one that works included. */
  length: number
}

/** Lets one piece of work after the other at a bank, in the order in which they came. */
export class BankQueue {
  readonly #maxWaiting: number
  readonly #lines = new Map<string, Line>()

  /** @param maxWaiting how many may wait for one bank; what waits holds its request in memory */
  constructor (maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** @throws ServiceError server_busy when too many wait for this bank already; then nothing is begun */
  async inTurn<T> (bank: BankKey, work: () => Promise<T>): Promise<T> {
    const key = bankKeyString(bank)
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 }
    if (line.length > this.#maxWaiting) {
      throw new ServiceError('server_busy', `More than ${this.#maxWaiting} writes wait for this bank; try again`, comeBackIn(COME_BACK_MS))
    }
    this.#lines.set(key, line)
    line.length++
    const mine = line.last.then(work)
    line.last = mine.then(() => {}, () => {})
    try {
      return await mine
    } finally {
      if (--line.length === 0) this.#lines.delete(key)
    }
  }
}
