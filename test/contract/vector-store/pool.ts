import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { NEIGHBOUR_WEIGHTS, WITHOUT_OWN_TERMS } from '../../../lib/stores/context.js'
import type { LexicalRequest, NewMemory, VectorStore } from '../../../lib/stores/vector-store.js'
import { DAY_MS } from '../../../lib/base/days.js'
import fc, { runs } from '../../helpers/fast-check.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { referenceSearch } from './bm25.js'
import { turn } from './context.js'
import { assertRanking } from './lexical.js'
import { bank, BM25, lexical, searchFor, texts, type OpenStore } from './setup.js'

const EPSILON = 1e-6
/** How many memories by their own words a search looks at, when its limit is not above. */
const POOL = 100
const DIRECTIONS = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]] as const

/** Memories that say the same, each in a document of its own. */
async function alone (text: string, count: number): Promise<NewMemory[]> {
  return await Promise.all(Array.from({ length: count }, async (_, index) => (
    await newMemory(text, { fingerprint: `${text} ${index}`, documentId: `${text} ${index}` })
  )))
}

/** The turns of a talk, a second apart, that are equal in text perhaps. */
async function talk (texts: readonly string[], documentId = 'talk'): Promise<NewMemory[]> {
  return await Promise.all(texts.map(async (text, index) => (
    await turn(text, { documentId, occurredAt: NOW + index * 1000, fingerprint: `${documentId} ${index}` })
  )))
}

