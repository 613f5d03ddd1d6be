import type { Test } from 'tap'
import type { NewMemory } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW, storedForm } from '../../helpers/memories.js'
import { bank, comparable, everything, lexical, listAll, scanAll, texts, type OpenStore } from './setup.js'

/** A memory that no store can store, because its embedding is not a vector of numbers. */
async function unstorable (): Promise<NewMemory> {
  return await newMemory('broken', { vectors: [[NaN, 0, 0, 0]] })
}

export function insertingContract (t: Test, open: OpenStore): void {
  const home = bank('home')

  t.test('an insert returns a result for each memory, in order', async (t) => {
    const store = await open(t)
    const memories = await newMemories(['one', 'two', 'three'])
    t.strictSame(
      await store.insert(home, memories, { now: NOW }), memories.map(({ memoryId }) => ({ stored: true, memoryId })),
    )
  })

  t.test('an empty insert creates no bank', async (t) => {
    const store = await open(t)
    t.strictSame(await store.insert(home, [], { now: NOW }), [])
    t.strictSame(await store.listBanks({ now: NOW, limit: 10 }), [])
  })

  t.test('an inserted memory is returned with all of its members unchanged', async (t) => {
    const store = await open(t)
    const memory = await newMemory('Alice lives in Lyon.', {
      tags: ['city', 'person'],
      metadata: {
        age: 41.5,
        big: 9007199254740991,
        small: -1e-7,
        verified: true,
        archived: false,
        note: null,
        name: 'Alice',
        empty: '',
      },
      occurredAt: NOW - 86_400_000,
      retainedAt: NOW - 1,
      expiresAt: NOW + 1,
      documentId: 'conversation-7',
      source: 'chat',
      trust: 'untrusted',
    })
    await store.insert(home, [memory], { now: NOW })
    const expected = comparable(storedForm(memory))
    const found = await store.get(home, memory.memoryId, NOW)
    t.strictSame(comparable(found!), expected, 'by id')
    t.strictSame((await listAll(store, home)).map(comparable), [expected], 'in a list')
    t.strictSame((await scanAll(store, home)).map(comparable), [expected], 'in a scan')
    t.strictSame(
      (await lexical(store, [home], 'Lyon')).map(({ memory }) => comparable(memory)), [expected], 'in a search',
    )
  })

  t.test('times of every century are stored with milliseconds', async (t) => {
    const store = await open(t)
    for (const text of [
      '0001-01-01T00:00:00.001Z', '1582-10-04T12:00:00.999Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
    ]) {
      const memory = await newMemory(text, { occurredAt: Date.parse(text), retainedAt: Date.parse(text) })
      await store.insert(home, [memory], { now: NOW })
      t.strictSame(comparable((await store.get(home, memory.memoryId, NOW))!), comparable(storedForm(memory)), text)
    }
  })

  t.test('a repeat of a fingerprint is not stored, and its result has the id and the passages of the ' +
    'stored memory', async (t) => {
    const store = await open(t)
    const first = await newMemory('The kettle is on the stove. The cat is on the mat. The end is near.', {
      chunkMaxCharacters: 30, fingerprint: 'same',
    })
    const repeat = await newMemory('the kettle', { fingerprint: 'same' })
    await store.insert(home, [first], { now: NOW })
    t.strictSame(await store.insert(home, [repeat], { now: NOW }), [
      { stored: false, memoryId: first.memoryId, passageCount: 3, trust: 'trusted' },
    ])
    t.strictSame(texts(await listAll(store, home)), [first.text])
    t.equal(await store.get(home, repeat.memoryId, NOW), undefined)
  })

  t.test('a repeat within one call is stored once', async (t) => {
    const store = await open(t)
    const first = await newMemory('first', { fingerprint: 'same' })
    const other = await newMemory('other')
    const repeat = await newMemory('repeat', { fingerprint: 'same' })
    t.strictSame(await store.insert(home, [first, other, repeat], { now: NOW }), [
      { stored: true, memoryId: first.memoryId },
      { stored: true, memoryId: other.memoryId },
      { stored: false, memoryId: first.memoryId, passageCount: 1, trust: 'trusted' },
    ])
    t.strictSame(texts(await listAll(store, home)).sort(), ['first', 'other'])
  })

  t.test('a repeat and a new memory in one call: the new one is stored', async (t) => {
    const store = await open(t)
    const first = await newMemory('first', { fingerprint: 'same' })
    await store.insert(home, [first], { now: NOW })
    const fresh = await newMemory('fresh')
    const outcomes = await store.insert(home, [await newMemory('repeat', { fingerprint: 'same' }), fresh], { now: NOW })
    t.strictSame(
      outcomes.map(({ stored, memoryId }) => [stored, memoryId]), [[false, first.memoryId], [true, fresh.memoryId]],
    )
  })

  t.test('the same fingerprint in two banks, or two tenants, is not a repeat', async (t) => {
    const store = await open(t)
    const banks = [home, bank('other'), bank('home', 'acme'), bank('home', 'zeta')]
    for (const key of banks) {
      const [outcome] = await store.insert(key, [await newMemory('the same', { fingerprint: 'same' })], { now: NOW })
      t.equal(outcome?.stored, true)
    }
    for (const key of banks) t.equal((await listAll(store, key)).length, 1)
  })

  t.test('of 20 concurrent identical inserts one is stored', async (t) => {
    const store = await open(t)
    const memories = await newMemories(Array.from({ length: 20 }, () => 'at the same moment'))
    const inserts = memories.map(async (memory) => await store.insert(home, [memory], { now: NOW }))
    const outcomes = (await Promise.all(inserts)).flat()
    t.equal(outcomes.filter(({ stored }) => stored).length, 1)
    const [standing] = await listAll(store, home)
    t.strictSame(new Set(outcomes.map(({ memoryId }) => memoryId)), new Set([standing?.memoryId]))
    t.equal((await listAll(store, home)).length, 1)
    t.equal((await lexical(store, [home], 'moment')).length, 1)
  })

  t.test('concurrent batches with the same memories in different orders all succeed and store each once', async (t) => {
    const store = await open(t)
    const names = ['a', 'b', 'c', 'd', 'e']
    const batches = await Promise.all(Array.from({ length: 10 }, async (_, index) => {
      const memories = await newMemories(names.map((name) => `memory ${name}`))
      return index % 2 === 0 ? memories : memories.reverse()
    }))
    const outcomes = await Promise.all(batches.map(async (batch) => await store.insert(home, batch, { now: NOW })))
    t.equal(outcomes.flat().filter(({ stored }) => stored).length, names.length)
    t.strictSame(texts(await listAll(store, home)).sort(), names.map((name) => `memory ${name}`))
  })

  t.test('concurrent inserts of different memories are all stored', async (t) => {
    const store = await open(t)
    const memories = await newMemories(Array.from({ length: 30 }, (_, index) => `number ${index}`))
    await Promise.all(memories.map(async (memory) => await store.insert(home, [memory], { now: NOW })))
    t.strictSame(new Set(texts(await listAll(store, home))), new Set(texts(memories)))
    t.equal((await lexical(store, [home], 'number')).length, 30)
  })

  t.test('a failed insert stores nothing and creates no bank', async (t) => {
    const store = await open(t)
    const good = await newMemory('good', { vectors: [[1, 0, 0, 0]] })
    await t.rejects(store.insert(home, [good, await unstorable()], { now: NOW }))
    t.strictSame(await everything(store, home), await everything(await open(t), home))
    t.equal(await store.get(home, good.memoryId, NOW), undefined)
    t.strictSame(await lexical(store, [home], 'good'), [])
    t.strictSame(
      await store.insert(home, [good], { now: NOW }),
      [{ stored: true, memoryId: good.memoryId }],
      'the fingerprint is free',
    )
  })

  t.test('a failed insert does not change the bank or its ranking', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['a red apple', 'a green apple and a pear']), { now: NOW })
    const before = [await everything(store, home), await lexical(store, [home], 'apple pear')]
    await t.rejects(store.insert(home, [await newMemory('apple apple apple'), await unstorable()], { now: NOW }))
    t.strictSame([await everything(store, home), await lexical(store, [home], 'apple pear')], before)
  })

  t.test('texts of every kind are stored unchanged and are found', async (t) => {
    const store = await open(t)
    for (const [word, text] of UNUSUAL) {
      const memory = await newMemory(text, {
        tags: [word, `{"${word}",NULL}`], metadata: { text: word }, documentId: word, source: text.slice(0, 200),
      })
      await store.insert(home, [memory], { now: NOW })
      t.strictSame(comparable((await store.get(home, memory.memoryId, NOW))!), comparable(storedForm(memory)))
      t.ok((await lexical(store, [home], word)).some((candidate) => candidate.memory.text === text), word)
      const tagged = await lexical(store, [home], word, {
        filters: { tags: { values: [`{"${word}",NULL}`], match: 'all' }, metadata: { text: word } },
      })
      t.ok(tagged.some((candidate) => candidate.memory.text === text), `${word}, filtered`)
    }
  })

  t.test('a text without a space, of any length, is stored, found by its word, and removed', async (t) => {
    const store = await open(t)
    for (const word of ['a'.repeat(300), 'b'.repeat(10_000), '東'.repeat(3_000), 'é'.repeat(40_000)]) {
      const memory = await newMemory(word, { chunkMaxCharacters: 50_000 })
      await store.insert(home, [memory, await newMemory(`${word}x`, { chunkMaxCharacters: 50_000 })], { now: NOW })
      const [term] = memory.passages[0]!.terms.keys()
      const found = async () => (await store.search({
        banks: [home],
        now: NOW,
        filters: {},
        limit: 10,
        lexical: { terms: [term!], k1: 1, length: { b: 0 }, context: true },
      })).lexical!.some(({ memory: { memoryId } }) => memoryId === memory.memoryId)
      t.ok(await found(), `${word.slice(0, 3)}… of ${word.length}`)
      await store.remove(home, { kind: 'ids', memoryIds: [memory.memoryId] }, { now: NOW, dryRun: false, idLimit: 1 })
      t.notOk(await found())
    }
  })

  t.test('a memory of 50,000 characters is one memory of many passages', async (t) => {
    const store = await open(t)
    const text = `${'The sea is wide. '.repeat(3_000).slice(0, 49_983)} Lighthouse ends.`
    const memory = await newMemory(text)
    t.equal(text.length, 50_000)
    await store.insert(home, [memory], { now: NOW })
    const [candidate, ...others] = await lexical(store, [home], 'lighthouse')
    t.equal(others.length, 0)
    t.equal(candidate?.passageCount, memory.passages.length)
    t.equal(candidate?.memory.text, text)
  })
}

/** A word of the text, and the text. */
const UNUSUAL: Array<[word: string, text: string]> = [
  ['🎉', 'Party at eight 🎉'],
  ['👩‍👩‍👧', 'The family 👩‍👩‍👧 came along'],
  ['שלום', 'שלום עולם, a greeting'],
  ['مرحبا', 'مرحبا‎ \u202eright to left\u202c'],
  ['東京', '東京に行きます'],
  ["o'hara", "Scarlett O'Hara said 'tomorrow'"],
  ['quoted', 'a "quoted" word and a \\backslash\\ and \\n \\u0041'],
  ['percent', '100% percent _under_ %s %d $1 $$ {0}'],
  ['drop', "'; DROP TABLE memories; --"],
  ['null', 'null'],
  ['NULL', 'NULL'],
  ['tab', 'tab\there\r\nand a line\u2028separator\u0085and\u0001control'],
  ['combining', 'combining e\u0301 is not \u00e9'],
  ['astral', 'astral 𝕏 𠮷 \u{10ffff}'],
]
