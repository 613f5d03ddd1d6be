import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { latch } from './reflecting.js'
import { refused } from './support.js'

const WORDS = 'copper kettle stands behind wooden garden shed near young apple'

await t.test('64 writes wait for others of their bank; a further one is asked to retry later, and counts for no ' +
  'quota of the day', async (t) => {
  const store = new InMemoryVectorStore()
  const searches = store.search.bind(store)
  const reached = latch()
  const released = latch()
  let held = true
  store.search = async (request) => {
    if (held) {
      held = false
      reached.open()
      await released.opened
    }
    return await searches(request)
  }
  const app = await testApp(
    t, { file: { signal_quality: { dedup: { action: 'skip' } }, homeostasis: { quotas: { retain_per_day: 66 } } } },
    { store },
  )
  const write = async (bank: string, content: string) => await app.post('/v1/retain', { bank_id: bank, content })
  const first = write('home', WORDS)
  await reached.opened
  // Which of them comes last is for the turns of the event loop to say: it is the only one that is answered.
  const writes = Array.from({ length: 65 }, async (_, index) => await write('home', `Number ${index} is another one.`))
  refused(t, await Promise.race(writes), 503, 'server_busy', { retry_after_seconds: 1 })
  t.equal((await write('work', WORDS)).statusCode, 200, 'another bank does not wait')
  released.open()
  t.equal((await first).statusCode, 200)
  const statuses = (await Promise.all(writes)).map(({ statusCode }) => statusCode)
  t.equal(statuses.filter((status) => status === 200).length, 64)
  t.equal((await write('home', 'The last of the day.')).statusCode, 200)
  refused(t, await write('home', 'Not today.'), 429, 'quota_exceeded')
})

await t.test('near-duplicates are found among items that contain the same words in other orders', async (t) => {
  const { post } = await testApp(t, { file: { signal_quality: { dedup: { action: 'warn', threshold: 0.8 } } } })
  const words = WORDS.split(' ')
  // Each has its words in an order of its own, and so repeats none of the others.
  const turned = words.map((_, index) => [...words.slice(index), ...words.slice(0, index)].join(' '))
  const items = [...turned, `${turned[3]!} quickly`].map((content) => ({ content }))
  const { results } = (await post('/v1/retain/batch', { bank_id: 'home', items })).json()
  t.strictSame(results.map(({ near_duplicate: near }: { near_duplicate?: object }) => near !== undefined), [
    ...turned.map(() => false), true,
  ])
  t.equal(results.at(-1).near_duplicate.memory_id, results[3].memory_id)
})
