import type { Test } from 'tap'
import type { ListFilters, Memory, NewMemory } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { bank, listAll, REMOVE, texts, type OpenStore } from './setup.js'

/** The optional methods of stores for browsing. */
export function browsingContract (t: Test, open: OpenStore): void {
  const home = bank('home')

  t.test('a list has either order, starts at any cursor, and skips `offset` memories', async (t) => {
    const store = await open(t)
    if (store.countMemories === undefined) {
      t.pass('this store lists newest first only')
      return
    }
    const memories: NewMemory[] = []
    for (let index = 0; index < 12; index++) {
      memories.push(
        await newMemory(`memory ${index}`, {
          retainedAt: NOW + Math.floor(index / 3), tags: [index % 2 === 0 ? 'even' : 'odd'],
        }),
      )
    }
    await store.insert(home, memories, { now: NOW })
    const names = (from: number, step: number, count: number) => Array.from({ length: count }, (_, index) => (
      `memory ${from + step * index}`
    ))
    t.strictSame(texts(await listAll(store, home, { order: 'oldest' })), names(0, 1, 12))
    const place = ({ retainedAt, memoryId }: Memory) => ({ retainedAt, memoryId })
    t.strictSame(
      texts(await listAll(store, home, { order: 'oldest', after: place(memories[4]!), limit: 3 })), names(5, 1, 3),
    )
    t.strictSame(texts(await listAll(store, home, { after: place(memories[4]!), limit: 3 })), names(3, -1, 3))
    t.strictSame(texts(await listAll(store, home, { offset: 5, limit: 3 })), names(6, -1, 3))
    t.strictSame(
      texts(await listAll(store, home, { order: 'oldest', after: place(memories[1]!), offset: 2, limit: 2 })),
      names(4, 1, 2),
    )
    t.strictSame(
      texts(await listAll(store, home, { offset: 1, limit: 2, filters: { tags: { values: ['even'], match: 'any' } } })),
      ['memory 8', 'memory 6'],
    )
    t.strictSame(await listAll(store, home, { offset: 12 }), [])
    const long = bank('long')
    await store.insert(
      long,
      await Promise.all(names(0, 1, 9).map(async (name, index) => (
        await newMemory(`${name} ${'word '.repeat(9000)}`, { retainedAt: NOW + index })
      ))),
      { now: NOW },
    )
    const page = await listAll(store, long, { order: 'oldest', offset: 1, limit: 7 })
    t.strictSame(page.map(({ text }) => text.slice(0, 8)), names(1, 1, 7), 'a page that is read in parts too')
  })

  t.test('a list and a count support more filters than a search', async (t) => {
    const store = await open(t)
    if (store.countMemories === undefined) {
      t.pass('this store does not count')
      return
    }
    await store.insert(home, [
      await newMemory('one', { retainedAt: NOW - 2, documentId: 'd', trust: 'untrusted', expiresAt: NOW + 5 }),
      await newMemory('two', { retainedAt: NOW - 1, documentId: 'd', occurredAt: NOW }),
      await newMemory('three', { retainedAt: NOW, documentId: 'e', trust: 'suspect' }),
      await newMemory('four', { retainedAt: NOW + 1 }),
    ], { now: NOW })
    await store.insert(bank('other'), await newMemories(['elsewhere'], { documentId: 'd' }), { now: NOW })
    const cases: Array<[filters: ListFilters, expected: string[]]> = [
      [{}, ['four', 'three', 'two', 'one']],
      [{ documentIds: ['d'] }, ['two', 'one']],
      [{ documentIds: ['D'] }, []],
      [{ documentIds: ['\u0000'] }, []],
      [{ trust: 'untrusted' }, ['one']],
      [{ trust: 'suspect' }, ['three']],
      [{ retainedAfter: NOW - 1, retainedBefore: NOW + 1 }, ['three', 'two']],
      [{ undated: true, retainedAfter: NOW - 1 }, ['four', 'three']],
      [{ undated: true, occurredAfter: NOW - 1 }, []],
      [{ documentIds: ['d'], minTrust: 'trusted', retainedAfter: NOW - 9 }, ['two']],
    ]
    for (const [filters, expected] of cases) {
      t.strictSame(texts(await listAll(store, home, { filters })), expected, JSON.stringify(filters))
      t.equal(
        await store.countMemories(home, { now: NOW, filters, limit: 100 }), expected.length, JSON.stringify(filters),
      )
    }
    t.equal(await store.countMemories(home, { now: NOW, filters: {}, limit: 3 }), 3)
    t.equal(await store.countMemories(home, { now: NOW, filters: { minTrust: 'untrusted' }, limit: 2 }), 2)
    t.equal(await store.countMemories(bank('nobody'), { now: NOW, filters: {}, limit: 3 }), 0)
    t.equal(
      await store.countMemories(home, { now: NOW + 5, filters: {}, limit: 100 }), 3, 'expired memories are not counted',
    )
  })

  t.test('neighbours are the memories before and after it in the document', async (t) => {
    const store = await open(t)
    if (store.neighbours === undefined) {
      t.pass('this store does not support neighbours')
      return
    }
    const memories: NewMemory[] = []
    for (let index = 0; index < 9; index++) {
      memories.push(
        await newMemory(`turn ${index}`, {
          documentId: 'talk',
          ...(index % 3 === 0 ? { retainedAt: NOW + index } : { occurredAt: NOW + index }),
          ...(index === 3 && { expiresAt: NOW + 5 }),
        }),
      )
    }
    const alone = await newMemory('alone')
    for (const at of [4, 0, 8, 2, 6, 1, 7, 3, 5]) await store.insert(home, [memories[at]!], { now: NOW })
    await store.insert(
      home, [alone, await newMemory('of another document', { documentId: 'note', occurredAt: NOW + 4 })], { now: NOW },
    )
    await store.insert(
      bank('other'), await newMemories(['of another bank'], { documentId: 'talk', occurredAt: NOW + 4 }), { now: NOW },
    )
    const around = async (memory: NewMemory, before: number, after: number, now = NOW) => {
      const found = await store.neighbours!(home, memory.memoryId, { now, before, after })
      return found && [texts(found.before), found.memory.text, texts(found.after)]
    }
    t.strictSame(await around(memories[4]!, 2, 3), [['turn 2', 'turn 3'], 'turn 4', ['turn 5', 'turn 6', 'turn 7']])
    t.strictSame(
      await around(memories[4]!, 2, 0, NOW + 5), [['turn 1', 'turn 2'], 'turn 4', []], 'expired memories are skipped',
    )
    t.strictSame(await around(memories[0]!, 5, 1), [[], 'turn 0', ['turn 1']])
    t.strictSame(await around(memories[8]!, 1, 5), [['turn 7'], 'turn 8', []])
    await store.insert(home, [await newMemory('of the same day')], { now: NOW })
    t.strictSame(await around(alone, 5, 5), [[], 'alone', []], 'a memory without a document has no neighbours')
    t.equal(await store.neighbours(bank('other'), memories[4]!.memoryId, { now: NOW, before: 1, after: 1 }), undefined)
    await store.remove(home, { kind: 'ids', memoryIds: [memories[5]!.memoryId] }, REMOVE)
    t.strictSame(await around(memories[4]!, 0, 1, NOW + 5), [[], 'turn 4', ['turn 6']])
    t.equal(await around(memories[5]!, 1, 1), undefined)
    t.equal(await around(memories[3]!, 1, 1, NOW + 5), undefined, 'an expired memory has none')
  })

  t.test('the counts per day are of the present memories, by the time of the retain', async (t) => {
    const store = await open(t)
    if (store.countByDay === undefined) {
      t.pass('this store does not count by day')
      return
    }
    const day = (days: number) => days * 86_400_000
    const today = Math.floor(NOW / day(1))
    t.same(await store.countByDay(home, { now: NOW, from: today - 1, until: today }), { before: 0, byDay: new Map() })
    const instants = [
      day(-3), day(-2) - 1, day(today - 1) - 1, day(today - 1), day(today) - 1, day(today), day(today + 1),
      day(today + 2),
    ]
    const memories: NewMemory[] = []
    for (const retainedAt of instants) memories.push(await newMemory(`memory ${memories.length}`, { retainedAt }))
    await store.insert(
      home, [...memories, await newMemory('gone', { retainedAt: day(today), expiresAt: NOW + 1 })], { now: NOW },
    )
    await store.insert(bank('other'), await newMemories(['of another bank']), { now: NOW })
    const asked = { now: NOW, from: today - 1, until: today }
    t.same(await store.countByDay(home, asked), { before: 3, byDay: new Map([[today - 1, 2], [today, 2]]) })
    t.same(
      await store.countByDay(home, { ...asked, now: NOW + 1 }),
      { before: 3, byDay: new Map([[today - 1, 2], [today, 1]]) }, 'expired memories are not counted',
    )
    t.same(
      await store.countByDay(home, { now: NOW + 1, from: -3, until: -3 }), { before: 0, byDay: new Map([[-3, 2]]) },
      'days before the epoch count too',
    )
    await store.remove(home, { kind: 'ids', memoryIds: [memories[4]!.memoryId] }, REMOVE)
    t.same(await store.countByDay(home, { now: NOW + 1, from: today, until: today }), {
      before: 4, byDay: new Map([[today, 1]]),
    })
  })
}
