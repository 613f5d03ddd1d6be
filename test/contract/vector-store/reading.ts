import type { Test } from 'tap'
import type { BankKey } from '../../../lib/access/context.js'
import { MAX_COUNTED_VALUES } from '../../../lib/stores/most-frequent.js'
import type { BankSummary, Memory, Metadata, NewMemory } from '../../../lib/stores/vector-store.js'
import { newId, newMemories, newMemory, NOW, withTags } from '../../helpers/memories.js'
import { bank, collect, comparable, listAll, REMOVE, scanAll, texts, type OpenStore } from './setup.js'

const UNKNOWN = newId()

export function readingContract (t: Test, open: OpenStore): void {
  const home = bank('home')

  t.test('an open store is healthy', async (t) => {
    t.equal((await (await open(t)).health()).healthy, true)
  })

  t.test('an unknown id has no memory', async (t) => {
    const store = await open(t)
    t.equal(await store.get(home, UNKNOWN, NOW), undefined)
    await store.insert(home, await newMemories(['one']), { now: NOW })
    t.equal(await store.get(home, UNKNOWN, NOW), undefined)
  })

  t.test('a list is newest first and a scan oldest first, whatever the order of the inserts', async (t) => {
    const store = await open(t)
    const memories: NewMemory[] = []
    for (const retainedAt of [NOW, NOW + 1, NOW + 1, NOW + 1, NOW + 2]) {
      memories.push(await newMemory(`memory ${memories.length}`, { retainedAt }))
    }
    for (const at of [2, 4, 0, 3, 1]) await store.insert(home, [memories[at]!], { now: NOW })
    t.strictSame(texts(await scanAll(store, home)), texts(memories), 'of one instant by rising id')
    t.strictSame(texts(await listAll(store, home)), texts(memories).toReversed(), 'of one instant by falling id')
  })

  t.test('paging returns every memory exactly once, also while others are inserted and removed', async (t) => {
    const store = await open(t)
    const memories: NewMemory[] = []
    for (let index = 0; index < 20; index++) {
      memories.push(await newMemory(`memory ${index}`, { retainedAt: NOW + Math.floor(index / 3) }))
    }
    await store.insert(home, memories, { now: NOW })
    const walked: Memory[] = []
    let after: { retainedAt: number, memoryId: string } | undefined
    for (let round = 0; ; round++) {
      const page = await listAll(store, home, { limit: 3, ...(after !== undefined && { after }) })
      t.ok(page.length <= 3)
      walked.push(...page)
      const last = page.at(-1)
      if (last === undefined) break
      after = { retainedAt: last.retainedAt, memoryId: last.memoryId }
      await store.insert(home, [await newMemory(`newer ${round}`, { retainedAt: NOW + 100 + round })], { now: NOW })
      // Memories that were returned may be removed, and so may the memory at which the page ended.
      await store.remove(home, { kind: 'ids', memoryIds: [last.memoryId] }, REMOVE)
    }
    t.strictSame(texts(walked), texts(memories).toReversed())
  })

  t.test('paging with a filter skips nothing and repeats nothing', async (t) => {
    const store = await open(t)
    for (let index = 0; index < 15; index++) {
      await store.insert(
        home,
        [
          await newMemory(`memory ${index}`, {
            retainedAt: NOW + index, tags: index % 4 === 0 ? ['wanted'] : ['other'],
          }),
        ],
        { now: NOW },
      )
    }
    const filters = { tags: { values: ['wanted'], match: 'any' as const } }
    const [first, second] = await listAll(store, home, { limit: 2, filters })
    t.strictSame([first?.text, second?.text], ['memory 12', 'memory 8'])
    const rest = await listAll(store, home, {
      limit: 3, filters, after: { retainedAt: second!.retainedAt, memoryId: second!.memoryId },
    })
    t.strictSame(texts(rest), ['memory 4', 'memory 0'])
  })

  t.test('banks are listed by tenant, those without a tenant first, then by name in code-unit order', async (t) => {
    const store = await open(t)
    const expected: BankKey[] = [
      ...['0', 'B', 'Z', 'a', 'a-b', 'a.b', 'a1', 'aB', 'ab', 'b'].map((bankId) => bank(bankId)),
      bank('zz', 'Acme'), bank('a', 'acme'), bank('b', 'acme'), bank('a', 'null'),
    ]
    for (const key of [...expected].sort((a, b) => a.bankId.length - b.bankId.length).toReversed()) {
      await store.insert(key, await newMemories(['one']), { now: NOW })
    }
    const listed = await store.listBanks({ now: NOW, limit: 100 })
    t.strictSame(listed, expected.map((key): BankSummary => ({ ...key, memoryCount: 1, lastRetainedAt: NOW })))

    const walked: BankSummary[] = []
    for (;;) {
      const last = walked.at(-1)
      const page = await store.listBanks({
        now: NOW, limit: 3, ...(last !== undefined && { after: { tenantId: last.tenantId, bankId: last.bankId } }),
      })
      walked.push(...page)
      if (page.length < 3) break
    }
    t.strictSame(walked, listed, 'page by page')
    t.strictSame(await store.listBanks({ now: NOW, limit: Infinity }), listed, 'without a limit')
    t.strictSame(
      await store.listBanks({ now: NOW, tenantId: null, limit: 100 }),
      listed.filter(({ tenantId }) => tenantId === null), 'of no tenant',
    )
    t.strictSame(
      await store.listBanks({ now: NOW, tenantId: 'acme', limit: 100 }),
      listed.filter(({ tenantId }) => tenantId === 'acme'), 'of a tenant',
    )
    t.strictSame(
      await store.listBanks({ now: NOW, tenantId: 'acme', limit: 1, after: bank('a', 'acme') }),
      listed.filter(({ tenantId, bankId }) => tenantId === 'acme' && bankId === 'b'), 'a page of a tenant',
    )
    t.strictSame(
      await store.listBanks({ now: NOW, bankId: 'a', limit: 100 }), listed.filter(({ bankId }) => bankId === 'a'),
      'of a name',
    )
    t.strictSame(
      await store.listBanks({ now: NOW, bankId: 'a', tenantId: null, limit: 100 }),
      [{ ...bank('a'), memoryCount: 1, lastRetainedAt: NOW }], 'one bank',
    )
    t.strictSame(await store.listBanks({ now: NOW, bankId: 'a%', tenantId: 'nobody', limit: 100 }), [])
  })

  t.test('with very many tags the statistics contain the most used ones', async (t) => {
    const store = await open(t)
    const named = (index: number) => `tag ${String(index).padStart(3, '0')}`
    const all = Array.from({ length: 300 }, (_, index) => named(index))
    await store.insert(home, [
      await newMemory('one', { tags: all }), await newMemory('two', { tags: all.slice(180, 250) }),
      await newMemory('three', { tags: ['tag 299'] }),
    ], { now: NOW })
    const { tagCounts } = await store.statistics(home, NOW)
    const expected = new Map([
      ...all.slice(180, 250).map((tag) => [tag, 2] as const), ['tag 299', 2],
      ...all.slice(0, 29).map((tag) => [tag, 1] as const),
    ])
    t.equal(expected.size, MAX_COUNTED_VALUES)
    t.strictSame(new Map([...tagCounts].sort()), new Map([...expected].sort()))
  })

  t.test('the statistics contain the most frequent speakers, as they are written', async (t) => {
    const store = await open(t)
    const stated: Metadata[] = [
      ...Array.from({ length: 120 }, (_, index) => ({ speaker: `Speaker ${String(index).padStart(3, '0')}` })),
      { speaker: '\u2003Zoë\n' }, { speaker: 'Zoë' }, { speaker: 'zoë' }, { role: 'User' },
      { role: 'User', speaker: 1 },
      ...[{ speaker: ' ' }, { speaker: 'a\nb' }, { speaker: 'é'.repeat(129) }, { speaker: ' ', role: 'tool' },
        { role: 'Ann' }, {}].flatMap((metadata) => [metadata, metadata, metadata]),
    ]
    await store.insert(home, await Promise.all(stated.map(async (metadata, index) => (
      await newMemory(`memory ${index}`, { metadata })
    ))), { now: NOW })
    const { speakerCounts } = await store.statistics(home, NOW)
    t.strictSame([...speakerCounts].sort(([a, uses], [b, other]) => other - uses || (a < b ? -1 : 1)), [
      ['User', 2], ['Zoë', 2],
      ...Array.from({ length: 98 }, (_, index) => [`Speaker ${String(index).padStart(3, '0')}`, 1]),
    ])
  })

  t.test('the summary and the statistics of a bank agree with its memories', async (t) => {
    const store = await open(t)
    const memories = [
      await newMemory('The first sentence. The second sentence. The third one.', {
        chunkMaxCharacters: 24, retainedAt: NOW + 5, tags: ['a', 'b'], occurredAt: NOW - 10,
      }),
      await newMemory('two', { retainedAt: NOW + 9, tags: ['b', '__proto__'], occurredAt: NOW - 30 }),
      await newMemory('three', { retainedAt: NOW + 7 }),
    ]
    await store.insert(home, memories, { now: NOW })
    const statistics = await store.statistics(home, NOW)
    t.strictSame({ ...statistics, tagCounts: Object.entries(Object.fromEntries(statistics.tagCounts)).sort() }, {
      ...home,
      memoryCount: 3,
      passageCount: 5,
      unembeddedCount: 3,
      tokens: memories.reduce((sum, { tokens }) => sum + tokens.value, 0),
      tagCounts: [['__proto__', 1], ['a', 1], ['b', 2]],
      speakerCounts: new Map(),
      lastRetainedAt: NOW + 9,
      firstRetainedAt: NOW + 5,
      firstOccurredAt: NOW - 30,
      lastOccurredAt: NOW - 10,
    })
    await store.remove(home, { kind: 'ids', memoryIds: [memories[1]!.memoryId] }, REMOVE)
    t.match(await store.statistics(home, NOW), {
      memoryCount: 2, passageCount: 4, lastRetainedAt: NOW + 7, firstOccurredAt: NOW - 10,
    })
    t.strictSame(await store.listBanks({ now: NOW, limit: 10 }), [{ ...home, memoryCount: 2, lastRetainedAt: NOW + 7 }])
    await store.remove(home, { kind: 'all' }, REMOVE)
    t.strictSame(await store.listBanks({ now: NOW, limit: 10 }), [], 'an empty bank does not exist')
  })

  t.test('a scan is a snapshot of the bank at the time of the call', async (t) => {
    const store = await open(t)
    const memories: NewMemory[] = []
    for (let index = 0; index < 10; index++) {
      memories.push(await newMemory(`memory ${index}`, { retainedAt: NOW + index, tags: [`n${index}`] }))
    }
    await store.insert(home, memories, { now: NOW })
    const before = (await scanAll(store, home)).map(comparable)
    const { count, memories: snapshot } = await store.scan(home, NOW)
    await store.insert(home, await newMemories(['newer'], { retainedAt: NOW + 99 }), { now: NOW })
    await store.remove(home, withTags(['n3', 'n9']), REMOVE)
    const reader = snapshot[Symbol.asyncIterator]()
    const first = await reader.next()
    await store.insert(home, await newMemories(['older'], { retainedAt: NOW - 1 }), { now: NOW })
    await store.remove(home, { kind: 'all' }, REMOVE)
    const rest = await collect({ [Symbol.asyncIterator]: () => reader })
    t.equal(count, 10)
    t.strictSame([first.value as Memory, ...rest].map(comparable), before)
    t.strictSame(await scanAll(store, home), [])
  })

  t.test('an abandoned scan does not affect the store', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['one', 'two', 'three']), { now: NOW })
    for (let round = 0; round < 20; round++) {
      const { memories } = await store.scan(home, NOW)
      // eslint-disable-next-line no-unreachable-loop
      for await (const memory of memories) {
        t.equal(memory.text, 'one')
        break
      }
      await memories.return?.()
      // A scan that is not read at all.
      await (await store.scan(home, NOW)).memories.return?.()
    }
    t.equal((await scanAll(store, home)).length, 3)
    t.equal((await store.insert(home, await newMemories(['four']), { now: NOW }))[0]?.stored, true)
  })
}
