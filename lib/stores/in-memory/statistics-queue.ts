import { Semaphore } from '../../concurrency/semaphore.js'
import { flowOf, type BankKey } from '../../identity/context.js'

/** Statistics of banks with at most this many memories do not wait: they have at most 30,000 tags. */
const SMALL_BANK = 300
/** As for statistics with PostgreSQL, in milliseconds. */
const MAX_WAIT_MS = 10_000

const busy = (): Error => new Error(`the statistics of another bank took more than ${MAX_WAIT_MS} ms`)

/**
 * Lets the statistics of one large bank be collected at a time: those of a million different tags use 30 MB until they
 * have ended, so that those of a few requests together would exceed the heap. Callers take turns.
 */
export class StatisticsQueue {
  readonly #permits = new Semaphore({
    permits: 1, maxWaiting: Infinity, waitMs: MAX_WAIT_MS, queueFullError: busy, timeoutError: busy,
  })

  /**
   * @param memories of the bank; undefined when there is no bank
   * @throws Error when the work waits too long
   */
  async run<T> (bank: BankKey, memories: number | undefined, work: () => Promise<T>): Promise<T> {
    if (memories === undefined || memories <= SMALL_BANK) return await work()
    const release = await this.#permits.acquire({ flow: flowOf(bank) })
    try {
      return await work()
    } finally {
      release()
    }
  }
}
