import type { Flow } from '../../concurrency/flow-tree.js'
import { Semaphore } from '../../concurrency/semaphore.js'
import { storeBusyError } from '../unavailable.js'

/** Statistics of banks with at most this many memories do not wait: they have at most 30,000 tags. */
const SMALL_BANK = 300
/** As for statistics with PostgreSQL, in milliseconds. */
const MAX_WAIT_MS = 10_000

/** @param memories of the bank */
type RunStatistics = <T>(memories: number, flow: Flow, work: () => Promise<T>) => Promise<T>

/**
 * Lets the statistics of one large bank be collected at a time: those of a million different tags use 30 MB until they
 * have ended, so that those of a few requests together would exceed the heap. Callers take turns.
 */
export function statisticsQueue (): RunStatistics {
  const permits = new Semaphore({
    permits: 1,
    waitMs: MAX_WAIT_MS,
    timeoutError: (waitMs) => storeBusyError(new Error(`the statistics of another bank took more than ${waitMs} ms`)),
  })
  return async (memories, flow, work) => await (memories > SMALL_BANK ? permits.run(work, { flow }) : work())
}
