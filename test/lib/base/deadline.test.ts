import t from 'tap'
import { Deadline, DeadlineExceeded } from '../../../lib/base/deadline.js'
import { rejection } from '../../helpers/rejection.js'

const never = async () => await new Promise<never>(() => {})

t.test('wait resolves or rejects as work that ends in time does', async (t) => {
  const deadline = new Deadline(60_000)
  t.equal(await deadline.wait(Promise.resolve(3)), 3)
  const fault = new Error('broken')
  t.equal(await rejection(Error, deadline.wait(Promise.reject(fault))), fault)
  deadline.end()
})

t.test('wait rejects at the deadline, and the signal is aborted', async (t) => {
  const deadline = new Deadline(1)
  const error = await rejection(Error, deadline.wait(never()))
  t.type(error, DeadlineExceeded)
  t.equal(deadline.signal.reason, error)
  t.type(await rejection(Error, deadline.wait(never())), DeadlineExceeded, 'work that begins later is not run either')
})

t.test("a caller that leaves ends the work with the caller's reason, before or in the middle", async (t) => {
  const reason = new Error('gone')
  const callers = new AbortController()
  const deadline = new Deadline(60_000, { signal: callers.signal })
  const waiting = rejection(Error, deadline.wait(never()))
  callers.abort(reason)
  t.equal(await waiting, reason)
  const late = new Deadline(60_000, { signal: callers.signal })
  t.equal(await rejection(Error, late.wait(never())), reason)
  deadline.end()
  late.end()
})

t.test('leftMs follows the timer and is never negative', async (t) => {
  let now = 1000
  const deadline = new Deadline(500, { timer: () => now })
  t.equal(deadline.remainingMs(), 500)
  now += 200
  t.equal(deadline.remainingMs(), 300)
  now += 5000
  t.equal(deadline.remainingMs(), 0)
  deadline.end()
})

t.test('end removes the listener from the signal of the caller', async (t) => {
  const callers = new AbortController()
  const deadline = new Deadline(60_000, { signal: callers.signal })
  deadline.end()
  callers.abort()
  t.equal(deadline.signal.aborted, false)
})

t.test('a rejection after the deadline is not unhandled', async (t) => {
  let fail: (error: Error) => void = () => {}
  const deadline = new Deadline(1)
  t.type(await rejection(Error, deadline.wait(new Promise((_resolve, reject) => { fail = reject }))), DeadlineExceeded)
  fail(new Error('late'))
  await new Promise<void>((resolve) => { setImmediate(resolve) })
})
