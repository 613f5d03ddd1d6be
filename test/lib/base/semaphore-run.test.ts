import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Semaphore } from '../../../lib/base/semaphore.js'
import { gate } from '../../helpers/waiting.js'

function semaphore (permits: number): Semaphore {
  return new Semaphore({ permits, waitMs: 60_000, timeoutError: (waitMs) => new Error(`late after ${waitMs} ms`) })
}

const counts = ({ held, waiting }: Semaphore) => ({ held, waiting })
const FREE = { held: 0, waiting: 0 }

t.test('work holds a permit until it ends, and its result is returned', async (t) => {
  const all = semaphore(1)
  const { opened, open } = gate()
  const running = all.run(async () => { await opened; return counts(all) })
  await nextTurn()
  t.same(counts(all), { held: 1, waiting: 0 })
  open()
  t.same(await running, { held: 1, waiting: 0 })
  t.same(counts(all), FREE)
})

t.test('work that fails releases its permit, and its error is thrown', async (t) => {
  const all = semaphore(1)
  const failed = new Error('failed')
  await t.rejects(all.run(async () => { await nextTurn(); throw failed }), failed)
  t.same(counts(all), FREE)
  // A function that is not async may throw before it has a promise.
  await t.rejects(all.run(() => { throw failed }), failed)
  t.same(counts(all), FREE)
  t.equal(await all.run(async () => 'goes on'), 'goes on')
})

t.test('work whose caller leaves while it waits is not begun, and takes no permit', async (t) => {
  const all = semaphore(1)
  const { opened, open } = gate()
  const running = all.run(async () => { await opened })
  const leaving = new AbortController()
  const begun: string[] = []
  const left = all.run(async () => { begun.push('left') }, { signal: leaving.signal })
  const next = all.run(async () => { begun.push('next') })
  const reason = new Error('gone')
  leaving.abort(reason)
  await t.rejects(left, reason)
  t.same(counts(all), { held: 1, waiting: 1 })
  await t.rejects(all.run(async () => { begun.push('late') }, { signal: leaving.signal }), reason)
  open()
  await Promise.all([running, next])
  t.same(begun, ['next'])
  t.same(counts(all), FREE)
})

t.test('work under way keeps its permit when its caller leaves, until it ends', async (t) => {
  const all = semaphore(1)
  const { opened, open } = gate()
  const leaving = new AbortController()
  const running = all.run(async () => { await opened; return 'done' }, { signal: leaving.signal })
  await nextTurn()
  leaving.abort(new Error('gone'))
  await nextTurn()
  t.same(counts(all), { held: 1, waiting: 0 })
  open()
  t.equal(await running, 'done')
  t.same(counts(all), FREE)
})

t.test('work that waits begins in the order of its arrival', async (t) => {
  const order: string[] = []
  const run = async (all: Semaphore, names: readonly string[]) => {
    await Promise.all(names.map(async (name) => {
      await all.run(async () => { order.push(name); await nextTurn() })
    }))
    t.same(counts(all), FREE)
    return order.splice(0)
  }
  t.same(await run(semaphore(1), ['a1', 'a2', 'a3', 'a4']), ['a1', 'a2', 'a3', 'a4'])
  t.same(await run(semaphore(1), ['a1', 'a2', 'a3', 'a4', 'b1']), ['a1', 'a2', 'a3', 'a4', 'b1'])
  t.same(await run(semaphore(2), ['a1', 'a2', 'a3', 'b1', 'b2']), ['a1', 'a2', 'a3', 'b1', 'b2'])
})

t.test('work waits for as long as it is told, and releases nothing that it does not hold', async (t) => {
  const all = semaphore(1)
  const { opened, open } = gate()
  const running = all.run(async () => { await opened })
  await t.rejects(all.run(async () => { t.fail('it had no permit') }, { waitMs: 1 }), { message: 'late after 1 ms' })
  t.same(counts(all), { held: 1, waiting: 0 })
  all.close(new Error('closed'))
  await t.rejects(all.run(async () => { t.fail('it had no permit') }), { message: 'closed' })
  open()
  await running
  t.same(counts(all), FREE)
})
