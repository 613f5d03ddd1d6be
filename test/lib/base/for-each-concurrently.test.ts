import t from 'tap'
import { forEachConcurrently } from '../../../lib/base/for-each-concurrently.js'
import { gate } from '../../helpers/waiting.js'

await t.test('the work is done for every item, with bounded concurrency', async (t) => {
  const done: number[] = []
  let running = 0
  let most = 0
  await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    done.push(item)
  })
  t.strictSame(done, [1, 2, 3, 4, 5])
  t.equal(most, 2)
})

await t.test('fewer items than workers are processed, and so is an empty list', async (t) => {
  const done: number[] = []
  await forEachConcurrently([1], 4, async (item) => { done.push(item) })
  await forEachConcurrently([], 4, async (item) => { done.push(item) })
  t.strictSame(done, [1])
})

await t.test('after a failure no further item is started', async (t) => {
  const begun: number[] = []
  const { opened, open } = gate()
  const work = forEachConcurrently([1, 2, 3, 4], 2, async (item) => {
    begun.push(item)
    if (item === 1) throw new Error('no')
    await opened
  })
  await t.rejects(work, { message: 'no' })
  open()
  await opened
  await Promise.resolve()
  t.strictSame(begun, [1, 2])
})
