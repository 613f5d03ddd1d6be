import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { KeyedQueue } from '../../../lib/concurrency/keyed-queue.js'
import { gate } from '../../helpers/waiting.js'

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
