import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import type { Test } from 'tap'
import type { Candidate, NewMemory } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { bank, BM25, DIMENSIONS, REMOVE, semantic, texts, type OpenStore } from './setup.js'

/** As a store reports it: a negative cosine is 0, and a zero vector is like nothing. */
function similarity (a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * b[index]!, 0)
  const lengths = Math.hypot(...a) * Math.hypot(...b)
  return lengths === 0 ? 0 : Math.max(0, dot / lengths)
}

const vector = fc.array(fc.integer({ min: -20, max: 20 }).map((n) => n / 4), {
  minLength: DIMENSIONS, maxLength: DIMENSIONS,
})

export function semanticContract (t: Test, open: OpenStore, tolerance: number): void {
  const home = bank('home')

  t.test('scores and order are those of the exact cosine, after any sequence of inserts and removals', async (t) => {
    const store = await open(t)
    let runs = 0
    await fc.assert(fc.asyncProperty(
      fc.array(vector, { minLength: 1, maxLength: 25 }), fc.array(fc.nat(24)), vector,
      async (vectors, gone, query) => {
        const key = bank(`run-${runs++}`)
        const all: NewMemory[] = []
        for (const [index, value] of vectors.entries()) {
          all.push(await newMemory(`memory ${index}`, { vectors: [value] }))
        }
        await store.insert(key, all, { now: NOW })
        await store.remove(
          key,
          { kind: 'ids', memoryIds: all.filter((_, index) => gone.includes(index)).map(({ memoryId }) => memoryId) },
          REMOVE,
        )
        const expected = new Map(all.flatMap(
          ({ memoryId }, index) => gone.includes(index) ? [] : [[memoryId, similarity(vectors[index]!, query)]],
        ))
        const found = await semantic(store, [key], query)
        assert.deepEqual(new Set(found.map(({ memory }) => memory.memoryId)), new Set(expected.keys()))
        found.forEach(({ memory, score }, index) => {
          assert.ok(
            Math.abs(score - expected.get(memory.memoryId)!) < tolerance,
            `${score}, not ${expected.get(memory.memoryId)}`,
          )
          assert.ok(score >= 0 && score <= 1, `${score} is not within 0–1`)
          const next = found[index + 1]
          if (next !== undefined) {
            assert.ok(
              score > next.score || (score === next.score && memory.memoryId < next.memory.memoryId),
              'falling, ties by memory id',
            )
          }
        })
        assert.deepEqual(
          await semantic(store, [key], query, { limit: 3 }), found.slice(0, 3),
          'a smaller limit gives the beginning of the list',
        )
      },
    ), { numRuns: 60 })
  })

  t.test('the length of a vector does not matter', async (t) => {
    const store = await open(t)
    await store.insert(home, [
      await newMemory('long', { vectors: [[300, 400, 0, 0]] }),
      await newMemory('short', { vectors: [[0.0004, 0.0003, 0, 0]] }),
      await newMemory('other', { vectors: [[0, 0, 1, 0]] }),
    ], { now: NOW })
    const found = await semantic(store, [home], [0.6, 0.8, 0, 0])
    t.strictSame(texts(found), ['long', 'short', 'other'])
    t.ok(Math.abs(found[0]!.score - 1) < tolerance)
    t.ok(Math.abs(found[1]!.score - 0.96) < tolerance)
    t.equal(found[2]!.score, 0)
  })

  t.test('equal scores are ordered by memory id, also where the limit cuts', async (t) => {
    const store = await open(t)
    const memories: NewMemory[] = []
    for (let index = 0; index < 9; index++) {
      memories.push(await newMemory(`memory ${index}`, { vectors: [[1, 1, 0, 0]] }))
    }
    for (const at of [4, 8, 0, 2, 6, 1, 7, 3, 5]) await store.insert(home, [memories[at]!], { now: NOW })
    const ids = memories.map(({ memoryId }) => memoryId)
    for (const limit of [1, 4, 8, 9]) {
      t.strictSame(
        (await semantic(store, [home], [1, 0, 0, 0], { limit })).map(({ memory }) => memory.memoryId),
        ids.slice(0, limit), `limit ${limit}`,
      )
    }
  })

  t.test('opposite vectors all score 0 and are ordered by memory id', async (t) => {
    const store = await open(t)
    const far = await newMemory('opposite', { vectors: [[-1, 0, 0, 0]] })
    const near = await newMemory('nearly square', { vectors: [[-0.1, 1, 0, 0]] })
    await store.insert(home, [near, far], { now: NOW })
    t.strictSame(
      (await semantic(store, [home], [1, 0, 0, 0])).map(({ memory, score }) => [memory.text, score]),
      [['opposite', 0], ['nearly square', 0]],
    )
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0], { limit: 1 })), ['opposite'])
  })

  t.test('a query or a memory of zeros scores 0', async (t) => {
    const store = await open(t)
    await store.insert(
      home,
      [await newMemory('zeros', { vectors: [[0, 0, 0, 0]] }), await newMemory('one', { vectors: [[1, 0, 0, 0]] })],
      { now: NOW },
    )
    t.strictSame(
      (await semantic(store, [home], [1, 0, 0, 0])).map(({ memory, score }) => [memory.text, score]),
      [['one', 1], ['zeros', 0]],
    )
    t.strictSame((await semantic(store, [home], [0, 0, 0, 0])).map(({ score }) => score), [0, 0])
  })

  t.test('a memory of several passages is one hit with at most three passages, best first', async (t) => {
    const store = await open(t)
    const sentences = [
      'Sentence number one.', 'Sentence number two.', 'Sentence number three.', 'Sentence number four.',
      'Sentence number five.',
    ]
    const several = await newMemory(sentences.join(' '), {
      chunkMaxCharacters: 24,
      vectors: [[0.2, 1, 0, 0], [0.9, 1, 0, 0], [0.4, 1, 0, 0], [1, 0.1, 0, 0], [0, 1, 0, 0]],
    })
    const single = await newMemory('single', { vectors: [[1, 0.5, 0, 0]] })
    await store.insert(home, [several, single], { now: NOW })
    const found = await semantic(store, [home], [1, 0, 0, 0])
    t.strictSame(texts(found), [several.text, 'single'])
    const [candidate] = found
    t.equal(candidate!.passageCount, 5)
    t.strictSame(candidate!.passages.map(({ start, end }) => several.text.slice(start, end)), [
      sentences[3], sentences[1], sentences[2],
    ])
    t.equal(candidate!.passages[0]!.score, candidate!.score)
    t.ok(Math.abs(candidate!.passages[1]!.score - similarity([0.9, 1, 0, 0], [1, 0, 0, 0])) < tolerance)
  })

  t.test('a memory shows its best passages, even if others have nearer ones', async (t) => {
    const store = await open(t)
    const split = await newMemory('Sentence number one. Sentence number two.', {
      chunkMaxCharacters: 24, vectors: [[1, 0, 0, 0], [0.1, 1, 0, 0]],
    })
    const others = await Promise.all(Array.from({ length: 20 }, async (_, index) => (
      await newMemory(`other ${index}`, { vectors: [[1, 0.5 + index / 100, 0, 0]] })
    )))
    await store.insert(home, [split, ...others], { now: NOW })
    const [first] = await semantic(store, [home], [1, 0, 0, 0], { limit: 2 })
    t.strictSame(
      first!.passages.map(({ start, end }) => split.text.slice(start, end)),
      ['Sentence number one.', 'Sentence number two.'],
    )
  })

  t.test('passages of one memory count once in the limit', async (t) => {
    const store = await open(t)
    const sentences = Array.from({ length: 12 }, (_, index) => `Sentence number ${index}.`)
    const crowd = await newMemory(sentences.join(' '), {
      chunkMaxCharacters: 24, vectors: sentences.map((_, index) => [1, index / 100, 0, 0]),
    })
    const others = await Promise.all([1, 2, 3].map(async (n) => (
      await newMemory(`other ${n}`, { vectors: [[1, n, 0, 0]] })
    )))
    await store.insert(home, [crowd, ...others], { now: NOW })
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0], { limit: 3 })), [crowd.text, 'other 1', 'other 2'])
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0], { limit: 1 })), [crowd.text])
  })

  t.test('several banks compete in one ranking', async (t) => {
    const store = await open(t)
    const banks = [bank('one'), bank('two'), bank('one', 'acme')]
    for (const [index, key] of banks.entries()) {
      await store.insert(
        key,
        await Promise.all([0, 3].map(async (more) => (
          await newMemory(`memory ${index + more}`, { vectors: [[1, index + more, 0, 0]] })
        ))),
        { now: NOW },
      )
    }
    t.strictSame(texts(await semantic(store, banks, [1, 0, 0, 0])), [0, 1, 2, 3, 4, 5].map((n) => `memory ${n}`))
    const cut = await semantic(store, [...banks, bank('nowhere')], [1, 0, 0, 0], { limit: 2 })
    t.strictSame(
      cut.map(({ bank: key, memory }) => [key, memory.text]), [[banks[0], 'memory 0'], [banks[1], 'memory 1']],
    )
  })

  t.test('the total is every memory that passes the filters, whatever the limit, and only requested strategies ' +
    'return candidates', async (t) => {
    const store = await open(t)
    await store.insert(
      home,
      await Promise.all(Array.from({ length: 7 }, async (_, index) => (
        await newMemory(`memory ${index}`, { tags: index < 4 ? ['a'] : [], vectors: [[1, index, 0, 0]] })
      ))),
      { now: NOW },
    )
    const request = { banks: [home], now: NOW, filters: {}, semantic: { vector: Float32Array.of(0, 1, 0, 0) } }
    for (const limit of [1, 3, 100]) {
      const answer = await store.search({ ...request, limit })
      t.equal(answer.total, 7)
      t.equal(answer.semantic!.length, Math.min(7, limit))
      t.notOk('lexical' in answer)
    }
    t.equal((await store.search({ ...request, limit: 1, filters: { tags: { values: ['a'], match: 'any' } } })).total, 4)
  })

  t.test('both strategies in one call return the same as each in a separate call', async (t) => {
    const store = await open(t)
    const memories = await Promise.all(['red fox', 'blue fox', 'green owl'].map(async (text, index) => (
      await newMemory(text, { vectors: [[1, index, 0, 0]] })
    )))
    await store.insert(home, memories, { now: NOW })
    const [words, embedding] = [{ terms: ['fox'], ...BM25 }, { vector: Float32Array.of(1, 2, 0, 0) }]
    const request = { banks: [home], now: NOW, filters: {}, limit: 2 }
    const both = await store.search({ ...request, lexical: words, semantic: embedding })
    const bare = (candidates: readonly Candidate[] | undefined) =>
      candidates?.map(({ scores: _scores, ...rest }) => rest)
    t.strictSame(bare(both.lexical), bare((await store.search({ ...request, lexical: words })).lexical))
    t.strictSame(bare(both.semantic), bare((await store.search({ ...request, semantic: embedding })).semantic))
    t.equal(both.total, 3)
  })

  t.test('a memory without an embedding is found by its words only', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['plain fox', 'plain owl']), { now: NOW })
    t.strictSame(await semantic(store, [home], [1, 0, 0, 0]), [])
    await store.insert(home, [await newMemory('embedded owl', { vectors: [[1, 0, 0, 0]] })], { now: NOW })
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0])), ['embedded owl'])
    const both = await store.search({
      banks: [home],
      now: NOW,
      filters: {},
      limit: 10,
      lexical: { terms: ['fox'], ...BM25 },
      semantic: { vector: Float32Array.of(1, 0, 0, 0) },
    })
    t.strictSame(texts(both.lexical!), ['plain fox'])
    t.equal(both.total, 2, 'neither strategy found the plain owl')
  })
}
