import t from 'tap'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { mostFrequent } from '../../../lib/stores/most-frequent.js'
import { newMemory, NOW } from '../../helpers/memories.js'

const home = { tenantId: null, bankId: 'home' }

await t.test('the 100 most used of any number of tags are selected, ties by tag', async (t) => {
  const counts = Array.from({ length: 20_000 }, (_, n) => [`tag ${n * 7919 % 20_000}`, n % 40] as const)
  const expected = counts.toSorted(([a, uses], [b, other]) => other - uses || (a < b ? -1 : 1)).slice(0, 100)
  t.strictSame(await mostFrequent(counts), expected.map(([value, count]) => ({ value, count })))
  t.equal((await mostFrequent(counts.slice(0, 3))).length, 3)
  t.strictSame(await mostFrequent([]), [])
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