export function poolContract (t: Test, open: OpenStore): void {
  const home = bank('home')
  const score = (weight: number) => weight / (weight + 0.9)
  const firsts = async (store: VectorStore, limit: number) => (
    (await lexical(store, [home], 'otter', { limit })).slice(0, 2).map(({ memory, scores }) => [
      memory.documentId === 'pair' ? 'pair' : 'alone', scores.lexical! > scores.own!,
    ])
  )

  t.test('only the hundred best memories by their own words get context; equal scores are ordered by id', async (t) => {
    const store = await open(t)
    await store.insert(home, await alone('otter', POOL - 1), { now: NOW })
    const pair = await talk(['otter', 'otter'], 'pair')
    await store.insert(home, pair, { now: NOW })
    t.strictSame(await firsts(store, 5), [['pair', true], ['pair', true]], 'the hundredth lends to the memory after it')

    const [other] = [await open(t)]
    await other.insert(home, await alone('otter', POOL), { now: NOW })
    await other.insert(
      home, pair.map((memory) => ({ ...memory, memoryId: memory.memoryId.replace(/^./, 'f') })), { now: NOW },
    )
    t.strictSame(await firsts(other, 5), [['alone', false], ['alone', false]])
    t.equal(
      (await searchFor(other, [home], 'otter', { limit: 5 })).total, POOL + 2,
      'the total also counts memories outside of the pool',
    )
    t.strictSame(await firsts(other, POOL + 1), [['pair', true], ['pair', true]], 'a higher limit enlarges the pool')
  })

  t.test('a neighbour adds only to memories in the window of the same member of the pool', async (t) => {
    const store = await open(t)
    await store.insert(home, await alone('otter otter', POOL - 1), { now: NOW })
    const all = await talk(['otter otter', 'one', 'two', 'otter'])
    await store.insert(home, all, { now: NOW })
    const filtered = async (limit: number) => (
      (await lexical(store, [home], 'otter', { limit, filters: { occurredAfter: NOW } })).find(
        ({ memory }) => memory.text === 'two',
      )!.score
    )
    // With the filter the next one is among the best that pass it, and so are all of its window.
    const { secondBefore, after } = NEIGHBOUR_WEIGHTS
    t.ok(Math.abs(await filtered(5) - WITHOUT_OWN_TERMS * score(2 * secondBefore + after.other)) < EPSILON)
    const tagged = await talk(['otter otter', 'one', 'two', 'otter'], 'tagged')
    const other = await open(t)
    await other.insert(
      home,
      [
        ...await alone('otter otter', POOL - 1),
        ...tagged.map((memory, index) => ({ ...memory, tags: index === 3 ? [] : ['a'] })),
      ],
      { now: NOW },
    )
    const [two] = (await lexical(other, [home], 'otter', {
      limit: 5, filters: { tags: { values: ['a'], match: 'any' } },
    })).filter(({ memory }) => memory.text === 'two')
    t.ok(
      Math.abs(two!.score - WITHOUT_OWN_TERMS * score(2 * secondBefore)) < EPSILON,
      'the one after it is in no window of the pool',
    )
  })

  t.test('with filters the pool contains the best memories that pass too, and their neighbours ' +
    'need not pass', async (t) => {
    const store = await open(t)
    await store.insert(home, await alone('otter otter', POOL + 5), { now: NOW })
    const all = await talk(['an otter?', 'yes', 'otter'])
    await store.insert(home, all.map((memory, index) => ({ ...memory, tags: index === 0 ? [] : ['a'] })), { now: NOW })
    const filters = { tags: { values: ['a'], match: 'any' as const } }
    const { lexical: found, total } = await searchFor(store, [home], 'otter', { filters, limit: 5 })
    t.strictSame(texts(found!), ['otter', 'yes'])
    t.equal(total, 2, 'by their own words, and by those of a neighbour')
    t.ok(
      Math.abs(found![1]!.score - score(NEIGHBOUR_WEIGHTS.before.question + NEIGHBOUR_WEIGHTS.after.other)) < EPSILON,
    )
  })

  t.test('a memory that does not pass the filter makes its neighbours candidates, if it is among the ' +
    'best of all', async (t) => {
    const store = await open(t)
    const all = await talk(['an otter?', 'yes'])
    await store.insert(home, [all[0]!, { ...all[1]!, tags: ['a'] }], { now: NOW })
    const filters = { tags: { values: ['a'], match: 'any' as const } }
    const { lexical: found, total } = await searchFor(store, [home], 'otter', { filters, limit: 5 })
    t.strictSame(texts(found!), ['yes'])
    t.equal(total, 1)
    await store.insert(home, await alone('otter otter', POOL), { now: NOW })
    t.strictSame(
      (await searchFor(store, [home], 'otter', { filters, limit: 5 })).lexical, [], 'no longer among the best hundred',
    )
  })

  t.test('a memory found by the semantic strategy has context only if it is a lexical candidate', async (t) => {
    const store = await open(t)
    const meant = ({ passages, ...memory }: NewMemory) => ({
      ...memory, passages: passages.map((passage) => ({ ...passage, vector: Float32Array.of(1, 0, 0, 0) })),
    })
    const all = await talk(['an otter?', 'yes', 'an otter'])
    await store.insert(home, all.map((memory, index) => index > 0 ? meant(memory) : memory), { now: NOW })
    const scores = async () => {
      const { semantic } = await searchFor(store, [home], 'otter', {
        limit: 5, semantic: { vector: Float32Array.of(1, 0, 0, 0) },
      })
      return new Map(semantic!.map(({ memory, scores }) => [memory.text, scores]))
    }
    const before = await scores()
    t.strictSame([...before.keys()].sort(), ['an otter', 'yes'])
    t.equal(before.get('yes')!.own, 0)
    t.ok(
      Math.abs(
        before.get('yes')!.lexical! - score(NEIGHBOUR_WEIGHTS.before.question + NEIGHBOUR_WEIGHTS.after.other),
      ) < EPSILON,
    )
    t.ok(before.get('an otter')!.lexical! > before.get('an otter')!.own!)
    await store.insert(home, await alone('otter otter', POOL), { now: NOW })
    const after = await scores()
    t.strictSame(after.get('yes'), { lexical: 0, own: 0, semantic: 1 })
    t.ok(Math.abs(after.get('an otter')!.own! - score(1)) < EPSILON)
    t.equal(after.get('an otter')!.lexical, after.get('an otter')!.own, 'no window of the pool has it')
  })

  t.test('each bank has its own pool and its own documents', async (t) => {
    const store = await open(t)
    const other = bank('other')
    await store.insert(home, await alone('otter', POOL), { now: NOW })
    await store.insert(other, await talk(['an otter?', 'yes']), { now: NOW })
    const found = (await searchFor(store, [home, other], 'otter', { limit: POOL + 2 })).lexical!
    t.equal(found.length, POOL + 2)
    t.ok(found.some(({ memory, bank: { bankId } }) => memory.text === 'yes' && bankId === 'other'))
  })

  t.test('candidates and scores equal the reference, also in banks larger than the pool', async (t) => {
    const store = await open(t)
    const word = fc.constantFrom('apple', 'pear', 'plum', 'fig', 'kiwi', 'lime')
    const sentence = fc.tuple(fc.array(word, { minLength: 1, maxLength: 5 }), fc.constantFrom('.', '.', '?'))
      .map(([words, end]) => words.join(' ') + end)
    const memory = fc.record({
      text: fc.array(sentence, { minLength: 1, maxLength: 3 }).map((sentences) => sentences.join(' ')),
      document: fc.constantFrom('a', 'b', 'c', null),
      at: fc.nat(90),
      day: fc.constantFrom(0, 0, 0, 1, -30_000),
      tag: fc.boolean(),
      long: fc.constantFrom(false, false, true),
      expires: fc.constantFrom(false, false, false, true),
      direction: fc.constantFrom(undefined, undefined, ...DIRECTIONS),
    })
    const parameters = fc.constantFrom<Omit<LexicalRequest, 'terms'>>(
      BM25, { ...BM25, length: { pivot: 2 } }, { k1: 1.2, length: { b: 0.7 }, context: true },
      { ...BM25, length: { pivot: 3 }, context: false },
    )
    const request = fc.record({
      parameters,
      terms: fc.subarray(['appl', 'pear', 'plum', 'nowher'], { minLength: 1 }),
      limit: fc.constantFrom(3, 40, 120),
      tagged: fc.boolean(),
      meaning: fc.boolean(),
    })
    let count = 0
    await fc.assert(fc.asyncProperty(
      fc.array(memory, { minLength: 100, maxLength: 220, size: 'max' }),
      fc.array(request, { minLength: 3, maxLength: 3 }),
      async (memories, requests) => {
        const key = bank(`run-${count++}`)
        const all = await Promise.all(memories.map(async (
          { text, document, at, day, tag, long, expires, direction }, index,
        ) => {
          const plain = await turn(text, {
            documentId: document,
            occurredAt: at === 0 ? null : NOW + at + day * DAY_MS,
            tags: tag ? ['a'] : [],
            fingerprint: String(index),
            expiresAt: expires
              ? NOW + 10
              : null,
            chunkMaxCharacters: long ? 12 : 200,
          })
          return {
            ...plain,
            passages: plain.passages.map(
              (passage) => direction === undefined ? passage : { ...passage, vector: Float32Array.from(direction) },
            ),
          }
        }))
        await store.insert(key, all, { now: NOW })
        const now = NOW + 10
        const live = all.filter(({ expiresAt }) => expiresAt === null)
        for (const { parameters, terms, limit, tagged, meaning } of requests) {
          const passes = ({ tags }: NewMemory) => !tagged || tags.includes('a')
          const semantic = meaning ? { vector: Float32Array.of(1, 0.2, 0, 0) } : undefined
          const answer = await store.search({
            banks: [key],
            now,
            filters: tagged
              ? { tags: { values: ['a'], match: 'any' } }
              : {},
            limit,
            lexical: { terms, ...parameters },
            ...(semantic !== undefined && { semantic }),
          })
          const reference = referenceSearch(live, { terms, ...parameters }, { limit, passes })
          assertRanking(answer.lexical!, reference.found)
          for (const { memory, scores } of answer.semantic ?? []) {
            const expected = reference.scores.get(memory.memoryId)!
            assert.ok(
              Math.abs(scores.lexical! - expected.score) < EPSILON,
              `${memory.text}: ${scores.lexical}, not ${expected.score}`,
            )
            assert.ok(
              Math.abs(scores.own! - expected.own) < EPSILON,
              `own words of ${memory.text}: ${scores.own}, not ${expected.own}`,
            )
          }
          if (!meaning) assert.equal(answer.total, reference.total)
        }
      },
    ), { numRuns: runs(8, 60) })
  })

  t.test('the order of the hits does not depend on the order of the inserts', async (t) => {
    const [store, other] = [await open(t), await open(t)]
    const words = ['apple', 'pear', 'plum', 'fig', 'lime']
    const all = await Promise.all((await newMemories(Array.from({ length: 160 }, (_, index) => (
      `${words[index % 5]} ${words[index * 7 % 4]} ${'kiwi '.repeat(index % 9)}`
    )))).map(async (memory, index) => ({
      ...memory, documentId: index % 7 === 0 ? null : `d${index % 6}`, occurredAt: NOW + index * 31 % 50,
    })))
    await store.insert(home, all, { now: NOW })
    for (const memory of all.toReversed()) await other.insert(home, [memory], { now: NOW })
    for (const limit of [7, 150]) {
      t.strictSame(
        (await lexical(other, [home], 'apple fig', { limit })).map(({ memory, score }) => [memory.memoryId, score]),
        (await lexical(store, [home], 'apple fig', { limit })).map(({ memory, score }) => [memory.memoryId, score]),
      )
    }
  })
}
