import t from 'tap'
import { Semaphore } from '../../../lib/base/semaphore.js'
import { rejection } from '../../helpers/rejection.js'

function semaphore (permits: number): Semaphore {
  return new Semaphore({
    permits,
    maxWaiting: 10,
    queueFullError: () => new Error('full'),
    timeoutError: (waitMs) => new Error(`late after ${waitMs} ms`),
  })
}

/** Blocks the event loop for some time. */
function block (milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

t.test('a released permit skips waiters that have timed out', async (t) => {
  const one = semaphore(1)
  const release = await one.acquire({ waitMs: Infinity })
  const late = rejection(Error, one.acquire({ waitMs: 5 }))
  const patient = one.acquire({ waitMs: 60_000 })
  block(6)
  release()
  t.match(await late, { message: 'late after 5 ms' })
  const releaseToo = await patient
  t.strictSame([one.held, one.waiting], [1, 0])
  releaseToo()
  t.equal(one.held, 0)
})

t.test('a permit is free when all waiters have timed out', async (t) => {
  const one = semaphore(1)
  const release = await one.acquire({ waitMs: Infinity })
  const late = [rejection(Error, one.acquire({ waitMs: 5 })), rejection(Error, one.acquire({ waitMs: 5 }))]
  block(6)
  release()
  for (const error of await Promise.all(late)) t.match(error, { message: /^late/ })
  t.strictSame([one.held, one.waiting], [0, 0])
  t.type(await one.acquire({ waitMs: 5 }), Function)
})

t.test('many waiters that time out together are each refused once', async (t) => {
  const one = semaphore(1)
  await one.acquire({ waitMs: Infinity })
  const errors = await Promise.all(Array.from({ length: 10 }, async () => (
    await rejection(Error, one.acquire({ waitMs: 1 }))
  )))
  for (const error of errors) t.match(error, { message: /^late/ })
  t.equal(one.waiting, 0)
})
