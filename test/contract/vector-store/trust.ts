import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { isAtLeast, lowestTrust, TRUST_LEVELS } from '../../../lib/access/trust.js'
import type { NewMemory } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { bank, everything, lexical, listAll, REMOVE, semantic, texts, type OpenStore } from './setup.js'

const home = bank('home')

export function trustContract (t: Test, open: OpenStore): void {
  for (const standing of TRUST_LEVELS) {
    for (const coming of TRUST_LEVELS) {
      if (isAtLeast(standing, coming)) {
        t.test(`an exact repeat that is ${coming} leaves a memory that is ${standing} unchanged`, async (t) => {
          const store = await open(t)
          const first = await newMemory('apple', { fingerprint: 'same', trust: standing, metadata: { by: 'first' } })
          await store.insert(home, [first], { now: NOW })
          const repeat = await newMemory('apple', { fingerprint: 'same', trust: coming, metadata: { by: 'second' } })
          t.strictSame(await store.insert(home, [repeat], { now: NOW }), [{
            stored: false, memoryId: first.memoryId, passageCount: 1, trust: standing,
          }])
          t.strictSame(
            (await listAll(store, home)).map(({ metadata, trust }) => [metadata, trust]), [[{ by: 'first' }, standing]],
          )
        })
      } else {
        for (const documentId of [null, 'conversation']) {
          t.test(`an exact repeat that is ${coming} replaces a memory that is ${standing}, ` +
            `${documentId === null ? 'outside' : 'inside'} of a document`, async (t) => {
            const store = await open(t)
            const first = await newMemory('apple', {
              documentId, fingerprint: 'same', trust: standing, metadata: { by: 'first' }, vectors: [[1, 0, 0, 0]],
            })
            await store.insert(home, [first, await newMemory('bystander', { documentId })], { now: NOW })
            const repeat = await newMemory('apple', {
              documentId, fingerprint: 'same', trust: coming, metadata: { by: 'second' }, vectors: [[0, 1, 0, 0]],
            })
            t.strictSame(
              await store.insert(home, [repeat], { now: NOW }), [{ stored: true, memoryId: repeat.memoryId }],
            )
            t.equal(await store.get(home, first.memoryId, NOW), undefined)
            t.match(await store.get(home, repeat.memoryId, NOW), { trust: coming, metadata: { by: 'second' } })
            t.equal(
              (await lexical(store, [home], 'apple', { filters: { minTrust: coming } }))[0]?.memory.memoryId,
              repeat.memoryId,
            )
            t.strictSame(texts(await lexical(store, [home], 'apple')).filter((text) => text === 'apple'), ['apple'])
            t.strictSame(
              (await semantic(store, [home], [1, 0, 0, 0])).map(({ memory, score }) => [memory.memoryId, score]),
              [[repeat.memoryId, 0]],
            )
            t.match(await store.statistics(home, NOW), { memoryCount: 2, passageCount: 2 })
            t.strictSame(await store.insert(home, [first], { now: NOW }), [{
              stored: false, memoryId: repeat.memoryId, passageCount: 1, trust: coming,
            }])
          })
        }
      }
    }
  }

  t.test('of exact repeats within a call the first one decides, and new memories beside them are stored', async (t) => {
    const store = await open(t)
    const standing = await newMemory('apple', { fingerprint: 'same', trust: 'untrusted' })
    await store.insert(home, [standing], { now: NOW })
    const low = await newMemory('apple', { fingerprint: 'same', trust: 'suspect' })
    const high = await newMemory('apple', { fingerprint: 'same', trust: 'trusted' })
    const other = await newMemory('pear', { trust: 'trusted' })
    t.strictSame(await store.insert(home, [high, other, low], { now: NOW }), [
      { stored: true, memoryId: high.memoryId },
      { stored: true, memoryId: other.memoryId },
      { stored: false, memoryId: high.memoryId, passageCount: 1, trust: 'trusted' },
    ])
    t.strictSame(
      (await listAll(store, home)).map(({ memoryId }) => memoryId).sort(), [high.memoryId, other.memoryId].sort(),
    )
    const [first, second] = [
      await newMemory('plum', { fingerprint: 'plum', trust: 'suspect' }),
      await newMemory('plum', { fingerprint: 'plum', trust: 'trusted' }),
    ]
    t.strictSame(await store.insert(home, [first, second], { now: NOW }), [
      { stored: true, memoryId: first.memoryId },
      { stored: false, memoryId: first.memoryId, passageCount: 1, trust: 'suspect' },
    ])
  })

  for (const replacing of [false, true]) {
    t.test(`of exact repeats within a ${replacing ? 'replacement of a document' : 'call'} the first of higher trust ` +
      'replaces the memory', async (t) => {
      const store = await open(t)
      if (replacing && store.replaceDocuments === undefined) return
      const documentId = 'letter'
      const make = async (trust: NewMemory['trust']) => (
        await newMemory('apple', { fingerprint: 'same', documentId, trust })
      )
      await store.insert(home, [await make('suspect'), await newMemory('bystander')], { now: NOW })
      const [low, middle, high] = [await make('suspect'), await make('untrusted'), await make('trusted')]
      const memories = [low, middle, await newMemory('pear', { documentId }), high, await make('suspect')]
      const outcomes = replacing
        ? await store.replaceDocuments!(home, { documentIds: [documentId], keep: [] }, memories, { now: NOW })
        : await store.insert(home, memories, { now: NOW })
      const repeat = { stored: false, memoryId: middle.memoryId, passageCount: 1, trust: 'untrusted' }
      t.strictSame(outcomes, [
        repeat, { stored: true, memoryId: middle.memoryId }, { stored: true, memoryId: memories[2]!.memoryId }, repeat,
        repeat,
      ])
      t.strictSame(texts(await listAll(store, home)).sort(), ['apple', 'bystander', 'pear'])
      t.equal((await store.get(home, middle.memoryId, NOW))?.trust, 'untrusted')
      t.match(await store.statistics(home, NOW), { memoryCount: 3, passageCount: 3 })
    })
  }

  t.test('after concurrent writes of one memory it has the highest trust of them', async (t) => {
    const store = await open(t)
    for (let round = 0; round < 5; round++) {
      const fingerprint = `round ${round}`
      const memories = await Promise.all(
        [...TRUST_LEVELS, ...TRUST_LEVELS].map(async (trust) => await newMemory(fingerprint, { fingerprint, trust })),
      )
      await Promise.all(memories.map(async (memory) => await store.insert(home, [memory], { now: NOW })))
      const standing = (await listAll(store, home)).filter(({ text }) => text === fingerprint)
      t.strictSame(standing.map(({ trust }) => trust), ['trusted'])
    }
  })

  t.test('an import keeps the trust of its memories, and overwrites whatever its trust', async (t) => {
    const store = await open(t)
    const standing = await newMemory('apple', { trust: 'trusted' })
    await store.import(
      home, [standing, ...await newMemories(['pear'], { trust: 'untrusted' })], { now: NOW, onConflict: 'skip' },
    )
    t.strictSame((await listAll(store, home)).map(({ text, trust }) => [text, trust]).sort(), [
      ['apple', 'trusted'], ['pear', 'untrusted'],
    ])
    await store.import(home, [{ ...standing, trust: 'suspect' }], { now: NOW, onConflict: 'skip' })
    t.equal((await store.get(home, standing.memoryId, NOW))?.trust, 'trusted')
    await store.import(home, [{ ...standing, trust: 'suspect' }], { now: NOW, onConflict: 'overwrite' })
    t.equal((await store.get(home, standing.memoryId, NOW))?.trust, 'suspect')
  })

  for (const [about, allowed, twin] of [
    ['id', 'equal or lower', (memoryId: string) => ({ memoryId, fingerprint: 'other' })],
    ['fingerprint', 'lower', () => ({ fingerprint: 'same' })],
  ] as const) {
    t.test(`supersede replaces a stored memory by ${about} of ${allowed} trust, and is refused as a ` +
      'whole otherwise', async (t) => {
      for (const standing of TRUST_LEVELS) {
        for (const coming of TRUST_LEVELS) {
          const store = await open(t)
          const first = await newMemory('apple', { fingerprint: 'same', trust: standing })
          await store.insert(home, [first], { now: NOW })
          const before = await everything(store, home)
          const second = await newMemory('pear', { ...twin(first.memoryId), trust: coming })
          const memories = [await newMemory('bystander'), second]
          const isLower = lowestTrust(standing, coming) === standing && standing !== coming
          if (isLower || (about === 'id' && standing === coming)) {
            t.strictSame(await store.import(home, memories, { now: NOW, onConflict: 'revise' }), {
              imported: 1, skipped: 0, overwritten: 1,
            })
            t.strictSame(texts(await listAll(store, home)).sort(), ['bystander', 'pear'])
          } else {
            // By name: a store of a package of its own has its class from another copy of the library here.
            const name = standing === coming ? 'MemoryChangedError' : 'LowerTrustError'
            await assert.rejects(store.import(home, memories, { now: NOW, onConflict: 'revise' }), { name })
            t.strictSame(await everything(store, home), before, `${coming} in the place of ${standing}`)
          }
        }
      }
    })
  }

  t.test('supersede replaces only the memory that it names by its fingerprint, and is refused as a ' +
    'whole otherwise', async (t) => {
    const store = await open(t)
    const compared = await newMemory('apple')
    const { memoryId } = compared
    const superseding = { ...await newMemory('pear', { memoryId }), revises: compared.fingerprint }
    const memories = [await newMemory('bystander'), superseding]
    // By name: a store of a package of its own has its class from another copy of the library here.
    const refused = { name: 'MemoryChangedError' }
    await assert.rejects(
      store.import(home, memories, { now: NOW, onConflict: 'revise' }), refused, 'it is not stored yet',
    )
    await store.insert(home, [{ ...compared, expiresAt: NOW + 10 }], { now: NOW })
    await assert.rejects(
      store.import(home, memories, { now: NOW + 10, onConflict: 'revise' }), refused, 'it has expired',
    )
    await store.import(home, [await newMemory('plum', { memoryId })], { now: NOW, onConflict: 'overwrite' })
    const before = await everything(store, home)
    await assert.rejects(
      store.import(home, memories, { now: NOW, onConflict: 'revise' }), refused, 'another has replaced it',
    )
    t.strictSame(await everything(store, home), before)
    await store.import(home, [compared], { now: NOW, onConflict: 'overwrite' })
    t.strictSame(await store.import(home, memories, { now: NOW, onConflict: 'revise' }), {
      imported: 1, skipped: 0, overwritten: 1,
    })
    t.strictSame(texts(await listAll(store, home)).sort(), ['bystander', 'pear'])
    await store.remove(home, { kind: 'ids', memoryIds: [memoryId] }, REMOVE)
    const again = { ...superseding, revises: superseding.fingerprint }
    await assert.rejects(
      store.import(home, [again], { now: NOW, onConflict: 'revise' }),
      refused,
      'it is removed',
    )
    t.strictSame(texts(await listAll(store, home)), ['bystander'])
  })

  t.test('supersede does not remove a memory beside the one that it replaces', async (t) => {
    for (const standing of TRUST_LEVELS) {
      const store = await open(t)
      const [near, repeated] = await newMemories(['apple', 'pear'], { trust: standing })
      await store.insert(home, [near!, repeated!], { now: NOW })
      const before = await everything(store, home)
      const superseding = {
        ...await newMemory('pear', { memoryId: near!.memoryId, fingerprint: repeated!.fingerprint, trust: 'trusted' }),
        revises: near!.fingerprint,
      }
      // By name: a store of a package of its own has its class from another copy of the library here.
      await assert.rejects(
        store.import(home, [superseding], { now: NOW, onConflict: 'revise' }), { name: 'MemoryChangedError' },
      )
      t.strictSame(await everything(store, home), before)
    }
  })

  t.test('a memory that is repeated is found by its fingerprint, in its bank and until it expires', async (t) => {
    const store = await open(t)
    if (store.findRepeated === undefined) return
    const { memoryId, fingerprint } = await newMemory('apple')
    const memory = await newMemory('apple', { memoryId, fingerprint, trust: 'untrusted', expiresAt: NOW + 10 })
    await store.insert(home, [memory, await newMemory('pear')], { now: NOW })
    const found = { memoryId, passageCount: 1, trust: 'untrusted' }
    t.strictSame(await store.findRepeated(home, fingerprint, NOW), found)
    t.equal(await store.findRepeated(home, fingerprint, NOW + 10), undefined)
    t.equal(await store.findRepeated(bank('other'), fingerprint, NOW), undefined)
    t.equal(await store.findRepeated(home, 'none', NOW), undefined)
  })
}
