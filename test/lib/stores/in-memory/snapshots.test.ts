import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { giveWay } from '../../../../lib/base/event-loop.js'
import type { BankKey } from '../../../../lib/access/context.js'
import { InMemoryVectorStore } from '../../../../lib/stores/in-memory/store.js'
import { newLife, optionalValues } from '../../../../lib/stores/memory-fields.js'
import type { Memory, NewMemory, Selector } from '../../../../lib/stores/vector-store.js'
import { TokenCount } from '../../../../lib/text/tokens.js'
import fc, { runs } from '../../../helpers/fast-check.js'
import { NOW, withTags } from '../../../helpers/memories.js'

const home: BankKey = { tenantId: null, bankId: 'home' }
const WORDS = ['red', 'green', 'blue', 'sky', 'sea']
const BM25 = { k1: 0.9, length: { pivot: 2 }, context: true }
const EXPIRY = NOW + 1000

/** Each has a small number of words, ids and fingerprints, so that there are conflicts, and vectors that differ. */
interface Recipe {
  id: number
  words: readonly number[]
  tag: boolean
  document: boolean
  expires: boolean
  embedded: boolean
}

const ids = Array.from({ length: 12 }, (_, n) => `01890000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`)

function memoryOf ({ id, words, tag, document, expires, embedded }: Recipe, now: number): NewMemory {
  const terms = new Map<string, number>()
  for (const word of words) terms.set(WORDS[word]!, (terms.get(WORDS[word]!) ?? 0) + 1)
  const text = words.map((word) => WORDS[word]).join(' ')
  const vector = Float32Array.of(1, id, words.length)
  return {
    ...optionalValues(() => null),
    message: null,
    ...newLife({ changedAt: NOW, changedBy: null }),
    memoryId: ids[id]!,
    text,
    tags: tag ? ['tag'] : [],
    metadata: { id },
    retainedAt: NOW - id * 7 % 5,
    expiresAt: expires && now < EXPIRY ? EXPIRY : null,
    documentId: document ? 'doc' : null,
    tokens: TokenCount.of(text),
    trust: 'trusted',
    fingerprint: `${text} ${tag} ${document} ${id % 3}`,
    passages: [{ start: 0, end: text.length, terms, length: words.length, ...(embedded && { vector }) }],
  }
}

const recipe: fc.Arbitrary<Recipe> = fc.record({
  id: fc.nat(ids.length - 1),
  words: fc.array(fc.nat(WORDS.length - 1), { minLength: 1, maxLength: 4 }),
  tag: fc.boolean(),
  document: fc.boolean(),
  expires: fc.boolean(),
  embedded: fc.boolean(),
})
const recipes = fc.uniqueArray(recipe, { maxLength: 8, selector: ({ id }) => id })

type Action =
  | { kind: 'import', recipes: readonly Recipe[], onConflict: 'skip' | 'overwrite' }
  | { kind: 'remove', selector: Selector }
  | { kind: 'removeBank' }

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('import' as const), recipes, onConflict: fc.constantFrom('skip' as const, 'overwrite' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...ids), { maxLength: 5 }).map(
      (memoryIds): Action => ({ kind: 'remove', selector: { kind: 'ids', memoryIds } }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Action>({ kind: 'remove', selector: withTags(['tag']) }),
  },
  { weight: 1, arbitrary: fc.constant<Action>({ kind: 'remove', selector: { kind: 'all' } }) },
  { weight: 1, arbitrary: fc.constant<Action>({ kind: 'removeBank' }) },
)

async function act (store: InMemoryVectorStore, action: Action, now: number): Promise<unknown> {
  switch (action.kind) {
    case 'import': return await store.import(
      home, action.recipes.map((each) => memoryOf(each, now)), { now, onConflict: action.onConflict },
    )
    case 'remove': return await store.remove(home, action.selector, { now, dryRun: false, idLimit: 100 })
    case 'removeBank': return await store.removeBank(home, now)
  }
}

