import t from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { Slots } from '../../../lib/models/remote/slots.js'
import { rejection } from '../../helpers/rejection.js'

const NEVER = new AbortController().signal

function slots (count: number): Slots {
  return new Slots({ what: 'endpoint', slots: count, maxWaiting: 10, retryAfterMs: () => 1000 })
}

/** Keeps the event loop from turning, as too much work does. */
function block (milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

t.test('a slot that comes when the time is over goes to the next who has time', async (t) => {
  const one = slots(1)
  const giveBack = await one.take(NEVER, Infinity)
  const late = rejection(Error, one.take(NEVER, 5))
  const patient = one.take(NEVER, 60_000)
  block(6)
  giveBack()
  const error = await late
  t.type(error, ModelCallError)
  t.match(error, { kind: 'overloaded', retryAfterMs: 1000 })
  const giveBackToo = await patient
  t.strictSame([one.taken, one.waiting], [1, 0])
  giveBackToo()
  t.equal(one.taken, 0)
})

t.test('a slot that nobody has time for is free', async (t) => {
  const one = slots(1)
  const giveBack = await one.take(NEVER, Infinity)
  const late = [rejection(Error, one.take(NEVER, 5)), rejection(Error, one.take(NEVER, 5))]
  block(6)
  giveBack()
  for (const error of await Promise.all(late)) t.match(error, { kind: 'overloaded' })
  t.strictSame([one.taken, one.waiting], [0, 0])
  t.type(await one.take(NEVER, 5), Function)
})

t.test('a crowd whose time ends together is refused, each once', async (t) => {
  const one = slots(1)
  await one.take(NEVER, Infinity)
  const errors = await Promise.all(Array.from({ length: 10 }, async () => await rejection(Error, one.take(NEVER, 1))))
  for (const error of errors) t.match(error, { kind: 'overloaded' })
  t.equal(one.waiting, 0)
})
