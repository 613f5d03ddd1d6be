import type { Test } from 'tap'
import { NEIGHBOUR_WEIGHTS, WITHOUT_DOCUMENT } from '../../../lib/stores/context.js'
import type { VectorStore } from '../../../lib/stores/vector-store.js'
import { DAY_MS } from '../../../lib/base/days.js'
import { newMemories, NOW } from '../../helpers/memories.js'
import { assertScores, talk, turn } from './context.js'
import { bank, lexical, REMOVE, searchFor, texts, type OpenStore } from './setup.js'

const EPSILON = 1e-6

/** The context of memories without a document. */
export function withoutDocumentContract (t: Test, open: OpenStore): void {
  const home = bank('home')
  const scoresFor = async (store: VectorStore, query: string) => new Map((await lexical(store, [home], query)).map(
    ({ memory, score, scores }) => [memory.text, { score, own: scores.own! }],
  ))

  t.test('memories without a document are neighbours of those of the same day without one, at a ' +
    'lower weight', async (t) => {
    const store = await open(t)
    const midnight = Math.ceil(NOW / DAY_MS) * DAY_MS
    const all = await Promise.all([
      turn('heron zero', { documentId: null, occurredAt: midnight - 3 }),
      turn('otter?', { documentId: null, occurredAt: null, retainedAt: midnight - 2 }),
      turn('in a document', { occurredAt: midnight - 2 }),
      turn('heron two', { documentId: null, occurredAt: midnight - 1 }),
      turn('heron three', { documentId: null, occurredAt: midnight }),
    ])
    for (const memory of all.toReversed()) await store.insert(home, [memory], { now: NOW })
    await assertScores(store, home, all, ['otter'])
    await assertScores(store, home, all, ['otter', 'heron'])
    const scores = await scoresFor(store, 'otter')
    t.strictSame([...scores.keys()], ['otter?', 'heron two'])
    const weight = WITHOUT_DOCUMENT * NEIGHBOUR_WEIGHTS.before.question
    t.ok(Math.abs(scores.get('heron two')!.score - weight / (weight + 0.9)) < EPSILON)
    await store.remove(home, { kind: 'ids', memoryIds: [all[1]!.memoryId] }, REMOVE)
    await assertScores(store, home, all.filter((_, index) => index !== 1), ['otter', 'heron'])
  })

  t.test('a memory without a document is found by the words of a neighbour only if that is the question ' +
    'before it', async (t) => {
    const store = await open(t)
    const all = await talk(
      ['heron zero', 'an otter.', 'two', 'three', 'four', 'five', 'an otter?', 'seven', 'eight'], { documentId: null },
    )
    await store.insert(home, all, { now: NOW })
    t.strictSame([...(await scoresFor(store, 'otter')).keys()], ['an otter.', 'an otter?', 'seven'])
    t.equal((await searchFor(store, [home], 'otter')).total, 3)
    const scores = await scoresFor(store, 'otter heron')
    t.ok(scores.get('heron zero')!.score > scores.get('heron zero')!.own)
    await assertScores(store, home, all, ['otter', 'heron'])
  })

  t.test('neighbours add no weight to terms that a memory without a document has itself', async (t) => {
    const store = await open(t)
    await store.insert(home, await newMemories(['an otter', 'otter heron', 'the otter', 'heron']), { now: NOW })
    const equal = await scoresFor(store, 'otter')
    t.equal(equal.size, 3)
    t.strictSame(new Set([...equal.values()].map(({ score }) => score)), new Set([equal.get('an otter')!.own]))
    t.strictSame(texts(await lexical(store, [home], 'heron')), ['otter heron', 'heron'])
    const both = await scoresFor(store, 'otter heron')
    t.ok(both.get('an otter')!.score > both.get('an otter')!.own)
    t.equal(both.get('otter heron')!.score, both.get('otter heron')!.own)
  })
}
