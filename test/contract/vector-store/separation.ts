import type { Test } from 'tap'
import type { BankKey } from '../../../lib/access/context.js'
import type { VectorStore } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW, withTags } from '../../helpers/memories.js'
import { bank, everything, lexical, listAll, REMOVE, scanAll, semantic, texts, type OpenStore } from './setup.js'

/** Keys that a store with a faulty encoding would confuse. */
const BANKS: BankKey[] = [
  bank('home'),
  bank('Home'),
  bank('home.'),
  bank('home', 'null'),
  bank('home', 'acme'),
  bank('home', 'ACME'),
  bank('home', 'acme\u0001'),
  bank('home', '"acme"'),
  bank('home', "acme' OR '1'='1"),
  bank('home', 'acme%'),
  bank('home:acme'),
  bank('acme', 'home'),
]

export function separationContract (t: Test, open: OpenStore): void {
  /** One memory in each bank: all alike, but for the number of the bank. */
  async function fill (store: VectorStore): Promise<string[]> {
    const ids: string[] = []
    for (const [index, key] of BANKS.entries()) {
      const memory = await newMemory(`secret of bank ${index}`, {
        tags: ['shared', `bank-${index}`], vectors: [[1, 0, 0, 0]],
      })
      await store.insert(key, [memory], { now: NOW })
      ids.push(memory.memoryId)
    }
    return ids
  }

  t.test('a bank shows its own memories and those of no other bank', async (t) => {
    const store = await open(t)
    const ids = await fill(store)
    for (const [index, key] of BANKS.entries()) {
      const about = JSON.stringify(key)
      const own = [`secret of bank ${index}`]
      t.strictSame(texts(await listAll(store, key)), own, about)
      t.strictSame(texts(await scanAll(store, key)), own, about)
      t.strictSame(texts(await lexical(store, [key], 'secret')), own, about)
      t.strictSame(texts(await semantic(store, [key], [1, 0, 0, 0])), own, about)
      t.strictSame(
        await Promise.all(ids.map(async (id) => (await store.get(key, id, NOW))?.text)),
        ids.map((_, other) => other === index ? own[0] : undefined), about,
      )
      const statistics = await store.statistics(key, NOW)
      t.equal(statistics.memoryCount, 1, about)
      t.strictSame([...statistics.tagCounts].sort(), [[`bank-${index}`, 1], ['shared', 1]].sort(), about)
    }
  })

  t.test('a bank that was never written to is empty in every answer', async (t) => {
    const store = await open(t)
    await fill(store)
    const nowhere = bank('nowhere', 'acme')
    t.strictSame(await listAll(store, nowhere), [])
    t.strictSame(await scanAll(store, nowhere), [])
    t.strictSame(
      await store.search({
        banks: [nowhere],
        now: NOW,
        filters: {},
        limit: 10,
        lexical: { terms: ['secret'], k1: 1, length: { b: 1 }, context: true },
        semantic: { vector: new Float32Array(4).fill(1) },
      }),
      { lexical: [], semantic: [], total: 0 },
    )
    t.strictSame(await store.remove(nowhere, { kind: 'all' }, REMOVE), { count: 0, memoryIds: [] })
    t.strictSame(await store.statistics(nowhere, NOW), {
      ...nowhere,
      memoryCount: 0,
      passageCount: 0,
      unembeddedCount: 0,
      tokens: 0,
      tagCounts: new Map(),
      speakerCounts: new Map(),
      lastRetainedAt: null,
      firstRetainedAt: null,
      firstOccurredAt: null,
      lastOccurredAt: null,
    })
  })

  t.test('a removal by id, by tag or of all does not change other banks', async (t) => {
    const store = await open(t)
    const ids = await fill(store)
    const victim = 4
    const others = BANKS.filter((_, index) => index !== victim)
    const before = await Promise.all(others.map(async (key) => await listAll(store, key)))
    t.equal(
      (await store.remove(
        BANKS[victim]!, { kind: 'ids', memoryIds: ids.filter((_, index) => index !== victim) }, REMOVE,
      )).count,
      0, 'ids of other banks count 0',
    )
    t.equal(
      (await store.remove(BANKS[victim]!, withTags(['bank-0', 'bank-1']), REMOVE)).count, 0,
    )
    t.equal((await store.remove(BANKS[victim]!, withTags(['shared']), REMOVE)).count, 1)
    t.equal((await store.remove(BANKS[victim]!, { kind: 'all' }, REMOVE)).count, 0)
    t.strictSame(await Promise.all(others.map(async (key) => await listAll(store, key))), before)
  })

  t.test('an import with an id of another bank does not change that bank', async (t) => {
    const store = await open(t)
    const memory = await newMemory('the original')
    await store.insert(bank('home', 'acme'), [memory], { now: NOW })
    for (const key of [bank('home'), bank('copy', 'acme')]) {
      t.strictSame(await store.import(key, [memory], { now: NOW, onConflict: 'overwrite' }), {
        imported: 1, skipped: 0, overwritten: 0,
      })
      t.strictSame(texts(await listAll(store, key)), ['the original'])
    }
    t.strictSame(texts(await listAll(store, bank('home', 'acme'))), ['the original'])
  })

  t.test('scores do not change when another bank or another tenant\'s bank of the same name grows', async (t) => {
    const store = await open(t)
    const home = bank('home')
    await store.insert(
      home, await newMemories(['a red apple', 'a green apple with a worm in it', 'a pear']), { now: NOW },
    )
    const ranked = async () => (await lexical(store, [home], 'red apple worm')).map(({ memory, score }) => (
      [memory.text, score]
    ))
    const before = await ranked()
    t.equal(before.length, 2)
    for (const key of [bank('other'), bank('home', 'acme')]) {
      await store.insert(
        key,
        await newMemories(Array.from({ length: 30 }, (_, index) => (
          `apple worm number ${index} in a rather long sentence`
        ))),
        { now: NOW },
      )
      t.strictSame(await ranked(), before)
    }
  })

  t.test('operations on one bank do not change the answers of another', async (t) => {
    const store = await open(t)
    await fill(store)
    const [busy, quiet] = [bank('home', 'acme'), bank('home')]
    const view = async () => ({
      ...await everything(store, quiet) as object,
      banks: await store.listBanks({ now: NOW, tenantId: null, limit: 10 }),
    })
    const before = await view()
    await store.insert(busy, await newMemories(['one more', 'and another'], { tags: ['shared'] }), { now: NOW })
    await store.import(busy, await newMemories(['three']), { now: NOW, onConflict: 'overwrite' })
    await store.remove(busy, { kind: 'all' }, REMOVE)
    t.strictSame(await view(), before)
  })
}
