import { Semaphore, type SemaphoreOptions } from '../../concurrency/semaphore.js'
import type { PoolStatus } from '../vector-store.js'
import { SqlError } from './executor.js'

type Limits = Pick<SemaphoreOptions, 'permits' | 'maxWaiting'> & { waitMs: number }

/** A permit for each connection. */
export function connectionSemaphore (limits: Limits): Semaphore {
  return busySemaphore('connections', 'are in use, and none came free', limits)
}

/**
 * A caller that would wait too long, or behind too many others, is refused, so that callers do not queue without bound.
 * @param resource what there is a permit for, in the plural
 * @param holdersDid what those whose permits are held did while the caller waited
 */
export function busySemaphore (resource: string, holdersDid: string, options: Limits): Semaphore {
  const { permits, maxWaiting } = options
  return new Semaphore({
    ...options,
    queueFullError: () => new SqlError('busy', `${maxWaiting} callers wait for one of ${permits} ${resource}`),
    timeoutError: (waitMs) => new SqlError('busy', `${permits} ${resource} ${holdersDid} within ${waitMs} ms`),
  })
}

export function poolStatus ({ permits, held, waiting }: Semaphore): PoolStatus {
  return { size: permits, inUse: held, waiting }
}

export function closedError (): SqlError {
  return new SqlError('connection', 'The store is closed')
}
