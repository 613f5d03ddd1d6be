import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import type { Test } from 'tap'
import type { ImportOutcome, NewMemory } from '../../../lib/stores/vector-store.js'
import { newId, newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { bank, everything, lexical, listAll, semantic, texts, type OpenStore } from './setup.js'

const home = bank('home')

function outcome (imported: number, skipped: number, overwritten: number): ImportOutcome {
  return { imported, skipped, overwritten }
}

export function importingContract (t: Test, open: OpenStore): void {
  t.test('an import keeps ids and times, and its memories are found', async (t) => {
    const store = await open(t)
    const memories = [
      await newMemory('older', { retainedAt: NOW - 1000 }),
      await newMemory('newer', { retainedAt: NOW - 10, vectors: [[1, 0, 0, 0]] }),
    ]
    t.strictSame(await store.import(home, memories, { now: NOW, onConflict: 'skip' }), outcome(2, 0, 0))
    t.strictSame(
      (await listAll(store, home)).map(({ memoryId, retainedAt }) => [memoryId, retainedAt]),
      memories.toReversed().map(({ memoryId, retainedAt }) => [memoryId, retainedAt]),
    )
    t.strictSame(texts(await lexical(store, [home], 'older')), ['older'])
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0])), ['newer'])
  })

  t.test('an empty import creates no bank', async (t) => {
    const store = await open(t)
    t.strictSame(await store.import(home, [], { now: NOW, onConflict: 'skip' }), outcome(0, 0, 0))
    t.strictSame(await store.listBanks({ now: NOW, limit: 10 }), [])
  })

  for (const [about, twin] of [
    ['id', ({ memoryId }: NewMemory) => ({ memoryId })],
    ['fingerprint', ({ fingerprint }: NewMemory) => ({ fingerprint })],
  ] as const) {
    t.test(`a conflict by ${about} keeps the stored memory with skip, and replaces it with overwrite`, async (t) => {
      const store = await open(t)
      const standing = await newMemory('the old apple', { vectors: [[1, 0, 0, 0]] })
      await store.insert(home, [standing, await newMemory('bystander')], { now: NOW })
      const incoming = await newMemory('the new pear', { ...twin(standing), vectors: [[0, 1, 0, 0]] })
      const both = [incoming, await newMemory('more')]
      t.strictSame(await store.import(home, both, { now: NOW, onConflict: 'skip' }), outcome(1, 1, 0))
      t.strictSame(texts(await listAll(store, home)).sort(), ['bystander', 'more', 'the old apple'])
      t.strictSame(await store.import(home, [incoming], { now: NOW, onConflict: 'overwrite' }), outcome(0, 0, 1))
      t.strictSame(texts(await listAll(store, home)).sort(), ['bystander', 'more', 'the new pear'])
      t.strictSame(texts(await lexical(store, [home], 'apple')), [], 'the old one is in no index')
      t.strictSame(texts(await semantic(store, [home], [0, 1, 0, 0])), ['the new pear'])
      t.equal((await store.get(home, incoming.memoryId, NOW))?.text, 'the new pear')
    })

    t.test(`a conflict by ${about} within one call counts like one with a stored memory`, async (t) => {
      for (const [
        onConflict, expected, standing,
      ] of [['skip', outcome(1, 1, 0), 'first'], ['overwrite', outcome(1, 0, 1), 'second']] as const) {
        const store = await open(t)
        const first = await newMemory('first')
        const second = await newMemory('second', twin(first))
        t.strictSame(await store.import(home, [first, second], { now: NOW, onConflict }), expected, onConflict)
        t.strictSame(texts(await listAll(store, home)), [standing])
      }
    })
  }

  t.test('a memory that conflicts with one by id and with another by fingerprint replaces both', async (t) => {
    const store = await open(t)
    const [one, two] = await newMemories(['one', 'two']) as [NewMemory, NewMemory]
    await store.insert(home, [one, two], { now: NOW })
    const incoming = await newMemory('both', { memoryId: one.memoryId, fingerprint: two.fingerprint })
    t.strictSame(await store.import(home, [incoming], { now: NOW, onConflict: 'skip' }), outcome(0, 1, 0))
    t.strictSame(await store.import(home, [incoming], { now: NOW, onConflict: 'overwrite' }), outcome(0, 0, 1))
    t.strictSame(texts(await listAll(store, home)), ['both'])
  })

  t.test('an overwrite releases the old fingerprint and reserves the new one', async (t) => {
    const store = await open(t)
    const standing = await newMemory('old', { fingerprint: 'old' })
    await store.insert(home, [standing], { now: NOW })
    await store.import(
      home, [await newMemory('new', { memoryId: standing.memoryId, fingerprint: 'new' })],
      { now: NOW, onConflict: 'overwrite' },
    )
    t.equal(
      (await store.insert(home, [await newMemory('old again', { fingerprint: 'old' })], { now: NOW }))[0]?.stored, true,
    )
    t.strictSame(await store.insert(home, [await newMemory('new again', { fingerprint: 'new' })], { now: NOW }), [
      { stored: false, memoryId: standing.memoryId, passageCount: 1, trust: 'trusted' },
    ])
  })

  t.test('an import has the same effect as importing its memories one after the other', async (t) => {
    const store = await open(t)
    const ids = [newId(), newId(), newId()]
    const memory = fc.record({ id: fc.nat(2), print: fc.nat(2) })
    let runs = 0
    const [few, more] = [fc.array(memory, { maxLength: 3 }), fc.array(memory, { maxLength: 6 })]
    await fc.assert(fc.asyncProperty(few, more, fc.constantFrom('skip', 'overwrite'), async (
      standing, incoming, onConflict,
    ) => {
      const number = runs++
      const [together, apart] = [bank(`together-${number}`), bank(`apart-${number}`)]
      type List = typeof standing
      const make = async (name: string, list: List) => await Promise.all(list.map(async ({ id, print }, index) => (
        await newMemory(`${name} ${index}`, { memoryId: ids[id]!, fingerprint: `print ${print}` })
      )))
      const [before, memories] = [await make('standing', standing), await make('incoming', incoming)]
      for (const key of [together, apart]) {
        for (const each of before) await store.import(key, [each], { now: NOW, onConflict: 'skip' })
      }
      let sum = outcome(0, 0, 0)
      for (const each of memories) {
        const { imported, skipped, overwritten } = await store.import(apart, [each], { now: NOW, onConflict })
        sum = outcome(sum.imported + imported, sum.skipped + skipped, sum.overwritten + overwritten)
      }
      assert.deepEqual(await store.import(together, memories, { now: NOW, onConflict }), sum)
      assert.deepEqual(await listAll(store, together), await listAll(store, apart))
      assert.deepEqual(
        (await lexical(store, [together], 'standing incoming')).map(({ memory, score }) => (
          [memory.text, score.toFixed(6)]
        )).sort(),
        (await lexical(store, [apart], 'standing incoming')).map(({ memory, score }) => [memory.text, score.toFixed(6)])
          .sort(),
      )
    }), { numRuns: 60 })
  })

  t.test('an import that fails changes nothing', async (t) => {
    const store = await open(t)
    const standing = await newMemory('old', { vectors: [[1, 0, 0, 0]] })
    await store.insert(home, [standing, await newMemory('other')], { now: NOW })
    const before = await everything(store, home)
    const broken = await newMemory('broken', { vectors: [[NaN, 0, 0, 0]] })
    for (const onConflict of ['skip', 'overwrite'] as const) {
      await t.rejects(store.import(
        home, [await newMemory('new', { memoryId: standing.memoryId }), await newMemory('fresh'), broken],
        { now: NOW, onConflict },
      ))
      t.strictSame(await everything(store, home), before)
      t.strictSame(texts(await lexical(store, [home], 'old new fresh')), ['old'])
    }
  })

  t.test('concurrent imports of the same memories store each once', async (t) => {
    const store = await open(t)
    const memories = await newMemories(['one', 'two', 'three'])
    const outcomes = await Promise.all(Array.from({ length: 8 }, async () => (
      await store.import(home, memories, { now: NOW, onConflict: 'skip' })
    )))
    t.equal(outcomes.reduce((sum, { imported }) => sum + imported, 0), 3)
    t.equal(outcomes.reduce((sum, { skipped }) => sum + skipped, 0), 21)
    t.equal((await listAll(store, home)).length, 3)
  })
}