/** All that a store shows of the bank; every call of it on its own is of one moment. */
const VIEWS: Record<string, (store: InMemoryVectorStore, now: number) => Promise<unknown>> = {
  list: async (store, now) => (await store.list(home, { now, limit: 100, filters: {} })).map(shown),
  scan: async (store, now) => {
    const all: unknown[] = []
    const { count, memories } = await store.scan(home, now)
    for await (const memory of memories) all.push(shown(memory))
    return { count, all }
  },
  statistics: async (store, now) => {
    const { tagCounts, ...rest } = await store.statistics(home, now)
    return { ...rest, tags: [...tagCounts] }
  },
  banks: async (store, now) => await store.listBanks({ now, limit: 10 }),
  words: async (store, now) => found(
    await store.search({ banks: [home], now, filters: {}, limit: 4, lexical: { terms: WORDS, ...BM25 } }),
  ),
  both: async (store, now) => found(
    await store.search({
      banks: [home],
      now,
      filters: {},
      limit: 3,
      lexical: { terms: ['red', 'sea'], ...BM25 },
      semantic: { vector: Float32Array.of(1, 2, 3) },
    }),
  ),
  filtered: async (store, now) => found(
    await store.search({
      banks: [home],
      now,
      filters: { tags: { values: ['tag'], match: 'any' } },
      limit: 3,
      lexical: { terms: WORDS, ...BM25 },
      semantic: { vector: Float32Array.of(1, 2, 3) },
    }),
  ),
  unembedded: async (store, now) =>
    (await store.listUnembedded({ now, limit: 100 })).map(({ memory }) => memory.memoryId),
  ids: async (store, now) => {
    const all: unknown[] = []
    for (const id of ids) all.push(shown(await store.get(home, id, now)))
    return all
  },
}

function shown (memory: { memoryId: string, text: string, metadata: unknown } | undefined): unknown {
  return memory === undefined ? undefined : [memory.memoryId, memory.text, memory.metadata]
}

function found ({ lexical, semantic, total }: Awaited<ReturnType<InMemoryVectorStore['search']>>): unknown {
  const list = (candidates: typeof lexical) =>
    candidates?.map(({ memory, score, scores, passages }) => [memory.memoryId, memory.text, score, scores, passages])
  return { lexical: list(lexical), semantic: list(semantic), total }
}

async function look (store: InMemoryVectorStore, now: number): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  for (const [name, view] of Object.entries(VIEWS)) seen.set(name, JSON.stringify(await view(store, now)))
  return seen
}

/** A store with the memories that are left and nothing of their history. */
async function freshCopy (
  store: InMemoryVectorStore, sources: ReadonlyMap<string, NewMemory>, now: number,
): Promise<InMemoryVectorStore> {
  const copy = new InMemoryVectorStore()
  const unembedded = new Set((await store.listUnembedded({ now, limit: 100 })).map(({ memory }) => memory.memoryId))
  const left: NewMemory[] = []
  for await (const memory of (await store.scan(home, now)).memories) {
    left.push(sources.get(keyOf(memory, !unembedded.has(memory.memoryId)))!)
  }
  await copy.import(home, left, { now, onConflict: 'skip' })
  return copy
}

function keyOf ({ memoryId, text, tags, documentId, expiresAt }: Memory, isEmbedded: boolean): string {
  return JSON.stringify([memoryId, text, tags, documentId, expiresAt, isEmbedded])
}

const group = fc.record({ actions: fc.array(action, { minLength: 1, maxLength: 3 }), expires: fc.boolean() })

/** Every loop that looks whether it is due gives the event loop back. */
function giveWayAlways (t: { teardown: (restore: () => Promise<void>) => void }): void {
  let time = 0
  const clock = mock.method(performance, 'now', () => (time += 1000))
  t.teardown(async () => {
    // Other tests may share the process, and the last time that was noted lies in the future.
    const times = [Infinity, 0]
    clock.mock.mockImplementation(() => times.shift()!)
    await giveWay()
    clock.mock.restore()
  })
}

await t.test('a reader that gives the event loop back sees a change as a whole or not at all', async (t) => {
  giveWayAlways(t)
  const groups = fc.array(group, { minLength: 1, maxLength: 4 })
  await fc.assert(fc.asyncProperty(groups, async (groups) => {
    const store = new InMemoryVectorStore()
    const sources = new Map<string, NewMemory>()
    let now = NOW
    for (const { actions, expires } of groups) {
      if (expires) now = EXPIRY
      const states = [await look(store, now)]
      const readings: Array<{ name: string, from: number, seen: Promise<unknown> }> = []
      for (const each of actions) {
        if (each.kind === 'import') {
          for (const made of each.recipes.map((recipe) => memoryOf(recipe, now))) {
            sources.set(keyOf(made, made.passages[0]!.vector !== undefined), made)
          }
        }
        for (const [name, view] of Object.entries(VIEWS)) {
          // `ids` is of several calls, and so of several moments.
          if (name !== 'ids') readings.push({ name, from: states.length - 1, seen: view(store, now) })
        }
        for (let turn = 0; turn < readings.length / 8 - 1; turn++) await nextTurn()
        await act(store, each, now)
        states.push(await look(store, now))
      }
      for (const { name, from, seen } of readings) {
        const shown = JSON.stringify(await seen)
        assert.ok(
          states.slice(from).some((state) => state.get(name) === shown), `${name} is of no state: ${shown}`,
        )
      }
    }
    const fresh = await freshCopy(store, sources, now)
    const [seen, expected] = [await look(store, now), await look(fresh, now)]
    for (const [name, view] of expected) assert.equal(seen.get(name), view, `${name} of a store without history`)
  }), { numRuns: runs(30, 2000) })
  t.pass()
})

