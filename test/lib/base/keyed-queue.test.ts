import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { KeyedQueue } from '../../../lib/base/keyed-queue.js'
import { gate } from '../../helpers/waiting.js'

const LIMITS = {
  maxWaiting: 1,
  waitMs: 60_000,
  queueFullError: () => new Error('full'),
  timeoutError: () => new Error('too long'),
}

t.test('an aborted wait ends at once, and later tasks still wait for earlier ones', async (t) => {
  const queue = new KeyedQueue()
  const first = gate()
  const order: string[] = []
  const work = (name: string) => async () => { order.push(name) }
  const ahead = queue.run('key', async () => {
    await first.opened
    order.push('ahead')
  })
  const leaving = new AbortController()
  const given = queue.run('key', work('given up'), leaving.signal)
  const behind = queue.run('key', work('behind'))
  leaving.abort(new Error('gone'))
  await t.rejects(given, new Error('gone'))
  t.equal(queue.length('key'), 2)
  await setImmediate()
  t.strictSame(order, [])
  first.open()
  await Promise.all([ahead, behind])
  t.strictSame(order, ['ahead', 'behind'])
  t.equal(queue.length('key'), 0)
})

t.test('a task that has started is not aborted', async (t) => {
  const queue = new KeyedQueue()
  const { opened, open } = gate()
  const leaving = new AbortController()
  const begun = queue.run('key', async () => {
    await opened
    return 'done'
  }, leaving.signal)
  await setImmediate()
  leaving.abort(new Error('gone'))
  const behind = queue.run('key', async () => 'behind')
  await setImmediate()
  open()
  t.equal(await begun, 'done')
  t.equal(await behind, 'behind')
  await t.rejects(queue.run('key', async () => 'never', leaving.signal), new Error('gone'))
})

t.test('a task that waits too long is refused and never begins, and later tasks have their turn', async (t) => {
  const queue = new KeyedQueue({ ...LIMITS, waitMs: 1 })
  const first = gate()
  const did: string[] = []
  const running = queue.run('key', async () => {
    did.push('first begins')
    await first.opened
    did.push('first ends')
  })
  await t.rejects(queue.run('key', async () => { did.push('second') }), new Error('too long'))
  first.open()
  await running
  t.equal(await queue.run('key', async () => 'third'), 'third')
  t.strictSame(did, ['first begins', 'first ends'])
})

t.test('a task is refused while as many of its key wait as may', async (t) => {
  const queue = new KeyedQueue(LIMITS)
  const first = gate()
  const running = queue.run('key', async () => { await first.opened })
  const waiting = queue.run('key', async () => 'waited')
  await t.rejects(queue.run('key', async () => {}), new Error('full'))
  t.equal(await queue.run('other key', async () => 'not affected'), 'not affected')
  first.open()
  await running
  t.equal(await waiting, 'waited')
})

t.test('with a limit on the wait, the caller\'s own signal ends it with its reason', async (t) => {
  const queue = new KeyedQueue(LIMITS)
  const first = gate()
  const running = queue.run('key', async () => { await first.opened })
  const leaving = new AbortController()
  const waiting = queue.run('key', async () => {}, leaving.signal)
  leaving.abort(new Error('left'))
  await t.rejects(waiting, new Error('left'))
  first.open()
  await running
})
