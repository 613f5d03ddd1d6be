import t from 'tap'
import { connectionSemaphore, poolStatus } from '../../../../lib/stores/sql/executor.js'

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
