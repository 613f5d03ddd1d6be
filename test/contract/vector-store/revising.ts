import assert from 'node:assert/strict'
import type { Test } from 'tap'
import {
  type Memory, memoryOf, type NewMemory, type Revision, type SearchRequest, type VectorStore,
} from '../../../lib/stores/vector-store.js'
import { newId, newMemories, newMemory, NOW, withTags } from '../../helpers/memories.js'
import { queryTerms } from '../../helpers/query-terms.js'
import { bank, lexical, listAll, REMOVE, scanAll, semantic, texts, type OpenStore } from './setup.js'

const home = bank('home')
const HOUR = 3_600_000

/** Opens a store, or skips the test where the store has no versions. */
async function openLife (t: Test, open: OpenStore): Promise<Required<VectorStore> | undefined> {
  const store = await open(t)
  if (store.revise !== undefined) return store as Required<VectorStore>
  t.pass('the store keeps no versions')
  return undefined
}

/** The next version of a memory an hour later, with other fields. */
function revision (memory: Memory, fields: Partial<Memory>, fingerprint = newId()): Revision {
  const next = { ...memoryOf(memory), version: memory.version + 1, changedAt: memory.changedAt + HOUR, ...fields }
  return { memory: next, fingerprint }
}

async function current (store: VectorStore): Promise<string[]> {
  return texts(await listAll(store, home)).sort()
}

