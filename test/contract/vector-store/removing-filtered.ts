import type { Test } from 'tap'
import type { ListFilters, NewMemory, VectorStore } from '../../../lib/stores/vector-store.js'
import { newMemory, NOW, type MemoryFields } from '../../helpers/memories.js'
import { bank, listAll, REMOVE, scanAll, texts, type OpenStore } from './setup.js'

const home = bank('home')

const MEMORIES: Record<string, MemoryFields> = {
  kettle: {
    documentId: 'kitchen', tags: ['home'], metadata: { topic: 'tea', size: 2, speaker: 'Ada' }, occurredAt: NOW - 10,
  },
  lamp: { documentId: 'hall', tags: ['home', 'light'], metadata: { topic: 'light' }, occurredAt: NOW },
  map: { documentId: 'hall', metadata: { topic: null, role: 'user' }, retainedAt: NOW + 5 },
  novel: { tags: ['light'], metadata: { size: '2', speaker: 'ADA' }, occurredAt: NOW + 10, retainedAt: NOW + 10 },
  otter: { documentId: 'kitchen', tags: ['light'], occurredAt: NOW + 10, retainedAt: NOW + 10 },
}

/** Filters of searches, and what a removal by them removes. */
const FILTERS: Array<[filters: ListFilters, gone: string[]]> = [
  [{ documentIds: ['kitchen'] }, ['kettle', 'otter']],
  [{ documentIds: ['hall', 'nowhere'] }, ['lamp', 'map']],
  [{ documentIds: [null] }, ['novel']],
  [{ documentIds: ['nowhere'] }, []],
  [{ documentIds: ['\u0000', '\ud800'] }, []],
  [{ documentIds: [] }, []],
  [{ metadata: { topic: 'tea' } }, ['kettle']],
  [{ metadata: { topic: null } }, ['map']],
  [{ metadata: { size: 2 } }, ['kettle']],
  [{ metadata: { size: '2' } }, ['novel']],
  [{ metadata: { topic: 'tea', size: 3 } }, []],
  [{ metadata: { topic: 'te\u0000a' } }, []],
  [{ speakers: ['ada'] }, ['kettle', 'novel']],
  [{ speakers: ['Ada', 'user'] }, ['kettle', 'map', 'novel']],
  [{ speakers: ['Bo'] }, []],
  [{ speakers: [] }, []],
  [{ speakers: ['ada'], documentIds: ['kitchen'] }, ['kettle']],
  [{ occurredAfter: NOW }, ['lamp', 'novel', 'otter']],
  [{ occurredBefore: NOW }, ['kettle']],
  [{ occurredAfter: NOW - 10, occurredBefore: NOW + 10 }, ['kettle', 'lamp']],
  [{ occurredAfter: NOW + 10, occurredBefore: NOW + 10 }, []],
  [{ documentIds: ['kitchen'], tags: { values: ['light'], match: 'any' } }, ['otter']],
  [{ tags: { values: ['home', 'light'], match: 'all' }, metadata: { topic: 'light' }, occurredAfter: NOW }, ['lamp']],
  [{ documentIds: ['kitchen'], tags: { values: ['light'], match: 'any' }, occurredBefore: NOW }, []],
]

/** Those that only lists have as well. */
const LIST_FILTERS: typeof FILTERS = [
  [{ retainedAfter: NOW + 5 }, ['map', 'novel', 'otter']],
  [{ retainedBefore: NOW + 5 }, ['kettle', 'lamp']],
  [{ retainedAfter: NOW + 5, retainedBefore: NOW + 10 }, ['map']],
  [{ retainedAfter: NOW + 5, documentIds: ['hall', 'kitchen'] }, ['map', 'otter']],
  [{ retainedAfter: NOW + 5, documentIds: ['hall', 'kitchen'], occurredBefore: NOW + 20 }, ['otter']],
]

async function fill (store: VectorStore): Promise<NewMemory[]> {
  const memories: NewMemory[] = []
  for (const [text, fields] of Object.entries(MEMORIES)) memories.push(await newMemory(text, fields))
  await store.insert(home, memories, { now: NOW })
  return memories
}

/** Removals by the filters of searches and lists. */
export function filteredRemovingContract (t: Test, open: OpenStore): void {
  t.test('a removal by filters removes what a list by them shows, and nothing else', async (t) => {
    const first = await open(t)
    const cases = first.countMemories === undefined ? FILTERS : [...FILTERS, ...LIST_FILTERS]
    for (const [filters, gone] of cases) {
      const store = await open(t)
      const memories = await fill(store)
      const about = JSON.stringify(filters)
      const ids = memories.filter(({ text }) => gone.includes(text)).map(({ memoryId }) => memoryId)
      const selector = { kind: 'filters', filters } as const
      const remove = async (dryRun: boolean) => {
        const { count, memoryIds } = await store.remove(home, selector, { ...REMOVE, dryRun })
        return { count, memoryIds: memoryIds.toSorted() }
      }
      t.strictSame(texts(await listAll(store, home, { filters })).toSorted(), gone, `${about}: listed`)
      t.strictSame(await remove(true), { count: gone.length, memoryIds: ids }, `${about}: counted`)
      t.strictSame(texts(await scanAll(store, home)), Object.keys(MEMORIES), `${about}: a dry run removes nothing`)
      t.strictSame(await remove(false), { count: gone.length, memoryIds: ids }, `${about}: removed`)
      const left = Object.keys(MEMORIES).filter((text) => !gone.includes(text))
      t.strictSame(texts(await scanAll(store, home)), left, `${about}: the others stay`)
      t.equal((await store.statistics(home, NOW)).memoryCount, left.length, `${about}: counted in the statistics`)
      t.strictSame(await remove(false), { count: 0, memoryIds: [] }, `${about}: there is nothing left to remove`)
    }
  })

  t.test('a removal by filters that hold for every memory of any bank removes nothing', async (t) => {
    const store = await open(t)
    await fill(store)
    for (const filters of [{}, { metadata: {} }]) {
      for (const dryRun of [true, false]) {
        const outcome = await store.remove(home, { kind: 'filters', filters }, { ...REMOVE, dryRun })
        t.strictSame(outcome, { count: 0, memoryIds: [] })
      }
    }
    t.equal((await listAll(store, home)).length, Object.keys(MEMORIES).length)
  })

  t.test('a removal by filters reaches no other bank and no expired memory', async (t) => {
    const store = await open(t)
    const other = bank('other')
    const kitchen = { documentId: 'kitchen' }
    await store.insert(other, [await newMemory('theirs', kitchen)], { now: NOW })
    await store.insert(home, [
      await newMemory('brief', { ...kitchen, expiresAt: NOW + 1 }), await newMemory('lasting', kitchen),
    ], { now: NOW })
    const removal = { kind: 'filters', filters: { documentIds: ['kitchen'] } } as const
    t.equal((await store.remove(home, removal, { ...REMOVE, now: NOW + 1, dryRun: true })).count, 1)
    t.equal((await store.remove(home, removal, { ...REMOVE, now: NOW + 1 })).count, 1)
    t.strictSame(texts(await listAll(store, other)), ['theirs'])
  })
}
