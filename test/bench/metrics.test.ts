import fc from '../helpers/fast-check.js'
import t from 'tap'
import { allAt, hitAt, ndcgAt, ranksOf, recallAt, reciprocalRank } from '../../bench/recall/metrics.js'

await t.test('evidence has the rank of its hit, from 1, and Infinity when it was not found', async (t) => {
  t.strictSame(ranksOf(new Set(['b', 'x', 'a']), ['a', 'b', 'c']), [2, Infinity, 1])
})

await t.test('recall@k is the share of the evidence within the first k', async (t) => {
  t.equal(recallAt([1, 10, 11, Infinity], 10), 0.5, 'rank k counts, rank k + 1 does not')
  t.equal(recallAt([Infinity], 25), 0)
  t.equal(recallAt([3], 5), 1)
})

await t.test('hit@k asks for one piece of evidence only', async (t) => {
  t.equal(hitAt([Infinity, 10], 10), 1)
  t.equal(hitAt([11, 12], 10), 0)
})

await t.test('the reciprocal rank is that of the best piece of evidence', async (t) => {
  t.equal(reciprocalRank([4, 2, Infinity]), 0.5)
  t.equal(reciprocalRank([Infinity]), 0)
})

await t.test('nDCG is 1 when all evidence is at the top', async (t) => {
  t.equal(ndcgAt([2, 1, 3], 10), 1)
  t.equal(ndcgAt(Array.from({ length: 15 }, (_, index) => index + 1), 10), 1, 'more evidence than places')
})

await t.test('nDCG discounts by the logarithm of the rank', async (t) => {
  t.equal(ndcgAt([3], 10), 0.5)
  t.ok(Math.abs(ndcgAt([1, 4], 10) - (1 + 1 / Math.log2(5)) / (1 + 1 / Math.log2(3))) < 1e-12)
  t.equal(ndcgAt([11], 10), 0)
})

await t.test('every metric lies in 0–1, and one more piece of evidence found never lowers it', async (t) => {
  const rank = fc.oneof(fc.integer({ min: 1, max: 25 }), fc.constant(Infinity))
  fc.assert(fc.property(fc.uniqueArray(rank, { minLength: 1, maxLength: 8 }), (ranks) => {
    const missed = [...ranks.slice(1), Infinity]
    for (const metric of [
      (all: number[]) => recallAt(all, 10), (all: number[]) => hitAt(all, 10), reciprocalRank,
      (all: number[]) => ndcgAt(all, 10),
    ]) {
      const value = metric(ranks)
      if (!(value >= 0 && value <= 1 + 1e-12 && metric(missed) <= value + 1e-12)) return false
    }
    return true
  }))
  t.pass()
})

await t.test('allAt is 1 only when all evidence is within the first k', async (t) => {
  t.strictSame([allAt([1, 5], 5), allAt([1, 6], 5), allAt([1, Infinity], 5)], [1, 0, 0])
})
