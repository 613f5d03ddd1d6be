import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type { ExtractionQueue } from '../../../lib/stores/extraction-queue.js'
import { MemoryChangedError, type NewMemory, type VectorStore } from '../../../lib/stores/vector-store.js'
import { type MemoryFields, newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { bank, lexical, listAll, REMOVE, texts, type OpenStore } from './setup.js'

const home = bank('home')
const UNTIL = NOW + 60_000

type QueueStore = VectorStore & ExtractionQueue

/** Opens a store, or skips the test where the store keeps no extractions. */
async function openQueue (t: Test, open: OpenStore): Promise<QueueStore | undefined> {
  const store = await open(t)
  if (store.takeExtractions !== undefined) return store as QueueStore
  t.pass('the store keeps no extractions')
  return undefined
}

async function factOf (sources: readonly NewMemory[], text: string, fields: MemoryFields = {}): Promise<NewMemory> {
  return await newMemory(text, {
    kind: 'fact', derivedFrom: sources.map(({ memoryId }) => memoryId).sort(), reason: 'extracted', ...fields,
  })
}

function idsOf (memories: readonly NewMemory[]): string[] {
  return memories.map(({ memoryId }) => memoryId)
}

async function current (store: VectorStore): Promise<string[]> {
  return texts(await listAll(store, home, { filters: { state: 'all' } })).sort()
}

async function due (store: QueueStore): Promise<string[]> {
  return (await store.dueExtractions({ now: NOW, limit: 10 })).map(({ bankId }) => bankId)
}

async function taken (store: QueueStore, now = NOW, until = UNTIL): Promise<string[]> {
  return (await store.takeExtractions(home, { now, until, limit: 10 })).map(({ memoryId }) => memoryId)
}

export function derivedContract (t: Test, open: OpenStore): void {
  t.test('only what is stored with the flag is noted, and taken once, the oldest first', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const [first, second, third] = await newMemories(['An otter.', 'A heron.', 'A stoat.'])
    await store.insert(home, [await newMemory('A plain one.')], { now: NOW })
    t.same(await due(store), [])
    await store.insert(home, [second!, first!], { now: NOW, extract: true })
    t.match(await store.insert(home, [{ ...third!, fingerprint: first!.fingerprint }], { now: NOW, extract: true }), [
      { stored: false },
    ])
    await store.insert(bank('other'), [third!], { now: NOW, extract: true })
    t.same((await due(store)).sort(), ['home', 'other'])
    t.same(await store.takeExtractions(home, { now: NOW, until: UNTIL, limit: 1 }), [
      { memoryId: first!.memoryId, attempts: 1 },
    ])
    t.same(await taken(store), [second!.memoryId])
    t.same(await taken(store), [], 'both are held')
    t.same(await due(store), ['other'])
    t.same(await store.takeExtractions(home, { now: UNTIL, until: UNTIL + 1, limit: 1 }), [
      { memoryId: first!.memoryId, attempts: 2 },
    ], 'and can be taken again when their time is over')
  })

  t.test('what is settled ends or waits, and attempts that do not count are given back', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const memories = await newMemories(['An otter.', 'A heron.', 'A stoat.'])
    const [first, second, third] = idsOf(memories)
    await store.insert(home, memories, { now: NOW, extract: true })
    await taken(store)
    await store.settleExtractions(home, { memoryIds: [first!], until: UNTIL })
    await store.settleExtractions(home, { memoryIds: [second!], until: UNTIL }, { retryAt: NOW + 5, isCounted: true })
    await store.settleExtractions(home, { memoryIds: [third!], until: UNTIL }, { retryAt: NOW + 6, isCounted: false })
    t.same(await taken(store), [])
    t.same(await store.takeExtractions(home, { now: NOW + 6, until: UNTIL, limit: 9 }), [
      { memoryId: second, attempts: 2 }, { memoryId: third, attempts: 1 },
    ])
    const stale = { memoryIds: [second!, third!], until: UNTIL - 1 }
    await store.settleExtractions(home, stale)
    await store.settleExtractions(home, stale, { retryAt: NOW, isCounted: true })
    t.same(await taken(store, NOW + 6), [], 'who does not hold them changes nothing')
    t.same((await taken(store, UNTIL)).length, 2)
  })

  t.test('facts are stored with the end of their extraction, once', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const sources = await newMemories(['An otter swims.', 'It sleeps.'])
    await store.insert(home, sources, { now: NOW, extract: true })
    await taken(store)
    const extracted = { memoryIds: idsOf(sources), until: UNTIL }
    const fact = await factOf(sources, 'Otters swim.')
    await assert.rejects(
      store.insert(home, [fact], { now: NOW, extracted: { ...extracted, until: UNTIL + 1 } }), MemoryChangedError,
    )
    t.same(await current(store), ['An otter swims.', 'It sleeps.'])
    t.match(await store.insert(home, [fact], { now: NOW, extracted }), [{ stored: true }])
    t.match(await store.get(home, fact.memoryId, NOW), {
      kind: 'fact', derivedFrom: [...extracted.memoryIds].sort(), reason: 'extracted',
    })
    await assert.rejects(
      store.insert(home, [await factOf(sources, 'Otters sleep.')], { now: NOW, extracted }), MemoryChangedError,
    )
    t.same(await current(store), ['An otter swims.', 'It sleeps.', 'Otters swim.'])
    t.same(await taken(store, UNTIL), [])
  })

  t.test('of two that end the same extraction at once one stores its facts', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    for (let round = 0; round < 10; round++) {
      const source = await newMemory(`Round ${round}.`)
      await store.insert(home, [source], { now: NOW, extract: true })
      await taken(store)
      const extracted = { memoryIds: [source.memoryId], until: UNTIL }
      const both = await Promise.allSettled([1, 2].map(async (number) => (
        await store.insert(home, [await factOf([source], `Fact ${number} of ${round}`)], { now: NOW, extracted })
      )))
      t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    }
    t.equal((await listAll(store, home)).filter(({ kind }) => kind === 'fact').length, 10)
  })

  t.test('a memory that is removed while facts are derived from it leaves none', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    for (let round = 0; round < 10; round++) {
      const source = await newMemory(`Round ${round}.`)
      await store.insert(home, [source], { now: NOW, extract: true })
      await taken(store)
      const extracted = { memoryIds: [source.memoryId], until: UNTIL }
      const fact = await factOf([source], `A fact of ${round}`)
      const selector = round % 2 === 0
        ? { kind: 'ids' as const, memoryIds: [source.memoryId] }
        : { kind: 'all' as const }
      await Promise.allSettled([
        store.insert(home, [fact], { now: NOW, extracted }), store.remove(home, selector, REMOVE),
      ])
      t.same(await current(store), [])
      t.same(await taken(store, UNTIL), [])
    }
  })

  t.test('a fact is removed with its last source, with its versions', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const sources = await newMemories(['An otter swims.', 'It sleeps.'])
    const other = await newMemory('A heron waits.')
    const [ofBoth, past] = [
      await factOf(sources, 'Otters live.', { key: 'otter' }), await factOf(sources, 'Otters dive.', { key: 'otter' }),
    ]
    await store.insert(home, [...sources, other], { now: NOW, extract: true })
    await store.insert(home, [past], { now: NOW })
    await store.insert(home, [ofBoth], { now: NOW })
    await store.insert(home, [await factOf([other], 'Herons wait.')], { now: NOW })
    t.match(await store.get(home, past.memoryId, NOW), { state: 'superseded' })
    const remove = async (memoryId: string) => (
      await store.remove(home, { kind: 'ids', memoryIds: [memoryId] }, REMOVE)
    )
    t.equal((await remove(sources[0]!.memoryId)).count, 1)
    t.same(await current(store), ['A heron waits.', 'Herons wait.', 'It sleeps.', 'Otters dive.', 'Otters live.'])
    t.match(await remove(sources[1]!.memoryId), { count: 1, memoryIds: [sources[1]!.memoryId] })
    t.same(await current(store), ['A heron waits.', 'Herons wait.'])
    t.same(await lexical(store, [home], 'otters'), [])
    t.match(await store.statistics(home, NOW), { memoryCount: 2, passageCount: 2 })
    t.same(await taken(store), [other.memoryId])
    await remove(other.memoryId)
    t.same(await current(store), [])
    t.same(await store.listBanks({ now: NOW, limit: 10 }), [])
  })

  t.test('a fact goes with sources that expire, are overwritten or repeated by higher trust', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const [expiring, written, suspect] = [
      await newMemory('It ends.', { expiresAt: NOW + 5 }), await newMemory('Before.'),
      await newMemory('Who said it?', { trust: 'suspect' }),
    ]
    await store.insert(home, [expiring, written, suspect], { now: NOW })
    for (const source of [expiring, written, suspect]) {
      await store.insert(home, [await factOf([source], `Fact: ${source.text}`)], { now: NOW })
    }
    await store.import(
      home, [await newMemory('After.', { memoryId: written.memoryId })], { now: NOW, onConflict: 'overwrite' },
    )
    t.same(await current(store), ['After.', 'Fact: It ends.', 'Fact: Who said it?', 'It ends.', 'Who said it?'])
    await store.insert(home, [await newMemory('Who said it?', { trust: 'trusted' })], { now: NOW })
    t.same(await current(store), ['After.', 'Fact: It ends.', 'It ends.', 'Who said it?'])
    await store.insert(home, [{ ...await newMemory('It ends.'), fingerprint: expiring.fingerprint }], { now: NOW + 5 })
    t.same(await current(store), ['After.', 'It ends.', 'Who said it?'])
  })

  t.test('a document that is replaced takes its facts along, but for those of what is kept', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined || store.replaceDocuments === undefined) return
    const [kept, repeated, gone] = await newMemories(['Kept.', 'Repeated.', 'Gone.'], { documentId: 'd' })
    await store.insert(home, [kept!, repeated!, gone!], { now: NOW })
    for (const source of [kept!, repeated!, gone!]) {
      await store.insert(home, [await factOf([source], `Fact: ${source.text}`, { documentId: 'd' })], { now: NOW })
    }
    const again = await newMemory('Repeated.', { documentId: 'd', fingerprint: repeated!.fingerprint })
    await store.replaceDocuments(
      home, { documentIds: ['d'], keep: [kept!.memoryId] }, [again, await newMemory('New.', { documentId: 'd' })],
      { now: NOW, extract: true },
    )
    t.same(await current(store), ['Fact: Kept.', 'Fact: Repeated.', 'Kept.', 'New.', 'Repeated.'])
    t.equal((await taken(store)).length, 1, 'what is new is noted')
  })

  t.test('a changed memory keeps its facts', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const source = await newMemory('Lyon.', { key: 'home' })
    await store.insert(home, [source], { now: NOW })
    await store.insert(home, [await factOf([source], 'Ada lives in Lyon.')], { now: NOW })
    await store.insert(home, [await newMemory('Nice.', { key: 'home' })], { now: NOW + 1 })
    t.same(await current(store), ['Ada lives in Lyon.', 'Lyon.', 'Nice.'])
  })

  t.test('a redaction removes the facts of a memory, and what is being derived from it is derived anew', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined || store.redact === undefined) return
    const [source, other] = await newMemories(['My number is 5.', 'A heron waits.'])
    await store.insert(home, [source!, other!], { now: NOW, extract: true })
    await taken(store)
    const held = { memoryIds: idsOf([source!, other!]), until: UNTIL }
    const [ofBoth, past] = [
      await factOf([source!, other!], 'The number is 5.', { key: 'number' }),
      await factOf([source!], 'It is 5.', { key: 'number' }),
    ]
    await store.insert(home, [past], { now: NOW })
    await store.insert(home, [ofBoth, await factOf([other!], 'Herons wait.')], { now: NOW })
    const { fingerprint, passages, ...memory } = await newMemory('My number is secret.')
    const changed = { ...memory, memoryId: source!.memoryId, version: 2, changedAt: NOW + 1 }
    await store.revise!(home, [{ memory: changed, fingerprint, passages }], { now: NOW + 1 })
    await assert.rejects(
      store.insert(home, [await factOf([source!], 'A fact of before.')], { now: NOW + 1, extracted: held }),
      MemoryChangedError,
    )
    t.same(await taken(store, NOW + 1, UNTIL + 1), [source!.memoryId])
    t.equal(await store.redact(home, source!.memoryId, 3, { now: NOW + 2 }), false)
    t.same(
      await current(store),
      ['A heron waits.', 'Herons wait.', 'It is 5.', 'My number is secret.', 'The number is 5.'],
    )
    t.equal(await store.redact(home, source!.memoryId, 1, { now: NOW + 2 }), true)
    t.same(await current(store), ['A heron waits.', 'Herons wait.', 'My number is secret.'])
    t.match(await store.statistics(home, NOW + 2), { memoryCount: 3, passageCount: 3 })
    await store.settleExtractions(home, { memoryIds: [source!.memoryId], until: UNTIL + 1 })
    t.same(await taken(store, NOW + 2), [source!.memoryId], 'who held it does not end it')
  })

  t.test('a fact of an earlier time takes no place, and ends when the later one begins', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const source = await newMemory('A turn.')
    await store.insert(home, [source], { now: NOW })
    const fact = async (text: string, fields: MemoryFields) => await factOf([source], text, { key: 'home', ...fields })
    const lyon = await fact('Ada lives in Lyon.', { occurredAt: 50 })
    const [nice, rome, bonn, oslo] = [
      await fact('Ada lives in Nice.', { occurredAt: 40 }),
      await fact('Ada lived in Rome.', { occurredAt: 60, validFrom: 20, validUntil: 30 }),
      await fact('Ada lives in Bonn.', {}),
      await fact('Ada lives in Oslo.', { occurredAt: 10, validFrom: 70 }),
    ]
    const read = async ({ memoryId }: NewMemory) => {
      const found = await store.get(home, memoryId, NOW)
      return [found?.state, found?.key, found?.validUntil]
    }
    await store.insert(home, [lyon], { now: NOW })
    await store.insert(home, [nice, rome], { now: NOW })
    t.same(await Promise.all([lyon, nice, rome].map(read)), [
      ['current', 'home', null], ['current', null, 50], ['current', null, 30],
    ])
    await store.insert(home, [oslo], { now: NOW })
    t.same(await Promise.all([lyon, oslo].map(read)), [['superseded', 'home', 70], ['current', 'home', null]])
    await store.insert(home, [bonn], { now: NOW })
    t.same(await Promise.all([oslo, bonn].map(read)), [
      ['superseded', 'home', NOW], ['current', 'home', null],
    ], 'without a time it is the latest')
  })

  t.test('a fact takes the place of facts under its key, never of what is more', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined) return
    const source = await newMemory('A turn.')
    const plain = await newMemory('Ada works at Acme.', { key: 'ada/employer' })
    await store.insert(home, [source, plain], { now: NOW })
    const facts = [
      await factOf([source], 'Ada works at Globex.', { key: 'ada/employer' }),
      await factOf([source], 'Ada lives in Lyon.', { key: 'ada/home' }),
      await factOf([source], 'Ada lives in Nice.', { key: 'ada/home', trust: 'untrusted' }),
      await factOf([source], 'Ada lives in Paris.', { key: 'ada/home' }),
    ]
    for (const fact of facts) t.match(await store.insert(home, [fact], { now: NOW }), [{ stored: true }])
    const read = async (memory: NewMemory) => {
      const found = await store.get(home, memory.memoryId, NOW)
      return [found?.state, found?.key]
    }
    t.same(await read(plain), ['current', 'ada/employer'])
    t.same(await Promise.all(facts.map(read)), [
      ['current', null], ['superseded', 'ada/home'], ['current', null], ['current', 'ada/home'],
    ])
    const told = await newMemory('Ada lives in Rome.', { key: 'ada/home' })
    await store.insert(home, [told], { now: NOW })
    t.same(await read(told), ['current', 'ada/home'])
    t.same(await read(facts[3]!), ['superseded', 'ada/home'])
  })

  t.test('the removal of a bank ends its extractions', async (t) => {
    const store = await openQueue(t, open)
    if (store === undefined || store.removeBank === undefined) return
    await store.insert(home, await newMemories(['An otter.', 'A heron.']), { now: NOW, extract: true })
    await store.removeBank(home, NOW)
    t.same(await due(store), [])
    await store.insert(home, [await newMemory('A stoat.')], { now: NOW })
    t.same(await taken(store), [])
  })
}
