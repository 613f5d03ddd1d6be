import { unrefTimer, type Schedule } from '../../concurrency/back-off.js'
import type { Flow } from '../../concurrency/flow-tree.js'
import type { RecentCallers } from '../../concurrency/recent-callers.js'
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
/** How long before a piece statements of other callers count as beside it, in milliseconds. */
const RECENT_MS = 1000
/** How long a piece beside other callers is followed by a rest, as a multiple of the time that it took. */
const REST_FACTOR = 2
/** The longest rest, in milliseconds. */
const MAX_REST_MS = 500

interface HeavyWorkOptions {
  /** What the work is, in the plural, for messages. */
  name: string
  /** Its callers are those beside whom a piece rests. Absent: it is as if nobody else used the database. */
  executor?: Pick<Executor, 'status' | 'callers'>
  /** Pieces of work that run at a time. Default: the share of the executor. */
  permits?: number
  /** How long a piece of work waits, in milliseconds. Default 10 seconds. */
  waitMs?: number | undefined
  /** Milliseconds of the clock of the callers. Default: that of the process. */
  timer?: (() => number) | undefined
  /** Ends a rest. Default: timers that do not keep the process alive. */
  schedule?: Schedule | undefined
}

/**
 * One kind of work that occupies the processors of the database, or the event loop with its rows, for so long that the
 * short statements of others would wait behind it. A few pieces run at a time, and callers take turns. It waits before
 * it has a connection, so that the waiting work holds none. While other callers use the database, one piece runs at a
 * time, with a rest after each: otherwise endless heavy work of one caller would take the processors from all others.
 */
export class HeavyWork {
  readonly #permits: Semaphore
  /** For work beside other callers, who would wait longest behind two pieces at once. */
  readonly #single: Semaphore
  readonly #callers: RecentCallers | undefined
  readonly #waitMs: number
  readonly #timer: () => number
  readonly #schedule: Schedule

  constructor ({
    name, executor = {}, permits = shareOf(executor), waitMs = MAX_WAIT_MS, timer = () => performance.now(),
    schedule = unrefTimer,
  }: HeavyWorkOptions) {
    const semaphore = (permits: number) => busySemaphore(name, 'run already, and none ended', { permits, waitMs })
    this.#permits = semaphore(permits)
    this.#single = semaphore(1)
    this.#callers = executor.callers
    this.#waitMs = waitMs
    this.#timer = timer
    this.#schedule = schedule
  }

  /**
   * @param signal ends the wait
   * @throws SqlError `busy` when it waits too long; the reason of the signal; what the work throws
   */
  async run<T> (bank: BankKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const how = { flow: flowOf(bank), signal }
    const waitEndsAt = this.#timer() + this.#waitMs
    return await this.#permits.run(async () => {
      const now = this.#timer()
      if (this.#callers?.hasOthersSince(how.flow, now - RECENT_MS) !== true) return await work()
      return await this.#runAndRest(work, { ...how, waitMs: Math.max(0, Math.round(waitEndsAt - now)) })
    }, how)
  }

  async #runAndRest<T> (
    work: () => Promise<T>, how: { flow: Flow, signal: AbortSignal | undefined, waitMs: number },
  ): Promise<T> {
    const release = await this.#single.acquire(how)
    const startedAt = this.#timer()
    try {
      return await work()
    } finally {
      this.#schedule(release, Math.min(MAX_REST_MS, REST_FACTOR * (this.#timer() - startedAt)))
    }
  }
}

/** A fifth of the connections, at least two; of few connections one is left to others. */
export function shareOf (executor: Pick<Executor, 'status'>): number {
  const size = executor.status?.().size ?? MIN_PERMITS + 1
  return Math.max(1, Math.min(size - 1, Math.max(MIN_PERMITS, Math.floor(size / CONNECTIONS_PER_PERMIT))))
}
