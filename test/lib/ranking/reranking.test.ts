import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import type { Reranker } from '../../../lib/models/reranker.js'
import { rerank, type RerankOptions } from '../../../lib/ranking/ranking.js'
import { DeadlineExceeded } from '../../../lib/base/deadline.js'
import { candidate, ids, ranked } from './candidates.js'

const OPTIONS: RerankOptions = { candidates: 100, timeoutMs: 10_000, weight: 0.8 }

/** A reranker that gives these scores, whatever it is asked, and notes what it is asked. */
function giving (scores: unknown, asked: unknown[] = []): Reranker {
  return {
    rerank: async (query, texts) => {
      asked.push([query, [...texts]])
      return scores as number[]
    },
  }
}

function falling (...scores: number[]) {
  return ranked(...scores.map((lexical, index) => candidate('abcdefghij'[index]!, { lexical, text: `Text ${index}.` })))
}

t.test('the first candidates are in the order of the reranker, with its rank and score', async (t) => {
  const asked: unknown[] = []
  const reranked = await rerank(giving([-3, 5, 1], asked), 'tea', falling(0.9, 0.8, 0.7), { ...OPTIONS, weight: 1 })
  t.strictSame(asked, [['tea', ['Text 0.', 'Text 1.', 'Text 2.']]])
  t.strictSame(reranked.map(({ memory, rerankScore, rerank }) => [memory.memoryId, rerankScore, rerank]), [
    ['b', 1, { rank: 1, score: 5 }],
    ['c', 0.5, { rank: 2, score: 1 }],
    ['a', 0, { rank: 3, score: -3 }],
  ])
})

t.test('the weight is the share of the reranker in the new score', async (t) => {
  const order = async (weight: number) => ids(
    await rerank(giving([0, 1]), 'tea', falling(0.8, 0.4), { ...OPTIONS, weight }),
  )
  t.strictSame(await order(0), ['a', 'b'])
  t.strictSame(await order(0.1), ['a', 'b'])
  t.strictSame(await order(0.9), ['b', 'a'])
  const [first] = await rerank(giving([0, 1]), 'tea', falling(0.8, 0.4), { ...OPTIONS, weight: 0.5 })
  t.equal(first!.rerankScore, 0.7)
})

t.test('the scale of the reranker does not matter', async (t) => {
  const scores = async (given: number[]) => (
    (await rerank(giving(given), 'tea', falling(0.9, 0.8, 0.7), OPTIONS)).map(({ memory, rerankScore }) => [
      memory.memoryId, Math.round(rerankScore * 1e9),
    ])
  )
  t.strictSame(await scores([300, 500, 400]), await scores([-0.1, 0.1, 0]))
})

t.test('equal scores of the reranker keep the order', async (t) => {
  t.strictSame(ids(await rerank(giving([2, 2, 2]), 'tea', falling(0.9, 0.8, 0.7), OPTIONS)), ['a', 'b', 'c'])
})

t.test('equal scores are ordered by memory id', async (t) => {
  const candidates = ranked(candidate('b', { lexical: 0.5 }), candidate('a', { lexical: 0.5 }))
  t.strictSame(ids(await rerank(giving([1, 1]), 'tea', candidates, OPTIONS)), ['a', 'b'])
})

t.test('candidates after the first ones are not reranked and stay after them, in their order', async (t) => {
  const asked: unknown[] = []
  const reranked = await rerank(giving([0, 1], asked), 'tea', falling(0.9, 0.8, 0.7, 0.6), {
    ...OPTIONS, candidates: 2,
  })
  t.strictSame(asked, [['tea', ['Text 0.', 'Text 1.']]])
  t.strictSame(ids(reranked), ['b', 'a', 'c', 'd'])
  t.strictSame(reranked.map(({ rerank }) => rerank?.rank), [1, 2, undefined, undefined])
  t.ok(reranked.every(({ rerankScore }, at) => at === 0 || rerankScore <= reranked[at - 1]!.rerankScore))
})

t.test('candidates after the first ones have lower scores, each below the one before', async (t) => {
  const [, last, ...behind] = await rerank(
    giving([0, 1]), 'tea', falling(0.9, 0.8, 0.7, 0.6, 0.01), { ...OPTIONS, candidates: 2 },
  )
  t.strictSame(behind.map(({ rerankScore }, index) => (
    rerankScore < [last!, ...behind][index]!.rerankScore
  )), [true, true, true])
  t.equal(behind.at(-1)!.rerankScore, 0.01)
})

t.test('scores as far apart as numbers can be are in range', async (t) => {
  const reranked = await rerank(
    giving([-Number.MAX_VALUE, Number.MAX_VALUE, 0]), 'tea', falling(0.9, 0.8, 0.7), { ...OPTIONS, weight: 1 },
  )
  t.strictSame(
    reranked.map(({ memory, rerankScore }) => [memory.memoryId, rerankScore]), [['b', 1], ['c', 0.5], ['a', 0]],
  )
})

t.test('without candidates the reranker is not called', async (t) => {
  const asked: unknown[] = []
  t.strictSame(await rerank(giving([], asked), 'tea', [], OPTIONS), [])
  t.strictSame(asked, [])
})

for (const [what, given] of [
  ['too few', [1]], ['too many', [1, 2, 3]], ['no numbers', ['1', '2']], ['not a number', [1, NaN]],
  ['without an end', [1, Infinity]], ['no list', undefined],
] as const) {
  t.test(`scores that are ${what} are refused`, async (t) => {
    await t.rejects(
      rerank(giving(given), 'tea', falling(0.9, 0.8), OPTIONS), new Error('The reranker gave unusable scores'),
    )
  })
}

t.test('a reranking that fails, is late or is aborted rejects', async (t) => {
  await t.rejects(
    rerank({ rerank: async () => { throw new Error('down') } }, 'tea', falling(0.9), OPTIONS), new Error('down'),
  )
  let seen: AbortSignal | undefined
  const never: Reranker = { rerank: async (_query, _texts, { signal }) => await new Promise(() => { seen = signal }) }
  await t.rejects(rerank(never, 'tea', falling(0.9), { ...OPTIONS, timeoutMs: 1 }), new DeadlineExceeded(1))
  t.equal(seen?.aborted, true, 'its signal is aborted')
  await t.rejects(rerank(never, 'tea', falling(0.9), OPTIONS, AbortSignal.abort(new Error('gone'))), new Error('gone'))
})

t.test('every candidate stays, with falling scores within 0–1, and the input is not modified', async () => {
  const number = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  const lists = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), number), { maxLength: 10 })
  await fc.assert(fc.asyncProperty(
    lists, fc.integer({ min: 1, max: 12 }), fc.double({ min: 0, max: 1, noNaN: true }),
    async (pairs, first, weight) => {
      const candidates = falling(...pairs.map(([score]) => score).sort((a, b) => b - a))
      const before = JSON.stringify(candidates)
      const reranked = await rerank(
        giving(pairs.slice(0, first).map(([, given]) => given)), 'tea', candidates,
        { candidates: first, timeoutMs: 10_000, weight },
      )
      assert.equal(JSON.stringify(candidates), before)
      assert.deepEqual(ids(reranked).sort(), ids(candidates).sort())
      reranked.forEach(({ rerankScore }, index) => assert.ok(
        rerankScore >= 0 && rerankScore <= 1 && (index === 0 || rerankScore <= reranked[index - 1]!.rerankScore),
      ))
    },
  ))
})
