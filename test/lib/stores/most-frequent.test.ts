import t from 'tap'
import { runSync } from '../../../lib/concurrency/steps.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { mostFrequent } from '../../../lib/stores/most-frequent.js'
import { newMemory, NOW } from '../../helpers/memories.js'
import { SteppedTurns } from './in-memory/stepped-turns.js'

const home = { tenantId: null, bankId: 'home' }

await t.test('the 100 most used of any number of tags are selected in small steps, ties by tag', async (t) => {
  const counts = Array.from({ length: 20_000 }, (_, n) => [`tag ${n * 7919 % 20_000}`, n % 40] as const)
  const expected = counts.toSorted(([a, uses], [b, other]) => other - uses || (a < b ? -1 : 1)).slice(0, 100)
  t.strictSame(runSync(mostFrequent(counts)), expected.map(([value, count]) => ({ value, count })))
  let steps = 0
  for (const work = mostFrequent(counts); work.next().done !== true;) steps++
  t.equal(steps, Math.floor(counts.length / 256))
  t.strictSame(runSync(mostFrequent(counts.slice(0, 3))).length, 3)
  t.strictSame(runSync(mostFrequent([])), [])
})

await t.test('the in-memory store returns the 100 most used tags of a bank', async (t) => {
  const store = new InMemoryVectorStore()
  t.teardown(async () => { await store.close() })
  const tags = Array.from({ length: 150 }, (_, n) => `tag ${String(n).padStart(3, '0')}`)
  await store.insert(
    home, [await newMemory('one', { tags }), await newMemory('two', { tags: tags.slice(-30) })], { now: NOW },
  )
  const { tagCounts } = await store.statistics(home, NOW)
  t.strictSame(
    [...tagCounts].sort(([a], [b]) => a < b ? -1 : 1),
    [...tags.slice(0, 70).map((tag) => [tag, 1]), ...tags.slice(-30).map((tag) => [tag, 2])],
  )
})

await t.test('the in-memory store collects the statistics of one large bank at a time', async (t) => {
  const turns = new SteppedTurns()
  const store = new InMemoryVectorStore({ turns })
  t.teardown(async () => { await store.close() })
  const fill = async (bankId: string, count: number) => {
    const memories = await Promise.all(Array.from({ length: count }, async (_, n) => (
      await newMemory(`${bankId} ${n}`, { tags: [`${bankId}-${n % 3}`] })
    )))
    await turns.finish(store.insert({ tenantId: null, bankId }, memories, { now: NOW }))
  }
  await fill('large', 301)
  await fill('other', 301)
  await fill('small', 1)
  const read = async (bankId: string) => (await store.statistics({ tenantId: null, bankId }, NOW)).tagCounts.size
  const large = Promise.all(['large', 'other', 'large'].map(read))
  let together = 0
  for (let step = 0; step < 200; step++) {
    await turns.step()
    together = Math.max(together, turns.waiting)
  }
  t.equal(together, 1)
  t.equal(await turns.finish(read('small')), 1)
  t.equal(turns.waiting, 1, 'the first large bank is still read')
  t.same(await turns.finish(large), [3, 3, 3])
})
