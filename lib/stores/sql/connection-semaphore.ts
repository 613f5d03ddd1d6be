import { Semaphore, type SemaphoreOptions } from '../../concurrency/semaphore.js'
import type { PoolStatus } from '../vector-store.js'
import { SqlError } from './executor.js'

/**
 * A permit for each connection. A caller that would wait too long, or behind too many others, is refused, so that
 * callers do not queue without bound.
 */
export function connectionSemaphore (options: Required<Pick<SemaphoreOptions, 'permits' | 'maxWaiting' | 'waitMs'>>): Semaphore {
  const { permits, maxWaiting } = options
  return new Semaphore({
    ...options,
    full: () => new SqlError('busy', `${maxWaiting} callers wait for one of ${permits} connections`),
    late: (waitMs) => new SqlError('busy', `None of the ${permits} connections came free within ${waitMs} ms`),
  })
}

export function poolStatus ({ permits, held, waiting }: Semaphore): PoolStatus {
  return { size: permits, inUse: held, waiting }
}

export function closedError (): SqlError {
  return new SqlError('connection', 'The store is closed')
}
