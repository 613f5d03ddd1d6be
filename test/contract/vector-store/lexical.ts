import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import type { Test } from 'tap'
import type { Candidate, NewMemory } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { referenceSearch, type Scored } from './bm25.js'
import { bank, BM25, lexical, REMOVE, searchFor, texts, type OpenStore } from './setup.js'

const EPSILON = 1e-6

/** Asserts that an answer equals the reference, up to rounding, and is sorted by its scores. */
export function assertRanking (found: readonly Candidate[], expected: readonly Scored[]): void {
  const byId = new Map(expected.map((scored) => [scored.memoryId, scored]))
  assert.deepEqual(new Set(found.map(({ memory }) => memory.memoryId)), new Set(byId.keys()))
  assert.equal(found.length, expected.length, 'a memory is one candidate')
  found.forEach(({ memory, score, scores, passages }, index) => {
    const reference = byId.get(memory.memoryId)!
    assert.ok(Math.abs(score - reference.score) < EPSILON, `${memory.text}: ${score}, not ${reference.score}`)
    assert.ok(
      Math.abs(scores.own! - reference.own) < EPSILON,
      `own words of ${memory.text}: ${scores.own}, not ${reference.own}`,
    )
    assert.equal(scores.lexical, score)
    assert.ok(scores.own! <= score)
    assert.ok(score > 0 && score <= 1, `${score} is not within 0–1`)
    assert.equal(passages.length, Math.min(3, reference.passages.length))
    passages.forEach((passage, at) => assert.ok(
      Math.abs(passage.score - reference.passages[at]!) < EPSILON, `passage ${at} of ${memory.text}`,
    ))
    const next = found[index + 1]
    if (next !== undefined) {
      assert.ok(
        score > next.score || (score === next.score && memory.memoryId < next.memory.memoryId),
        'falling, ties by memory id',
      )
    }
  })
}

