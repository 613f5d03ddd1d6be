import type { Test } from 'tap'
import type { VectorStore } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW, withTags } from '../../helpers/memories.js'
import { bank, lexical, listAll, REMOVE, scanAll, searchFor, semantic, texts, type OpenStore } from './setup.js'

const home = bank('home')
const EXPIRY = NOW + 1000

export function expiringContract (t: Test, open: OpenStore): void {
  async function fill (store: VectorStore) {
    const brief = await newMemory('a brief apple', {
      expiresAt: EXPIRY,
      tags: ['brief'],
      vectors: [[1, 0, 0, 0]],
      occurredAt: NOW - 5,
      retainedAt: NOW + 3,
      fingerprint: 'brief',
    })
    const lasting = await newMemory('a lasting apple', { vectors: [[0, 1, 0, 0]] })
    await store.insert(home, [brief, lasting], { now: NOW })
    return { brief, lasting }
  }

  t.test('a memory exists until the millisecond before it expires', async (t) => {
    const store = await open(t)
    const { brief } = await fill(store)
    const now = EXPIRY - 1
    t.equal((await store.get(home, brief.memoryId, now))?.expiresAt, EXPIRY)
    t.equal((await listAll(store, home, { now })).length, 2)
    t.equal((await scanAll(store, home, now)).length, 2)
    t.equal((await lexical(store, [home], 'apple', { now })).length, 2)
    t.equal((await store.statistics(home, now)).memoryCount, 2)
  })

  const views: Array<[
    about: string, look: (store: VectorStore, now: number, id: string) => Promise<unknown>, expected: unknown,
  ]> = [
    ['get', async (store, now, id) => await store.get(home, id, now), undefined],
    ['a list', async (store, now) => texts(await listAll(store, home, { now })), ['a lasting apple']],
    ['a scan and its count', async (store, now) => texts(await scanAll(store, home, now)), ['a lasting apple']],
    [
      'a search by words', async (store, now) => texts(await lexical(store, [home], 'apple', { now })),
      ['a lasting apple'],
    ],
    [
      'a search by embedding', async (store, now) => texts(await semantic(store, [home], [1, 0, 0, 0], { now })),
      ['a lasting apple'],
    ],
    ['the total', async (store, now) => (await searchFor(store, [home], 'apple', { now })).total, 1],
    [
      'the banks', async (store, now) => await store.listBanks({ now, limit: 10 }),
      [{ ...home, memoryCount: 1, lastRetainedAt: NOW }],
    ],
    ['statistics', async (store, now) => {
      const { memoryCount, passageCount, tagCounts, lastOccurredAt, lastRetainedAt } = await store.statistics(home, now)
      return [memoryCount, passageCount, tagCounts.size, lastOccurredAt, lastRetainedAt]
    }, [1, 1, 0, null, NOW]],
    [
      'a removal by tag',
      async (store, now) => (
        (await store.remove(home, withTags(['brief']), { ...REMOVE, now })).count
      ),
      0,
    ],
    [
      'a removal by id',
      async (store, now, id) => (await store.remove(home, { kind: 'ids', memoryIds: [id] }, { ...REMOVE, now })).count,
      0,
    ],
    [
      'a removal of all', async (store, now) => (await store.remove(home, { kind: 'all' }, { ...REMOVE, now })).count,
      1,
    ],
  ]
  for (const [about, look, expected] of views) {
    // Each has a store of its own, so that it is the first call that learns of the expiry.
    t.test(`from the instant of its expiry on a memory is not in ${about}`, async (t) => {
      const store = await open(t)
      const { brief } = await fill(store)
      t.strictSame(await look(store, EXPIRY, brief.memoryId), expected)
    })
  }

  t.test('the id and the fingerprint of an expired memory can be used again', async (t) => {
    const [store, other] = [await open(t), await open(t)]
    const { brief } = await fill(store)
    const again = { ...brief, expiresAt: null, text: 'again' }
    t.strictSame(await store.insert(home, [again], { now: EXPIRY }), [{ stored: true, memoryId: brief.memoryId }])
    t.equal((await store.get(home, brief.memoryId, EXPIRY))?.text, 'again')

    await fill(other)
    t.strictSame(await other.import(home, [again], { now: EXPIRY, onConflict: 'skip' }), {
      imported: 1, skipped: 0, overwritten: 0,
    })
  })

  t.test('a bank whose last memory has expired no longer exists', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['one', 'two'], { expiresAt: EXPIRY }), { now: NOW })
    t.equal((await store.listBanks({ now: EXPIRY - 1, limit: 10 })).length, 1)
    t.strictSame(await store.listBanks({ now: EXPIRY, limit: 10 }), [])
    t.equal((await store.statistics(home, EXPIRY)).memoryCount, 0)
  })

  t.test('memories expire one after the other, each at its own time', async (t) => {
    const store = await open(t)
    for (const [index, delay] of [30, 10, 20, 10].entries()) {
      await store.insert(home, [await newMemory(`memory ${index}`, { expiresAt: NOW + delay })], { now: NOW })
    }
    const left = async (now: number) => texts(await scanAll(store, home, now)).map((text) => Number(text.slice(-1)))
      .sort()
    t.strictSame(await left(NOW + 9), [0, 1, 2, 3])
    t.strictSame(await left(NOW + 10), [0, 2])
    t.strictSame(await left(NOW + 20), [0])
    t.strictSame(await left(NOW + 30), [])
  })
}
