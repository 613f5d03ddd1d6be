import type { Test } from 'tap'
import { queryTerms } from '../../helpers/query-terms.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { FILTER_CASES } from './filter-cases.js'
import { bank, BM25, lexical, listAll, semantic, texts, type OpenStore } from './setup.js'

export function filteringContract (t: Test, open: OpenStore): void {
  t.test('a filter selects the same memories in every strategy, in the total and in a list', async (t) => {
    const store = await open(t)
    for (const [number, { about, filters, memories, expected }] of FILTER_CASES.entries()) {
      const home = bank(`case-${number}`)
      for (const [name, fields] of Object.entries(memories)) {
        await store.insert(
          home, [await newMemory(`memory ${name}`, { vectors: [[1, 0, 0, 0]], ...fields })], { now: NOW },
        )
      }
      const names = expected.map((name) => `memory ${name}`).sort()
      t.strictSame(texts(await lexical(store, [home], 'memory', { filters })).sort(), names, `lexical: ${about}`)
      t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0], { filters })).sort(), names, `semantic: ${about}`)
      t.strictSame(texts(await listAll(store, home, { filters })).sort(), names, `list: ${about}`)
      const { total } = await store.search({
        banks: [home], now: NOW, filters, limit: 1, lexical: { terms: ['memori'], ...BM25 },
      })
      t.equal(total, names.length, `total: ${about}`)
      const both = await store.search({
        banks: [home],
        now: NOW,
        filters,
        limit: 1,
        lexical: { terms: ['memori'], ...BM25 },
        semantic: { vector: Float32Array.of(1, 0, 0, 0) },
      })
      t.equal(both.total, names.length, `total of both: ${about}`)
    }
  })

  t.test('a match is found after any number of better candidates that the filter excludes', async (t) => {
    const store = await open(t)
    const home = bank('home')
    await store.insert(home, await Promise.all(Array.from({ length: 150 }, async (_, index) => (
      await newMemory('apple apple apple', { fingerprint: `better-${index}`, vectors: [[1, 0, 0, 0]], occurredAt: NOW })
    ))), { now: NOW })
    await store.insert(home, [await newMemory('one apple among a great many other words that dilute it', {
      tags: ['wanted'], metadata: { wanted: true }, occurredAt: NOW - 1, retainedAt: NOW - 1, vectors: [[0.1, 1, 0, 0]],
    })], { now: NOW })
    for (const filters of [
      { tags: { values: ['wanted'], match: 'any' as const } }, { metadata: { wanted: true } }, { occurredBefore: NOW },
      { asOf: NOW - 1 },
    ]) {
      const about = JSON.stringify(filters)
      t.equal((await lexical(store, [home], 'apple', { filters, limit: 1 })).length, 1, about)
      t.equal((await semantic(store, [home], [1, 0, 0, 0], { filters, limit: 1 })).length, 1, about)
    }
  })

  t.test('a filter excludes memories without changing the scores of the others', async (t) => {
    const store = await open(t)
    const home = bank('home')
    await store.insert(
      home, await newMemories(['red apple', 'green apple', 'apple tree in the garden'], { tags: ['a'] }), { now: NOW },
    )
    await store.insert(home, await newMemories(['apple pie', 'apple juice'], { tags: ['b'] }), { now: NOW })
    const scores = async (filters: object) => (
      new Map((await lexical(store, [home], 'green apple', { filters })).map(({ memory, score }) => (
        [memory.text, score]
      )))
    )
    const all = await scores({})
    const some = await scores({ tags: { values: ['a'], match: 'any' } })
    t.equal(some.size, 3)
    for (const [text, score] of some) t.equal(score, all.get(text), text)
  })

  t.test('a document is searched alone, whether it has many more memories than the words are found ' +
    'in or fewer', async (t) => {
    const store = await open(t)
    const home = bank('home')
    const fillers = Array.from({ length: 20 }, (_, index) => `filler ${index}`)
    await store.insert(home, await newMemories(['rare apple', ...fillers], { documentId: 'large' }), { now: NOW })
    await store.insert(home, await newMemories(['rare pear', 'plum'], { documentId: 'small' }), { now: NOW })
    await store.insert(home, await newMemories(['rare cherry', 'rare fig', 'date'], { documentId: null }), { now: NOW })
    const found = async (query: string, documentIds: string[], more: object = {}) => {
      // Without context, by which the neighbours of a match are found too.
      const request = { lexical: { terms: queryTerms(query), ...BM25, context: false } }
      return texts(await lexical(store, [home], query, { filters: { documentIds, ...more }, ...request })).sort()
    }
    t.strictSame(await found('rare', ['large']), ['rare apple'])
    t.strictSame(await found('rare', ['small']), ['rare pear'])
    t.strictSame(await found('rare', ['small', 'large']), ['rare apple', 'rare pear'])
    t.strictSame(await found('rare', ['small', 'large'], { asOf: NOW - 1 }), [])
    t.strictSame(await found('date', ['small', 'large']), [])
    t.strictSame(await found('filler', ['large']), fillers.sort())
    t.strictSame(await found('nothing', ['large']), [])
  })
}
