import t from 'tap'
import { ServiceError } from '../../../../lib/errors/service-error.js'
import { connectionSemaphore, poolStatus } from '../../../../lib/stores/sql/connection-semaphore.js'
import { SqlError, toServiceError } from '../../../../lib/stores/sql/executor.js'

t.test('a client learns that the store is busy and when to retry, or that it is unavailable, and nothing else', (t) => {
  const busy = toServiceError(new SqlError('busy', 'All 10 connections are in use'))
  if (!(busy instanceof ServiceError)) throw new Error('not a ServiceError')
  t.equal(busy.code, 'dependency_unavailable')
  t.equal(busy.message, 'The vector store is busy')
  t.equal(busy.retryAfterSeconds, 1)
  for (const kind of ['connection', 'timeout', 'full', 'statement'] as const) {
    const error = toServiceError(new SqlError(kind, 'connect ECONNREFUSED 10.0.0.7:5432'))
    if (!(error instanceof ServiceError)) throw new Error('not a ServiceError')
    t.equal(error.message, 'The vector store is unavailable')
    t.equal(error.retryAfterSeconds, undefined)
    t.type(error.cause, SqlError, 'the cause is for the log')
  }
  const other = new TypeError('mine')
  t.equal(toServiceError(other), other)
  t.end()
})

t.test('a pool reports why it has no free connection, and its size', async (t) => {
  const permits = connectionSemaphore({ permits: 1, maxWaiting: 1, waitMs: 1 })
  await permits.acquire()
  const waiting = permits.acquire()
  await t.rejects(permits.acquire(), {
    name: 'SqlError', kind: 'busy', message: '1 callers wait for one of 1 connections',
  })
  t.same(poolStatus(permits), { size: 1, inUse: 1, waiting: 1 })
  await t.rejects(waiting, {
    name: 'SqlError', kind: 'busy', message: '1 connections are in use, and none came free within 1 ms',
  })
})
