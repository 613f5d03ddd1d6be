import type { Semaphore } from '../../concurrency/semaphore.js'
import { flowOf, type BankKey } from '../../identity/context.js'
import { busySemaphore } from './connection-semaphore.js'
import type { Executor } from './executor.js'

const MIN_PERMITS = 2
const CONNECTIONS_PER_PERMIT = 5
/** How long heavy work waits for its turn, in milliseconds. */
const MAX_WAIT_MS = 10_000
/** How long a piece waits for others that may take seconds each, in milliseconds. */
export const LONG_WAIT_MS = 60_000

interface HeavyWorkOptions {
  /** What the work is, in the plural, for messages. */
  name: string
  /** Pieces of work that run at a time. */
  permits: number
  /** How long a piece of work waits, in milliseconds. Default 10 seconds. */
  waitMs?: number | undefined
}

/**
 * One kind of work that occupies the processors of the database, or the event loop with its rows, for so long that the
 * short statements of others would wait behind it. A few pieces run at a time, and callers take turns. It waits before
 * it has a connection, so that the waiting work holds none.
 */
export class HeavyWork {
  readonly #permits: Semaphore

  constructor ({ name, permits, waitMs = MAX_WAIT_MS }: HeavyWorkOptions) {
    this.#permits = busySemaphore(name, 'run already, and none ended', {
      permits, maxWaiting: Infinity, waitMs,
    })
  }

  /**
   * @param signal ends the wait
   * @throws SqlError `busy` when it waits too long; the reason of the signal; what the work throws
   */
  async run<T> (bank: BankKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.#permits.acquire({ flow: flowOf(bank), signal })
    try {
      return await work()
    } finally {
      release()
    }
  }
}

/** A fifth of the connections, at least two; of few connections one is left to others. */
export function shareOf (executor: Pick<Executor, 'status'>): number {
  const size = executor.status?.().size ?? MIN_PERMITS + 1
  return Math.max(1, Math.min(size - 1, Math.max(MIN_PERMITS, Math.floor(size / CONNECTIONS_PER_PERMIT))))
}