export function revisingContract (t: Test, open: OpenStore): void {
  t.test('a memory takes the place of the one with its key, and of those that it names', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const [lyon, nice, otter] = [
      await newMemory('Lyon', { key: 'home' }), await newMemory('Nice', { key: 'home' }), await newMemory('An otter'),
    ]
    await store.insert(home, [lyon, otter], { now: NOW })
    const outcome = await store.insert(home, [{ ...nice, supersedes: [otter.memoryId] }], { now: NOW + HOUR })
    t.match(outcome, [{ stored: true, memoryId: nice.memoryId }])
    t.same(
      outcome.flatMap((each) => each.stored ? each.superseded ?? [] : []).sort(),
      [lyon.memoryId, otter.memoryId].sort(),
    )
    t.same(await current(store), ['Nice'])
    t.match(await store.get(home, lyon.memoryId, NOW), {
      state: 'superseded', supersededBy: nice.memoryId, validUntil: NOW + HOUR, version: 2, text: 'Lyon',
    })
    t.same(
      (await store.get(home, nice.memoryId, NOW))?.supersedes, [lyon.memoryId, otter.memoryId].sort(),
    )
    t.same(texts(await scanAll(store, home)), ['Nice'], 'an export has what is current')
    t.equal((await store.statistics(home, NOW)).memoryCount, 1)
  })

  t.test('of several memories with one key in one call the last is current, and the others precede it', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const memories = [
      await newMemory('one', { key: 'k' }), await newMemory('two', { key: 'k' }),
      await newMemory('three', { key: 'k' }),
    ]
    await store.insert(home, memories, { now: NOW })
    t.same(await current(store), ['three'])
    const history = await listAll(store, home, { filters: { state: 'history' } })
    t.same(
      history.map(({ text, supersededBy }) => [text, supersededBy]).sort(),
      [['one', memories[1]!.memoryId], ['two', memories[2]!.memoryId]],
    )
  })

  t.test('the exact repeat of the memory under a key stores nothing', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const first = await newMemory('Lyon', { key: 'home' })
    await store.insert(home, [first], { now: NOW })
    t.match(await store.insert(home, [await newMemory('Lyon', { key: 'home' })], { now: NOW }), [
      { stored: false, memoryId: first.memoryId },
    ])
    t.equal((await store.versions(home, first.memoryId, NOW)).length, 1)
  })

  t.test('a memory of lower trust supersedes none, and one that names an unknown memory is refused', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    await store.insert(home, [await newMemory('Lyon', { key: 'home' })], { now: NOW })
    const poison = await newMemory('Nice', { key: 'home', trust: 'untrusted' })
    await assert.rejects(store.insert(home, [await newMemory('x'), poison], { now: NOW }), { name: 'LowerTrustError' })
    const unknown = newId()
    await assert.rejects(
      store.insert(home, [{ ...await newMemory('y'), supersedes: [unknown] }], { now: NOW }),
      { name: 'UnknownMemoriesError', memoryIds: [unknown] },
    )
    t.same(await current(store), ['Lyon'], 'nothing was stored')
  })

  t.test('a key is that of one bank, and the keys of expired memories are free', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    await store.insert(home, [await newMemory('Lyon', { key: 'home', expiresAt: NOW + 1 })], { now: NOW })
    const elsewhere = [bank('other'), bank('home', 'acme')]
    for (const key of elsewhere) await store.insert(key, [await newMemory('Nice', { key: 'home' })], { now: NOW })
    t.same(await current(store), ['Lyon'])
    const later = await store.insert(home, [await newMemory('Paris', { key: 'home' })], { now: NOW + HOUR })
    t.strictSame(later.map((each) => each.stored && each.superseded), [undefined])
  })

  t.test('a revision makes the next version, which searches and lists have from then on', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const heron = await newMemory('A heron', { tags: ['bird'], vectors: [[1, 0, 0, 0]] })
    await store.insert(home, [heron], { now: NOW })
    await store.revise(home, [revision(heron, { tags: ['grey'] })], { now: NOW })
    t.same((await semantic(store, [home], [1, 0, 0, 0])).map(({ memory }) => memory.tags), [['grey']])
    t.same((await lexical(store, [home], 'heron')).map(({ memory }) => memory.version), [2])
    const told = await newMemory('A stork', { vectors: [[0, 1, 0, 0]] })
    await store.revise(home, [{
      ...revision({ ...memoryOf(heron), version: 2 }, { text: 'A stork', tokens: told.tokens }),
      passages: told.passages,
    }], { now: NOW })
    t.same(await lexical(store, [home], 'heron'), [])
    t.same(texts(await lexical(store, [home], 'stork')), ['A stork'])
    t.same((await semantic(store, [home], [0, 1, 0, 0])).map(({ score }) => Math.round(score)), [1])
    const versions = await store.versions(home, heron.memoryId, NOW)
    t.same(versions.map(({ version, text, tags, redacted }) => ({ version, text, tags, redacted })), [
      { version: 3, text: 'A stork', tags: ['bird'], redacted: false },
      { version: 2, text: 'A heron', tags: ['grey'], redacted: false },
      { version: 1, text: 'A heron', tags: ['bird'], redacted: false },
    ])
    t.same((await store.statistics(home, NOW)).memoryCount, 1)
  })

  t.test('words weigh in what is past as they do in what is current', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const memories = await newMemories(['A heron', 'The heron', 'An otter', 'A crow', 'An otter and a crow'])
    await store.insert(home, memories, { now: NOW })
    await store.insert(home, [await newMemory('A brief heron', { expiresAt: NOW + 1 })], { now: NOW })
    const now = NOW + HOUR
    await store.revise(home, [revision(memories[1]!, { state: 'retired' })], { now })
    // Without context, because what is past has other neighbours.
    const words = { terms: queryTerms('heron otter'), k1: 0.9, length: { b: 0.5 }, context: false }
    const scores = async (state: 'history' | 'all') => {
      const found = await lexical(store, [home], '', { now, filters: { state }, lexical: words })
      return new Map(found.map(({ memory, score }) => [memory.text, score]))
    }
    const all = await scores('all')
    t.same([...all.keys()].sort(), ['A heron', 'An otter', 'An otter and a crow', 'The heron'])
    t.equal(all.get('The heron'), all.get('A heron'))
    t.same([...await scores('history')], [['The heron', all.get('A heron')]])
  })

  t.test('what is past is found by words and by meaning, and as it was', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const heron = await newMemory('A heron', { vectors: [[1, 0, 0, 0]] })
    const otter = await newMemory('An otter', { vectors: [[0, 1, 0, 0]] })
    await store.insert(home, [heron, otter], { now: NOW })
    await store.revise(home, [revision(heron, { state: 'retired' })], { now: NOW })
    const found = async (filters: SearchRequest['filters']) => ({
      words: texts(await lexical(store, [home], 'heron otter', { filters })).sort(),
      meaning: (await semantic(store, [home], [1, 0, 0, 0], { filters })).map(({ memory, score }) => (
        `${memory.text} ${memory.state} ${Math.round(score)}`
      )).sort(),
    })
    t.same(await found({}), { words: ['An otter'], meaning: ['An otter current 0'] })
    t.same(await found({ state: 'history' }), { words: ['A heron'], meaning: ['A heron retired 1'] })
    t.same(await found({ asOf: NOW }), {
      words: ['A heron', 'An otter'], meaning: ['A heron current 1', 'An otter current 0'],
    })
    t.same((await found({ state: 'all' })).words, ['A heron', 'An otter'])
    await store.revise(home, [
      revision({ ...memoryOf(heron), version: 2, changedAt: NOW + HOUR }, { state: 'current' }),
    ], { now: NOW })
    t.same((await found({})).meaning, ['A heron current 1', 'An otter current 0'], 'a restored memory has its vector')
  })

  t.test('a revision of a version that is not the last, or of no memory, changes nothing', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const [heron, otter] = [await newMemory('A heron'), await newMemory('An otter')]
    await store.insert(home, [heron, otter], { now: NOW })
    await store.revise(home, [revision(heron, { tags: ['x'] })], { now: NOW })
    for (const wrong of [revision(heron, { tags: ['y'] }), revision(await newMemory('nobody'), {})]) {
      await assert.rejects(
        store.revise(home, [revision(otter, { tags: ['y'] }), wrong], { now: NOW }), { name: 'MemoryChangedError' },
      )
    }
    t.same((await listAll(store, home)).map(({ tags }) => tags).sort(), [[], ['x']])
  })

  t.test('no two current memories have one key or one content', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const [heron, otter] = [await newMemory('A heron', { key: 'a' }), await newMemory('An otter', { key: 'b' })]
    await store.insert(home, [heron, otter], { now: NOW })
    await assert.rejects(store.revise(home, [revision(otter, { key: 'a' })], { now: NOW }), {
      name: 'PlaceTakenError', memoryId: heron.memoryId, key: 'a',
    })
    await assert.rejects(store.revise(home, [revision(otter, { key: null }, heron.fingerprint)], { now: NOW }), {
      name: 'PlaceTakenError', memoryId: heron.memoryId, key: undefined,
    })
    await store.revise(home, [revision(heron, { key: 'b' }), revision(otter, { key: 'a' })], { now: NOW })
    t.same((await listAll(store, home)).map(({ text, key }) => `${text} ${key}`).sort(), ['A heron b', 'An otter a'])
  })

  t.test('a redacted version is empty and not found', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const heron = await newMemory('A heron', { tags: ['secret'], metadata: { a: 1 }, vectors: [[1, 0, 0, 0]] })
    await store.insert(home, [heron], { now: NOW })
    await store.revise(home, [revision(heron, { tags: [] })], { now: NOW })
    t.equal(await store.redact(home, heron.memoryId, 2, { now: NOW }), false, 'the last version')
    t.equal(await store.redact(home, heron.memoryId, 7, { now: NOW }), false)
    t.equal(await store.redact(home, heron.memoryId, 1, { now: NOW }), true)
    t.match(await store.versions(home, heron.memoryId, NOW), [
      { version: 2, redacted: false, text: 'A heron' },
      { version: 1, redacted: true, text: '', tags: [], metadata: {}, changedAt: NOW },
    ])
    const filters = { asOf: NOW }
    t.same(await lexical(store, [home], 'heron', { filters }), [])
    t.same(await semantic(store, [home], [1, 0, 0, 0], { filters }), [])
    t.same(await listAll(store, home, { filters }), [])
  })

  t.test('a removal takes the versions along, and finds memories in every state', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const [heron, otter, stoat] = [
      await newMemory('A heron', { tags: ['x'] }), await newMemory('An otter', { tags: ['x'] }),
      await newMemory('A stoat'),
    ]
    await store.insert(home, [heron, otter, stoat], { now: NOW })
    await store.revise(home, [revision(heron, { source: 's' }), revision(otter, { state: 'retired' })], { now: NOW })
    const selector = withTags(['x'])
    t.match(await store.remove(home, selector, { ...REMOVE, dryRun: true }), { count: 2 })
    t.match(await store.remove(home, selector, { ...REMOVE, now: NOW + 2 * HOUR }), { count: 2 })
    for (const { memoryId } of [heron, otter]) t.same(await store.versions(home, memoryId, NOW), [])
    const filters = { asOf: NOW, state: 'all' } as const
    t.same(texts(await listAll(store, home, { filters })), ['A stoat'])
    t.equal(await store.countRemovedAfter(home, NOW), 2)
    t.equal(await store.countRemovedAfter(home, NOW + 3 * HOUR), 0)
    await store.revise(home, [revision(stoat, { state: 'retired' })], { now: NOW })
    t.match(await store.listBanks({ now: NOW, limit: 9 }), [{ bankId: 'home', memoryCount: 0 }])
    t.match(await store.remove(home, { kind: 'all' }, REMOVE), { count: 1 })
    t.same(await store.listBanks({ now: NOW, limit: 9 }), [])
  })

  t.test('the versions of an expired memory are gone with it', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const heron = await newMemory('A heron')
    await store.insert(home, [heron, await newMemory('An otter')], { now: NOW })
    await store.revise(home, [revision(heron, { expiresAt: NOW + 2 * HOUR, state: 'retired' })], { now: NOW })
    const read = async (now: number) => texts(await listAll(store, home, { now, filters: { asOf: NOW } })).sort()
    t.same(await read(NOW + HOUR), ['A heron', 'An otter'])
    t.same(await read(NOW + 2 * HOUR), ['An otter'])
    t.same(await store.versions(home, heron.memoryId, NOW + 2 * HOUR), [])
  })

  t.test('an import takes memories of every state with their versions, and overwrites them with these', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const memoryId = newId()
    const earlier: NewMemory = await newMemory('A heron', { memoryId })
    const retired = await newMemory('A stork', {
      memoryId, version: 2, state: 'retired', changedAt: NOW + HOUR, vectors: [[1, 0, 0, 0]],
    })
    const imported = [{ ...retired, earlier: [{ ...earlier, endedAt: NOW + HOUR, redacted: false }] }]
    const options = { now: NOW, onConflict: 'overwrite' } as const
    t.same(await store.import(home, imported, options), { imported: 1, skipped: 0, overwritten: 0 })
    t.same(await store.import(home, imported, options), { imported: 0, skipped: 0, overwritten: 1 })
    t.same(
      await store.import(home, imported, { now: NOW, onConflict: 'skip' }), { imported: 0, skipped: 1, overwritten: 0 },
    )
    t.same((await store.versions(home, memoryId, NOW)).map(({ text, state }) => `${text} ${state}`), [
      'A stork retired', 'A heron current',
    ])
    t.same(texts(await listAll(store, home, { filters: { asOf: NOW } })), ['A heron'])
    t.same(await current(store), [])
  })

  t.test('changes since an instant are told with the versions of then', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const [heron, otter, stoat] = [
      await newMemory('A heron'), await newMemory('An otter'),
      await newMemory('A stoat', { changedAt: NOW + 2 * HOUR }),
    ]
    await store.insert(home, [heron, otter, stoat], { now: NOW })
    await store.revise(home, [revision(heron, { tags: ['x'] })], { now: NOW })
    const changed = await store.changedAfter(home, { instant: NOW, now: NOW, limit: 9 })
    t.same(changed.map(({ memory, then }) => [memory.text, memory.version, then?.version]).sort(), [
      ['A heron', 2, 1], ['A stoat', 1, undefined],
    ])
    t.equal((await store.changedAfter(home, { instant: NOW, now: NOW, limit: 1 })).length, 1)
  })

  t.test('the pages of what was so at an instant have each memory once', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const memories = await newMemories(Array.from({ length: 12 }, (_, index) => `heron ${index}`))
    await store.insert(home, memories, { now: NOW })
    await store.revise(home, memories.slice(2).map((memory) => revision(memory, { tags: ['x'] })), { now: NOW })
    const expected = memories.map(({ memoryId }) => memoryId)
    for (const order of ['oldest', 'newest'] as const) {
      for (const filters of [{ asOf: NOW }, { asOf: NOW, state: 'all' }] as const) {
        const read: string[] = []
        let after: { retainedAt: number, memoryId: string } | undefined
        do {
          const page = await listAll(store, home, { filters, limit: 5, order, after })
          read.push(...page.map(({ memoryId }) => memoryId))
          after = page.length < 5 ? undefined : page.at(-1)
        } while (after !== undefined)
        t.same(read, order === 'oldest' ? expected : expected.toReversed())
        const skipped = await listAll(store, home, { filters, limit: 5, offset: 4, order })
        t.same(skipped.map(({ memoryId }) => memoryId), read.slice(4, 9))
      }
    }
  })

  t.test('a removal counts what is past, and neither what has expired nor facts are left out of the count that a ' +
    'rollback tells', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const [heron, otter, stoat] = [
      await newMemory('A heron', { tags: ['x'] }), await newMemory('An otter'), await newMemory('A stoat'),
    ]
    const fact = await newMemory('A fact', { kind: 'fact', derivedFrom: [heron.memoryId] })
    await store.insert(home, [heron, otter, stoat, fact], { now: NOW })
    await store.insert(home, [await newMemory('brief', { expiresAt: NOW + HOUR })], { now: NOW })
    await store.revise(home, [revision(otter, { state: 'retired' })], { now: NOW })
    const now = NOW + 2 * HOUR
    await store.remove(home, withTags(['x']), { ...REMOVE, now })
    t.equal(await store.countRemovedAfter(home, NOW), 2, 'the memory and the fact that was derived from it')
    await store.remove(home, { kind: 'all' }, { ...REMOVE, now })
    t.equal(await store.countRemovedAfter(home, NOW), 4)
    const kites = [await newMemory('A kite'), await newMemory('A crow')]
    await store.insert(home, kites, { now })
    await store.revise(home, [revision(kites[0]!, { state: 'retired' })], { now })
    t.match(await store.removeBank(home, now), { memoryCount: 2 })
    t.equal(await store.countRemovedAfter(home, NOW), 0)
  })

  t.test('a memory does not supersede one that the same write removes with its document', async (t) => {
    const store = await openLife(t, open)
    if (store === undefined) return
    const old = await newMemory('Lyon', { documentId: 'letter' })
    await store.insert(home, [old], { now: NOW })
    const next = { ...await newMemory('Nice', { documentId: 'letter' }), supersedes: [old.memoryId] }
    await assert.rejects(
      store.replaceDocuments(home, { documentIds: ['letter'], keep: [] }, [next], { now: NOW }),
      { name: 'UnknownMemoriesError', memoryIds: [old.memoryId] },
    )
    t.same(await current(store), ['Lyon'])
  })
}
