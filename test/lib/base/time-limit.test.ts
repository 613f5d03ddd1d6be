import t from 'tap'
import { DeadlineExceeded, withTimeLimit } from '../../../lib/base/deadline.js'

const never = async () => await new Promise<never>(() => {})

t.test('withTimeLimit returns the result of work that ends in time', async (t) => {
  t.equal(await withTimeLimit(10_000, undefined, async () => 'done'), 'done')
})

t.test('withTimeLimit rejects with the error of the work', async (t) => {
  await t.rejects(withTimeLimit(10_000, undefined, async () => { throw new Error('broken') }), new Error('broken'))
  await t.rejects(withTimeLimit(10_000, undefined, () => { throw new Error('at once') }), new Error('at once'))
})

t.test('withTimeLimit rejects when the time is over, and the signal has the reason', async (t) => {
  let seen: AbortSignal | undefined
  const late = withTimeLimit(1, undefined, async (signal) => { seen = signal; return await never() })
  await t.rejects(late, new DeadlineExceeded(1))
  t.equal(seen!.aborted, true)
  t.ok(seen!.reason instanceof DeadlineExceeded)
})

t.test('withTimeLimit rejects with the reason of the caller\'s signal', async (t) => {
  const caller = new AbortController()
  let seen: AbortSignal | undefined
  const left = withTimeLimit(10_000, caller.signal, async (signal) => { seen = signal; return await never() })
  caller.abort(new Error('hung up'))
  await t.rejects(left, new Error('hung up'))
  t.equal(seen!.aborted, true)
})

t.test('work does not start when the caller\'s signal is aborted already', async (t) => {
  let begun = false
  await t.rejects(
    withTimeLimit(10_000, AbortSignal.abort(new Error('gone')), async () => { begun = true }), new Error('gone'),
  )
  t.equal(begun, false)
})

t.test('a rejection after the time is over is not unhandled', async (t) => {
  let fail: (error: Error) => void = () => {}
  await t.rejects(
    withTimeLimit(1, undefined, async () => await new Promise((_resolve, reject) => { fail = reject })),
    new DeadlineExceeded(1),
  )
  fail(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
})

t.test('neither timer nor listener remains', async (t) => {
  const caller = new AbortController()
  let listeners = 0
  const { signal } = caller
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...parameters: Parameters<typeof add>) => { listeners++; add(...parameters) }
  signal.removeEventListener = (...parameters: Parameters<typeof remove>) => { listeners--; remove(...parameters) }
  // A timer of an hour would keep the process, and so this test, from ending.
  await withTimeLimit(3_600_000, signal, async () => 'done')
  await t.rejects(withTimeLimit(3_600_000, signal, async () => { throw new Error('broken') }))
  t.equal(listeners, 0)
})
