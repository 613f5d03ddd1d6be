import t from 'tap'
import { InMemoryVectorStore } from '../../../../lib/stores/in-memory/store.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { DAY_MS } from '../../../../lib/base/days.js'
import { bank, everything, listAll } from '../../../contract/vector-store/setup.js'
import { newId, newMemories, newMemory, NOW, withTags, type MemoryFields } from '../../../helpers/memories.js'

const home = bank('home')
const FULL = { name: 'ServiceError', code: 'dependency_unavailable', detail: 'The vector store is full' }
const ALL = { kind: 'all' } as const
const REMOVE = { now: NOW, dryRun: false, idLimit: 10 }
const change = (document: string | null) => ({ document, updatedAt: NOW, updatedBy: null })

await t.test('a write that does not fit is refused, and forgetting makes room', async (t) => {
  const store = new InMemoryVectorStore({ maximumBytes: 60_000 })
  t.teardown(async () => { await store.close() })
  const first = await newMemories(
    Array.from({ length: 20 }, (_, index) => `memory number ${index}`), { documentId: 'book' },
  )
  await store.insert(home, first, { now: NOW })
  const before = await everything(store, home)
  const used = store.usedBytes
  const more = await newMemories(Array.from({ length: 60 }, (_, index) => `another ${index}`))
  await t.rejects(store.insert(home, more, { now: NOW }), FULL)
  await t.rejects(store.import(home, more, { now: NOW, onConflict: 'overwrite' }), FULL)
  await t.rejects(store.import(bank('other'), more, { now: NOW, onConflict: 'skip', config: change('{}') }), FULL)
  await t.rejects(store.bankConfigs.write(home, change('x'.repeat(60_000))), FULL)
  t.strictSame(await everything(store, home), before)
  t.strictSame(await store.bankConfigs.read([bank('other'), home]), [])
  t.equal(store.usedBytes, used, 'a refused write reserves no bytes')
  await store.remove(home, ALL, REMOVE)
  t.equal(store.usedBytes, 0)
  await store.insert(home, more.slice(0, 20), { now: NOW })
  t.equal((await listAll(store, home)).length, 20)
})

await t.test('every way to remove a memory releases its bytes exactly', async (t) => {
  const store = new InMemoryVectorStore()
  t.teardown(async () => { await store.close() })
  const stays = await newMemory('what stays')
  await store.insert(home, [stays], { now: NOW })
  const used = store.usedBytes
  const goes = await newMemories(['one thing', 'another thing', 'a third thing'], {
    documentId: 'book', tags: ['brief'], metadata: { of: 'note', n: 1 }, vectors: [[1, 0, 0, 0]],
  })
  const brief = { ...await newMemory('brief', { tags: ['brief'], source: 'mail' }), expiresAt: NOW + 1 }
  await store.insert(home, [...goes, brief], { now: NOW })
  t.ok(store.usedBytes > used + 4 * 500)
  await store.import(
    home, goes.map((memory) => ({ ...memory, memoryId: newId(), text: 'longer than it was' })),
    { now: NOW, onConflict: 'overwrite' },
  )
  await store.remove(home, withTags(['brief']), REMOVE)
  t.ok(store.usedBytes - used < 100, `${store.usedBytes - used} bytes of the index are left until it is swept`)
  for (let revision = 0; revision < 105; revision++) await store.bankConfigs.write(home, change(`{"n":${revision}}`))
  await store.removeBank(home, NOW)
  t.equal(store.usedBytes, 0)
})

await t.test('a document, a day and metadata of its own count for each memory', async (t) => {
  const used = async (fields: (index: number) => MemoryFields) => {
    const store = new InMemoryVectorStore()
    t.teardown(async () => { await store.close() })
    const memories: NewMemory[] = []
    for (let index = 100; index < 200; index++) memories.push(await newMemory('The same words.', fields(index)))
    await store.insert(home, memories, { now: NOW })
    const bytes = store.usedBytes
    await store.remove(home, ALL, REMOVE)
    t.equal(store.usedBytes, 0)
    return bytes
  }
  const unlike = (index: number) => ({ fingerprint: String(index) })
  const together = await used((index) => ({ ...unlike(index), documentId: 'd000' }))
  const apart = await used((index) => ({ ...unlike(index), documentId: `d${index}` }))
  t.ok(apart - together >= 99 * 100, `${apart - together} bytes more in 100 documents than in one`)
  const sameDay = await used((index) => ({ ...unlike(index), occurredAt: NOW }))
  const days = await used((index) => ({ ...unlike(index), occurredAt: NOW - index * DAY_MS }))
  t.ok(days - sameDay >= 99 * 100, `${days - sameDay} bytes more on 100 days than on one`)
  const described = await used((index) => ({ ...unlike(index), documentId: 'd000', metadata: { [`k${index}`]: 1 } }))
  t.ok(described - together >= 100 * 150, `${described - together} bytes more with metadata`)
})
