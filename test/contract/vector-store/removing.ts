import type { Test } from 'tap'
import type { NewMemory, Selector, VectorStore } from '../../../lib/stores/vector-store.js'
import { newId, newMemories, newMemory, NOW, withTags } from '../../helpers/memories.js'
import {
  bank, everything, lexical, listAll, REMOVE, scanAll, searchFor, semantic, texts, type OpenStore,
} from './setup.js'

const home = bank('home')

async function fill (store: VectorStore): Promise<NewMemory[]> {
  const memories = [
    await newMemory('red apple', { tags: ['red', 'fruit'], vectors: [[1, 0, 0, 0]] }),
    await newMemory('green apple', { tags: ['green', 'fruit'], vectors: [[0, 1, 0, 0]] }),
    await newMemory('red wine', { tags: ['red'], vectors: [[0, 0, 1, 0]] }),
    await newMemory('stray sign', { tags: ['\ufffd'] }),
    await newMemory('water', { vectors: [[0, 0, 0, 1]] }),
  ]
  await store.insert(home, memories, { now: NOW })
  return memories
}

/** Each selector with the texts that it removes. */
const REMOVALS: Array<[about: string, selector: (memories: NewMemory[]) => Selector, gone: string[]]> = [
  ['one id', (memories) => ({ kind: 'ids', memoryIds: [memories[2]!.memoryId] }), ['red wine']],
  [
    'an id named twice, and an unknown one',
    (memories) => ({ kind: 'ids', memoryIds: [memories[0]!.memoryId, memories[0]!.memoryId, newId()] }), ['red apple'],
  ],
  ['no id', () => ({ kind: 'ids', memoryIds: [] }), []],
  ['any of two tags', () => withTags(['green', 'fruit']), ['red apple', 'green apple']],
  ['all of two tags', () => withTags(['red', 'fruit'], 'all'), ['red apple']],
  ['a tag that no memory has', () => withTags(['re']), []],
  ['any of no tags', () => withTags([]), []],
  ['a tag that is not well-formed', () => withTags(['\ud800']), []],
  ['a tag with U+0000', () => withTags(['re\u0000d']), []],
  [
    'any of a tag and two that no memory can have',
    () => withTags(['green', '\u0000', '\udc00']), ['green apple'],
  ],
  ['all of a tag and one that no memory can have', () => withTags(['red', '\u0000'], 'all'), []],
  ['everything', () => ({ kind: 'all' }), ['red apple', 'green apple', 'red wine', 'stray sign', 'water']],
]

export function removingContract (t: Test, open: OpenStore): void {
  for (const [about, selector, gone] of REMOVALS) {
    t.test(`a removal of ${about} removes that and nothing else`, async (t) => {
      const store = await open(t)
      const memories = await fill(store)
      const ids = memories.filter(({ text }) => gone.includes(text)).map(({ memoryId }) => memoryId)
      const before = await everything(store, home)
      const dry = await store.remove(home, selector(memories), { ...REMOVE, dryRun: true })
      t.strictSame(
        { ...dry, memoryIds: dry.memoryIds.toSorted() }, { count: gone.length, memoryIds: ids }, 'a dry run counts',
      )
      t.strictSame(await everything(store, home), before, 'a dry run removes nothing')
      const removed = await store.remove(home, selector(memories), REMOVE)
      t.strictSame({ ...removed, memoryIds: removed.memoryIds.toSorted() }, { count: gone.length, memoryIds: ids })
      t.strictSame(texts(await scanAll(store, home)), texts(memories).filter((text) => !gone.includes(text)))
      t.equal((await store.remove(home, selector(memories), REMOVE)).count, 0, 'there is nothing left to remove')
    })
  }

  t.test('an untagged memory does not match a removal by no tags at all', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['one', 'two']), { now: NOW })
    t.equal((await store.remove(home, withTags([], 'all'), REMOVE)).count, 0)
    t.equal((await listAll(store, home)).length, 2)
  })

  t.test('the number of ids in the result of a removal is limited, its count is not', async (t) => {
    const store = await open(t)
    const memories = await newMemories(Array.from({ length: 12 }, (_, index) => `memory ${index}`))
    await store.insert(home, memories, { now: NOW })
    for (const dryRun of [true, false]) {
      const { count, memoryIds } = await store.remove(home, { kind: 'all' }, { now: NOW, dryRun, idLimit: 5 })
      t.equal(count, 12)
      t.equal(new Set(memoryIds).size, 5)
      for (const id of memoryIds) t.ok(memories.some(({ memoryId }) => memoryId === id))
    }
    t.strictSame(await listAll(store, home), [])
  })

  t.test('a removed memory is in no answer immediately afterwards', async (t) => {
    const store = await open(t)
    const memories = await fill(store)
    const [gone] = memories as [NewMemory]
    await store.remove(home, { kind: 'ids', memoryIds: [gone.memoryId] }, REMOVE)
    t.equal(await store.get(home, gone.memoryId, NOW), undefined)
    t.notOk(texts(await listAll(store, home)).includes('red apple'))
    t.notOk(texts(await scanAll(store, home)).includes('red apple'))
    t.strictSame(texts(await lexical(store, [home], 'red')), ['red wine'])
    t.strictSame(
      new Set(texts(await semantic(store, [home], [1, 0, 0, 0]))), new Set(['green apple', 'red wine', 'water']),
    )
    t.equal((await searchFor(store, [home], 'red')).total, 1)
    const statistics = await store.statistics(home, NOW)
    t.equal(statistics.memoryCount, 4)
    t.equal(statistics.tagCounts.get('red'), 1)
    t.equal((await store.listBanks({ now: NOW, limit: 1 }))[0]?.memoryCount, 4)
  })

  t.test('removed memories do not count in the ranking', async (t) => {
    const [store, fresh] = [await open(t), await open(t)]
    const memories = await newMemories(['red apple', 'a green apple among many words of no weight', 'pear tree'])
    const others = await newMemories([
      'apple apple apple', 'tree tree of apple', 'many other words that make the average longer than it was',
    ])
    await store.insert(home, [...others, ...memories], { now: NOW })
    await store.remove(home, { kind: 'ids', memoryIds: others.map(({ memoryId }) => memoryId) }, REMOVE)
    await fresh.insert(home, memories, { now: NOW })
    const [found, expected] = await Promise.all([store, fresh].map(async (each) => (
      await lexical(each, [home], 'apple tree')
    )))
    t.strictSame(texts(found!), texts(expected!))
    found!.forEach(({ score }, index) => t.ok(Math.abs(score - expected![index]!.score) < 1e-6))
  })

  t.test('a removed memory can be retained again: its id and fingerprint can be used again', async (t) => {
    const store = await open(t)
    const [memory] = await fill(store) as [NewMemory]
    await store.remove(home, { kind: 'all' }, REMOVE)
    t.strictSame(await store.insert(home, [memory], { now: NOW }), [{ stored: true, memoryId: memory.memoryId }])
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0])), ['red apple'])
  })

  t.test('concurrent removals count each memory once', async (t) => {
    const store = await open(t)
    await store.insert(
      home, await newMemories(Array.from({ length: 25 }, (_, index) => `memory ${index}`)), { now: NOW },
    )
    const removals = await Promise.all(Array.from({ length: 8 }, async () => (
      await store.remove(home, { kind: 'all' }, REMOVE)
    )))
    t.equal(removals.reduce((sum, { count }) => sum + count, 0), 25)
    t.equal(new Set(removals.flatMap(({ memoryIds }) => memoryIds)).size, 25)
  })
}