export function lexicalContract (t: Test, open: OpenStore): void {
  const home = bank('home')

  t.test('scores and order are those of BM25, after any sequence of inserts and removals', async (t) => {
    const store = await open(t)
    const word = fc.constantFrom('apple', 'pear', 'plum', 'fig', 'the', 'kiwi')
    const text = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => `${words.join(' ')}.`)
    // Texts over 40 characters become several passages.
    const memories = fc.array(
      fc.array(text, { minLength: 1, maxLength: 4 }).map((sentences) => sentences.join(' ')),
      { minLength: 1, maxLength: 12 },
    )
    const query = fc.uniqueArray(
      fc.constantFrom('appl', 'pear', 'plum', 'fig', 'the', 'nowher'), { minLength: 1, maxLength: 4 },
    )
    const parameters = fc.constantFrom(
      BM25, { ...BM25, context: false }, { k1: 0.9, length: { pivot: 3 }, context: true }, {
        k1: 1.2, length: { b: 0.75 }, context: false,
      },
      { k1: 0, length: { b: 0 }, context: true }, { k1: 2, length: { b: 1 }, context: true },
    )
    let runs = 0
    await fc.assert(fc.asyncProperty(
      memories, fc.array(fc.nat(11)), query, parameters,
      async (texts, gone, terms, bm25) => {
        const key = bank(`run-${runs++}`)
        const all: NewMemory[] = []
        for (const [index, text] of texts.entries()) {
          all.push(await newMemory(text, { chunkMaxCharacters: 40, fingerprint: String(index) }))
        }
        await store.insert(key, all, { now: NOW })
        const removed = all.filter((_, index) => gone.includes(index))
        await store.remove(key, { kind: 'ids', memoryIds: removed.map(({ memoryId }) => memoryId) }, REMOVE)
        const standing = all.filter((memory) => !removed.includes(memory))
        const answer =
        await store.search({ banks: [key], now: NOW, filters: {}, limit: 100, lexical: { terms, ...bm25 } })
        const expected = referenceSearch(standing, { terms, ...bm25 })
        assertRanking(answer.lexical!, expected.found)
        assert.equal(answer.total, expected.total)
        if (!bm25.context) for (const { score, scores } of answer.lexical!) assert.equal(scores.own, score)
        const first = await store.search({ banks: [key], now: NOW, filters: {}, limit: 2, lexical: { terms, ...bm25 } })
        assert.deepEqual(first.lexical, answer.lexical!.slice(0, 2), 'a smaller limit gives the beginning of the list')
      },
    ), { numRuns: 40 })
  })

  t.test('a score equals that of a worked example', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['cat sat cat', 'dog sat']), { now: NOW })
    // N 2, df 1: idf ln 2; tf 2; average length 2.5. What could be reached is idf · (k1 + 1).
    for (const [length, norm] of [
      [{ b: 0.75 }, 1 - 0.75 + 0.75 * 3 / 2.5], [{ pivot: 2 }, 3 / 2], [{ pivot: 4 }, 1],
    ] as const) {
      const expected = 2 / (2 + 1.2 * norm)
      const [candidate] = (await searchFor(store, [home], '', {
        lexical: { terms: ['cat'], k1: 1.2, length, context: true },
      })).lexical!
      t.ok(Math.abs(candidate!.score - expected) < EPSILON, `${candidate!.score} is ${expected}`)
    }
  })

  t.test('a query word that no memory has lowers the scores', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['red apple', 'green pear']), { now: NOW })
    const [alone] = await lexical(store, [home], 'apple')
    const [beside] = await lexical(store, [home], 'apple zeppelin')
    t.ok(beside!.score < alone!.score)
  })

  t.test('equal scores are ordered by memory id, also where the limit cuts', async (t) => {
    const store = await open(t)
    const memories = await newMemories(Array.from({ length: 9 }, (_, index) => `apple number${index}`))
    const ids = memories.map(({ memoryId }) => memoryId)
    for (const at of [4, 8, 0, 2, 6, 1, 7, 3, 5]) await store.insert(home, [memories[at]!], { now: NOW })
    t.strictSame((await lexical(store, [home], 'apple')).map(({ memory }) => memory.memoryId), ids)
    t.strictSame(
      (await lexical(store, [home], 'apple', { limit: 4 })).map(({ memory }) => memory.memoryId), ids.slice(0, 4),
    )
  })

  t.test('a memory of several passages is one hit with at most three passages, best first', async (t) => {
    const store = await open(t)
    const sentences = [
      'The fox ran over the hill.', 'A fox and a fox and a fox.', 'Nothing here at all, really.',
      'One more fox in the wood there.', 'The last fox of the whole day.',
    ]
    const memory = await newMemory(sentences.join(' '), { chunkMaxCharacters: 32 })
    t.equal(memory.passages.length, 5)
    await store.insert(home, [memory, await newMemory('An owl.')], { now: NOW })
    const [candidate, ...others] = await lexical(store, [home], 'fox')
    t.equal(others.length, 0)
    t.equal(candidate!.passageCount, 5)
    t.equal(candidate!.passages.length, 3)
    t.equal(candidate!.passages[0]!.score, candidate!.score)
    t.equal(memory.text.slice(candidate!.passages[0]!.start, candidate!.passages[0]!.end), sentences[1])
    const scores = candidate!.passages.map(({ score }) => score)
    t.strictSame(scores, scores.toSorted((a, b) => b - a))
    for (const { start, end } of candidate!.passages) {
      t.ok(memory.text.slice(start, end).includes('fox'), 'only passages that matched')
    }
  })

  t.test('a memory of one passage lists none', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['a red fox']), { now: NOW })
    const [{ passageCount, passages }] = await lexical(store, [home], 'fox') as [Candidate]
    t.strictSame({ passageCount, passages }, { passageCount: 1, passages: [] })
  })

  t.test('a query without terms finds nothing', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['a red fox']), { now: NOW })
    t.strictSame(await searchFor(store, [home], '…'), { lexical: [], total: 0 })
  })

  t.test('terms are literal and not a query language', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['red fox', 'blue fox']), { now: NOW })
    for (const term of ['red & fox', 'fox:*', '!red', 'fo', '%', "'", 'red fox', '__proto__', 'constructor']) {
      t.strictSame((await searchFor(store, [home], '', { lexical: { terms: [term], ...BM25 } })).lexical, [], term)
    }
  })

  t.test('several banks compete in one ranking, each with its own statistics', async (t) => {
    const store = await open(t)
    const banks = [bank('one'), bank('two'), bank('one', 'acme')]
    await store.insert(banks[0]!, await newMemories(['apple', 'pear', 'plum']), { now: NOW })
    await store.insert(banks[1]!, await newMemories(['apple apple', 'an apple beside many other fruits']), { now: NOW })
    await store.insert(banks[2]!, await newMemories(['red apple', 'apple']), { now: NOW })
    const alone = (await Promise.all(banks.map(async (key) => await lexical(store, [key], 'apple')))).flat()
    const expected = alone.sort((a, b) => b.score - a.score || (a.memory.memoryId < b.memory.memoryId ? -1 : 1))
    const together = await searchFor(store, [...banks, bank('nowhere')], 'apple')
    t.strictSame(together.lexical, expected)
    t.equal(together.total, 5)
    const cut = await searchFor(store, banks, 'apple', { limit: 2 })
    t.strictSame(cut.lexical, expected.slice(0, 2), 'the limit holds over all banks')
    t.equal(cut.total, 5)
    for (const { bank: key, memory } of together.lexical!) {
      t.ok(await store.get(key, memory.memoryId, NOW), 'a candidate names its bank')
    }
  })

  t.test('the total does not depend on the limit, and only requested strategies return candidates', async (t) => {
    const store = await open(t)
    await store.insert(
      home, await newMemories(Array.from({ length: 12 }, (_, index) => `apple ${index}`)), { now: NOW },
    )
    await store.insert(home, await newMemories(['pear']), { now: NOW })
    for (const limit of [1, 5, 12, 1000]) {
      const answer = await searchFor(store, [home], 'apple', { limit })
      t.equal(answer.lexical!.length, Math.min(limit, 12))
      t.equal(answer.total, 12)
      t.notOk('semantic' in answer)
    }
    t.strictSame(texts(await lexical(store, [home], 'pear')), ['pear'])
  })
}
