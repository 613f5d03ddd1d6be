import assert from 'node:assert/strict'
import t from 'tap'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import type { Candidate, LexicalRequest, NewMemory, SearchRequest } from '../../../lib/stores/vector-store.js'
import { bank, BM25, REMOVE } from '../../contract/vector-store/setup.js'
import fc, { runs } from '../../helpers/fast-check.js'
import { newMemory, NOW } from '../../helpers/memories.js'
import { pgliteDatabase, schemaIn, sqlDatabase, storeIn } from '../../helpers/sql-database.js'
import { DATABASE_URL } from '../../helpers/sql-stores.js'

const EPSILON = 1e-6
const DIRECTIONS = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]] as const

const word = fc.constantFrom('apple', 'pear', 'plum', 'fig', 'kiwi', 'lime', 'the', 'quince')
const sentence = fc.tuple(fc.array(word, { minLength: 1, maxLength: 6 }), fc.constantFrom('.', '.', '?'))
  .map(([words, end]) => words.join(' ') + end)
const content = fc.record({
  text: fc.array(sentence, { minLength: 1, maxLength: 5 }).map((sentences) => sentences.join(' ')),
  document: fc.constantFrom('a', 'b', 'c', 'd', null),
  at: fc.nat(60),
  tag: fc.boolean(),
  // Of several passages, when the text is longer.
  passage: fc.constantFrom(14, 30, 400),
  expires: fc.constantFrom(false, false, false, true),
  direction: fc.constantFrom(undefined, ...DIRECTIONS),
})
const request = fc.record({
  terms: fc.uniqueArray(
    fc.constantFrom('appl', 'pear', 'plum', 'fig', 'the', 'nowher'), { minLength: 1, maxLength: 5 },
  ),
  parameters: fc.constantFrom<Omit<LexicalRequest, 'terms'>>(
    BM25, { ...BM25, length: { pivot: 4 } }, { k1: 1.2, length: { b: 0.75 }, context: true },
    { ...BM25, context: false },
  ),
  limit: fc.constantFrom(2, 10, 60, 150),
  tagged: fc.boolean(),
  meaning: fc.boolean(),
  late: fc.boolean(),
})

function assertSame (found: readonly Candidate[], expected: readonly Candidate[]): void {
  assert.deepEqual(found.map(({ memory }) => memory.memoryId), expected.map(({ memory }) => memory.memoryId))
  found.forEach((candidate, index) => {
    const other = expected[index]!
    assert.equal(candidate.passageCount, other.passageCount)
    assert.deepEqual(
      candidate.passages.map(({ start, end }) => [start, end]), other.passages.map(({ start, end }) => [start, end]),
    )
    const pairs = [
      [candidate.score, other.score], [candidate.scores.own, other.scores.own],
      [candidate.scores.lexical, other.scores.lexical],
      ...candidate.passages.map(({ score }, at) => [score, other.passages[at]!.score]),
    ]
    for (const [mine = 0, theirs = 0] of pairs) {
      assert.ok(Math.abs(mine - theirs) < EPSILON, `${candidate.memory.text}: ${mine}, not ${theirs}`)
    }
  })
}

t.test('hits, their order and their passages are the same in every store', async (t) => {
  const databases = [await sqlDatabase(t), ...(DATABASE_URL === undefined ? [] : [await pgliteDatabase(t)])]
  const stores =
    await Promise.all(databases.map(async (database) => await storeIn(database, { schema: schemaIn(t, database) })))
  const reference = new InMemoryVectorStore()
  t.teardown(async () => { await reference.close() })
  let [count, hits] = [0, 0]
  await fc.assert(fc.asyncProperty(fc.array(content, {
    minLength: 30, maxLength: 160, size: 'max',
  }), fc.array(request, { minLength: 4, maxLength: 4 }), async (contents, requests) => {
    const key = bank(`run-${count++}`)
    const all = await Promise.all(contents.map(async (
      { text, document, at, tag, passage, expires, direction }, index,
    ): Promise<NewMemory> => {
      const memory = await newMemory(text, {
        documentId: document,
        occurredAt: at % 5 === 0 ? null : NOW + at,
        tags: tag ? ['a'] : [],
        fingerprint: String(index),
        expiresAt: expires
          ? NOW + 10
          : null,
        chunkMaxCharacters: passage,
      })
      return {
        ...memory,
        passages: memory.passages.map((each) => ({
          ...each,
          question: text.slice(each.start, each.end).endsWith('?'),
          ...(direction !== undefined &&
            { vector: Float32Array.from(direction) }),
        })),
      }
    }))
    const gone = all.filter((_, index) => index % 9 === 4).map(({ memoryId }) => memoryId)
    for (const store of [reference, ...stores]) {
      await store.insert(key, all, { now: NOW })
      await store.remove(key, { kind: 'ids', memoryIds: gone }, REMOVE)
    }
    // A store may let go of what has expired by then: time goes on, and not back.
    for (const { terms, parameters, limit, tagged, meaning, late } of requests.toSorted(
      (a, b) => Number(a.late) - Number(b.late),
    )) {
      const search: SearchRequest = {
        banks: [key],
        now: late ? NOW + 10 : NOW,
        filters: tagged ? { tags: { values: ['a'], match: 'any' } } : {},
        limit,
        lexical: { terms, ...parameters },
        ...(meaning && { semantic: { vector: Float32Array.of(1, 0.2, 0, 0) } }),
      }
      const expected = await reference.search(search)
      for (const store of stores) {
        const answer = await store.search(search)
        assert.equal(answer.total, expected.total)
        assertSame(answer.lexical!, expected.lexical!)
        hits += answer.lexical!.length
        if (meaning) {
          assert.deepEqual(answer.semantic!.map(({ memory }) => memory.memoryId), expected.semantic!.map(
            ({ memory }) => memory.memoryId,
          ))
        }
      }
    }
  }), { numRuns: runs(12, 80) })
  t.ok(hits > 500, `${hits} hits were compared`)
})
