import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { ServiceError } from '../../../../lib/errors/service-error.js'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { Slots, toServiceError, type SlotOptions } from '../../../../lib/stores/sql/slots.js'

/** Waits long enough that no test reaches its end by it. */
function slots (more: Partial<SlotOptions> = {}): Slots {
  return new Slots({ slots: 2, maxWaiting: 3, waitMs: 60_000, ...more })
}

t.test('as many hold a slot at a time as there are, and the next gets one when one is given back', async (t) => {
  const all = slots()
  const releases = [await all.take(), await all.take()]
  let given = false
  const third = all.take().then((release) => {
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

t.test('those that wait are served in the order in which they came', async (t) => {
  const all = slots({ slots: 1 })
  const order: number[] = []
  const first = await all.take()
  const others = [1, 2, 3].map(async (number) => {
    const release = await all.take()
    order.push(number)
    release()
  })
  first()
  await Promise.all(others)
  t.same(order, [1, 2, 3])
})

t.test('one that comes while others wait does not pass them', async (t) => {
  const all = slots({ slots: 1 })
  const first = await all.take()
  const order: string[] = []
  const early = all.take().then((release) => { order.push('early'); return release })
  // The slot goes straight from one to the next, so that it is not free in between.
  first()
  const late = all.take().then((release) => { order.push('late'); return release })
  const release = await early
  release()
  const last = await late
  last()
  t.same(order, ['early', 'late'])
})

t.test('one more than may wait is refused at once, and the others go on waiting', async (t) => {
  const all = slots({ slots: 1, maxWaiting: 1 })
  const first = await all.take()
  const second = all.take()
  await t.rejects(all.take(), { name: 'SqlError', kind: 'busy', message: 'All 1 connections are in use and 1 callers wait' })
  first()
  const release = await second
  release()
  const again = await all.take()
  again()
})

t.test('with nobody allowed to wait every caller beyond the slots is refused at once', async (t) => {
  const all = slots({ slots: 1, maxWaiting: 0 })
  const release = await all.take()
  await t.rejects(all.take(), { name: 'SqlError', kind: 'busy' })
  release()
  const again = await all.take()
  again()
})

t.test('one that waits too long is refused, leaves the line, and takes nothing with it', async (t) => {
  const all = slots({ slots: 1, maxWaiting: 1, waitMs: 1 })
  const release = await all.take()
  await t.rejects(all.take(), { kind: 'busy', message: 'None of the 1 connections came free within 1 ms' })
  // Its place in the line is free again: the next waits too and is not refused for the length of the line.
  await t.rejects(all.take(), { message: /came free within/ })
  release()
  const again = await all.take()
  again()
})

t.test('a slot that is given back twice is one slot', async (t) => {
  const all = slots({ slots: 1, maxWaiting: 0 })
  const release = await all.take()
  release()
  release()
  const held = await all.take()
  await t.rejects(all.take(), { name: 'SqlError', kind: 'busy' }, 'the second call has made no second slot')
  release()
  await t.rejects(all.take(), { name: 'SqlError', kind: 'busy' }, 'nor does a late one take it from who holds it now')
  held()
})

t.test('a slot given back twice while others wait serves one of them', async (t) => {
  const all = slots({ slots: 1 })
  const release = await all.take()
  const second = all.take()
  let third = false
  const waiting = all.take().then((done) => { third = true; return done })
  release()
  release()
  const held = await second
  await nextTurn()
  t.equal(third, false)
  held()
  const last = await waiting
  last()
})

t.test('one that gives up leaves the line at once, and those behind it move up', async (t) => {
  const all = slots({ slots: 1, maxWaiting: 2 })
  const release = await all.take()
  const leaving = new AbortController()
  const given = all.take(leaving.signal)
  const behind = all.take(new AbortController().signal)
  leaving.abort(new Error('gone'))
  await t.rejects(given, new Error('gone'))
  t.equal(all.status.waiting, 1)
  release()
  const held = await behind
  t.same(all.status, { size: 1, inUse: 1, waiting: 0 })
  await t.rejects(all.take(leaving.signal), new Error('gone'), 'nor does one that has given up before take a slot')
  held()
  await t.rejects(all.take(leaving.signal), new Error('gone'), 'though it is free')
  t.equal(all.status.inUse, 0)
})

t.test('close refuses those that wait and those that come, and those that hold one give it back in peace', async (t) => {
  const all = slots({ slots: 1 })
  const release = await all.take()
  const waiting = [all.take(), all.take()]
  all.close()
  for (const one of waiting) await t.rejects(one, { kind: 'connection', message: 'The store is closed' })
  await t.rejects(all.take(), { name: 'SqlError', kind: 'connection' })
  release()
  await t.rejects(all.take(), { name: 'SqlError', kind: 'connection' }, 'though a slot is free')
  all.close()
})

t.test('a client is told that the store is busy, and when to come back, or that it is unavailable, and nothing else', (t) => {
  const busy = toServiceError(new SqlError('busy', 'All 10 connections are in use'))
  if (!(busy instanceof ServiceError)) throw new Error('not a ServiceError')
  t.equal(busy.code, 'dependency_unavailable')
  t.equal(busy.message, 'The vector store is busy')
  t.same(busy.headers, { 'retry-after': '1', connection: 'close' })
  t.equal(busy.members.retry_after_seconds, 1)
  for (const kind of ['connection', 'timeout', 'full', 'statement'] as const) {
    const error = toServiceError(new SqlError(kind, 'connect ECONNREFUSED 10.0.0.7:5432'))
    if (!(error instanceof ServiceError)) throw new Error('not a ServiceError')
    t.equal(error.message, 'The vector store is unavailable')
    t.notOk(error.headers?.['retry-after'])
    t.type(error.cause, SqlError, 'the cause is for the log')
  }
  const other = new TypeError('mine')
  t.equal(toServiceError(other), other)
  t.end()
})
