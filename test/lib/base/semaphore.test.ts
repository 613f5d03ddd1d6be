import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Semaphore, type SemaphoreOptions } from '../../../lib/base/semaphore.js'

/** A wait that is longer than any test. */
function semaphore (more: Partial<SemaphoreOptions> = {}): Semaphore {
  return new Semaphore({
    permits: 2,
    maxWaiting: 3,
    waitMs: 60_000,
    queueFullError: () => new Error('full'),
    timeoutError: (waitMs) => new Error(`late after ${waitMs} ms`),
    ...more,
  })
}

t.test('at most as many callers as permits hold one, and a released permit goes to the next caller', async (t) => {
  const all = semaphore()
  const releases = [await all.acquire(), await all.acquire()]
  let given = false
  const third = all.acquire().then((release) => {
    given = true
    return release
  })
  await nextTurn()
  t.equal(given, false)
  releases[0]!()
  const release = await third
  t.equal(given, true)
  releases[1]!()
  release()
})

t.test('waiters are served in order', async (t) => {
  const all = semaphore({ permits: 1 })
  const order: number[] = []
  const first = await all.acquire()
  const others = [1, 2, 3].map(async (number) => {
    const release = await all.acquire()
    order.push(number)
    release()
  })
  first()
  await Promise.all(others)
  t.same(order, [1, 2, 3])
})

t.test('a caller that arrives later does not overtake waiters', async (t) => {
  const all = semaphore({ permits: 1 })
  const first = await all.acquire()
  const order: string[] = []
  const early = all.acquire().then((release) => { order.push('early'); return release })
  // The permit goes straight from one to the next, so that it is not free in between.
  first()
  const late = all.acquire().then((release) => { order.push('late'); return release })
  const release = await early
  release()
  const last = await late
  last()
  t.same(order, ['early', 'late'])
})

t.test('a caller is refused at once when the queue is full, and the others keep waiting', async (t) => {
  const all = semaphore({ permits: 1, maxWaiting: 1 })
  const first = await all.acquire()
  const second = all.acquire()
  await t.rejects(all.acquire(), { message: 'full' })
  first()
  const release = await second
  release()
  const again = await all.acquire()
  again()
})

t.test('with maxWaiting 0 every caller beyond the permits is refused at once', async (t) => {
  const all = semaphore({ permits: 1, maxWaiting: 0 })
  const release = await all.acquire()
  await t.rejects(all.acquire(), { message: 'full' })
  release()
  const again = await all.acquire()
  again()
})

t.test('a waiter that times out is refused, leaves the queue and takes no permit', async (t) => {
  const all = semaphore({ permits: 1, maxWaiting: 1, waitMs: 1 })
  const release = await all.acquire()
  await t.rejects(all.acquire(), { message: 'late after 1 ms' })
  // Its place in the line is free again: the next waits too and is not refused for the length of the line.
  await t.rejects(all.acquire(), { message: /^late/ })
  release()
  const again = await all.acquire()
  again()
})

t.test('releasing a permit twice frees one permit', async (t) => {
  const all = semaphore({ permits: 1, maxWaiting: 0 })
  const release = await all.acquire()
  release()
  release()
  const held = await all.acquire()
  await t.rejects(all.acquire(), { message: 'full' }, 'the second call has made no second permit')
  release()
  await t.rejects(all.acquire(), { message: 'full' }, 'a late release does not take the permit from its holder')
  held()
})

t.test('releasing a permit twice serves one waiter', async (t) => {
  const all = semaphore({ permits: 1 })
  const release = await all.acquire()
  const second = all.acquire()
  let third = false
  const waiting = all.acquire().then((done) => { third = true; return done })
  release()
  release()
  const held = await second
  await nextTurn()
  t.equal(third, false)
  held()
  const last = await waiting
  last()
})

t.test('close refuses waiting and later callers, and held permits can still be released', async (t) => {
  const all = semaphore({ permits: 1 })
  const release = await all.acquire()
  const waiting = [all.acquire(), all.acquire()]
  all.close(new Error('closed'))
  for (const one of waiting) await t.rejects(one, { message: 'closed' })
  await t.rejects(all.acquire(), { message: 'closed' })
  release()
  await t.rejects(all.acquire(), { message: 'closed' }, 'although a permit is free')
  all.close(new Error('closed'))
})

t.test('an aborted waiter leaves the queue with the reason, and the permit goes to the next', async (t) => {
  const all = semaphore({ permits: 1, maxWaiting: 2 })
  const release = await all.acquire()
  const controller = new AbortController()
  const left = all.acquire({ signal: controller.signal })
  const next = all.acquire()
  const reason = new Error('left')
  controller.abort(reason)
  await t.rejects(left, reason)
  t.equal(all.waiting, 1)
  release()
  const last = await next
  last()
  await t.rejects(all.acquire({ signal: controller.signal }), reason, 'although a permit is free')
  t.equal(all.held, 0)
})

t.test('permits, held and waiting report the state', async (t) => {
  const all = semaphore()
  const counts = () => [all.permits, all.held, all.waiting]
  t.same(counts(), [2, 0, 0])
  const [first] = [await all.acquire(), await all.acquire()]
  const third = all.acquire()
  t.same(counts(), [2, 2, 1])
  first()
  const release = await third
  t.same(counts(), [2, 2, 0])
  release()
  t.same(counts(), [2, 1, 0])
})