await t.test('a search goes on undisturbed while its bank changes', async (t) => {
  giveWayAlways(t)
  const store = new InMemoryVectorStore()
  const made = Array.from({ length: 700 }, (_, n) => ({
    ...memoryOf({ id: n % 12, words: [n % 5], tag: false, document: n % 2 === 0, expires: false, embedded: true }, NOW),
    memoryId: `01890000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
    fingerprint: String(n),
  }))
  await store.import(home, made, { now: NOW, onConflict: 'skip' })
  const search = async () => await store.search({
    banks: [home],
    now: NOW,
    filters: {},
    limit: 50,
    lexical: { terms: WORDS, ...BM25 },
    semantic: { vector: Float32Array.of(1, 2, 3) },
  })
  const before = found(await search())
  const searching = search()
  const listing = store.list(home, { now: NOW, limit: 700, filters: {} })
  // It has opened the bank, and gives way after each few vectors.
  await nextTurn()
  await store.remove(home, { kind: 'ids', memoryIds: made.slice(0, 600).map(({ memoryId }) => memoryId) }, {
    now: NOW, dryRun: false, idLimit: 0,
  })
  await store.import(home, made.slice(0, 100), { now: NOW, onConflict: 'overwrite' })
  assert.deepEqual(found(await searching), before)
  t.equal((await listing).length, 700)
  t.notSame(found(await search()), before)
})

await t.test('whoever comes during a long write waits and sees all of it; other banks go on', async (t) => {
  const store = new InMemoryVectorStore()
  t.teardown(async () => { await store.close() })
  const words = Array.from({ length: 20 }, (_, n) => `word${n}`)
  const terms = new Map(words.map((word) => [word, 1]))
  const many = Array.from({ length: 1500 }, (_, n): NewMemory => ({
    ...memoryOf({ id: 0, words: [0], tag: true, document: true, expires: false, embedded: true }, NOW),
    memoryId: `01890000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
    fingerprint: String(n),
    passages: [{ start: 0, end: 3, terms, length: 20, vector: Float32Array.of(1, n, 2) }],
  }))
  const later = memoryOf({ id: 1, words: [1], tag: true, document: false, expires: false, embedded: false }, NOW)
  const last = { ...later, memoryId: '01890000-0000-7000-8000-ffffffffffff' }
  const elsewhere: BankKey = { tenantId: null, bankId: 'elsewhere' }
  const count = async () => await store.countMemories(home, { now: NOW, filters: {}, limit: 1e6 })
  giveWayAlways(t)
  const order: string[] = []
  const noted = async <T>(name: string, call: Promise<T>) => {
    const result = await call
    order.push(name)
    return result
  }
  const before = noted('before', count())
  const options = { now: NOW, onConflict: 'skip' } as const
  const writing = noted('import', store.import(home, many, options))
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  const reading = noted('count', count())
  const searching = store.search({
    banks: [home], now: NOW, filters: {}, limit: 5, lexical: { terms: words, ...BM25 },
  })
  const again = noted('again', store.import(home, many, options))
  const adding = store.insert(home, [last], { now: NOW })
  await noted('elsewhere', store.insert(elsewhere, [later], { now: NOW }))
  t.equal(await before, 0)
  t.strictSame(await writing, { imported: 1500, skipped: 0, overwritten: 0 })
  t.ok([1500, 1501].includes(await reading), 'a reader sees the whole write')
  t.equal((await searching).total, 1500, 'a search, too')
  t.strictSame(await again, { imported: 0, skipped: 1500, overwritten: 0 })
  t.strictSame((await adding).map(({ stored }) => stored), [true])
  t.equal(await count(), 1501)
  t.ok(order.indexOf('elsewhere') < order.indexOf('import'), order.join(', '))
  const unfit = { ...many[0]!, passages: [{ ...many[0]!.passages[0]!, vector: Float32Array.of(1) }] }
  const failing = store.import(home, [...many.slice(1), unfit], { now: NOW, onConflict: 'overwrite' })
  await t.rejects(failing, RangeError)
  t.equal(await count(), 1501, 'a long write that fails changes nothing and releases the bank')
  await store.removeBank(home, NOW)
  await store.removeBank(elsewhere, NOW)
  t.equal(store.usedBytes, 0)
})
