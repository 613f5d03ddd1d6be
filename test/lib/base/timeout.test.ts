import t from 'tap'
import { TIMED_OUT, withTimeout } from '../../../lib/base/deadline.js'

t.test('withTimeout resolves or rejects as work that ends in time does', async (t) => {
  t.equal(await withTimeout(Promise.resolve(7), 60_000), 7)
  const fault = new Error('fault')
  await t.rejects(withTimeout(Promise.reject(fault), 60_000), fault)
  t.equal(await withTimeout(Promise.resolve(7), Infinity), 7)
})

t.test('withTimeout returns TIMED_OUT when the time is over, and a later rejection is not unhandled', async (t) => {
  let fail!: (error: Error) => void
  const work = new Promise<number>((_resolve, reject) => { fail = reject })
  t.equal(await withTimeout(work, 1), TIMED_OUT)
  fail(new Error('late'))
  await t.rejects(work)
})
