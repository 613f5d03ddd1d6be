import t from 'tap'
import { bestOf } from '../../../../lib/stores/in-memory/best-of.js'
import { atOnce } from '../../../../lib/concurrency/steps.js'
import fc from '../../../helpers/fast-check.js'

const best = (numbers: readonly number[], k: number, slack = 0) => atOnce(bestOf(Float64Array.from(numbers), numbers.length, k, slack, (a, b) => a - b)).sort((a, b) => a - b)
const plain = (numbers: readonly number[], k: number) => numbers.map((number, index) => ({ number, index })).sort((a, b) => b.number - a.number || a.index - b.index).slice(0, k).map(({ index }) => index).sort((a, b) => a - b)

t.test('the highest are those of a sorted list, the first of equal ones', async () => {
  const number = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ min: 0, max: 1, noNaN: true }))
  fc.assert(fc.property(fc.array(number, { maxLength: 300, size: 'max' }), fc.nat(310), (numbers, k) => {
    t.strictSame(best(numbers, k), plain(numbers, k))
  }), { numRuns: 200 })
})

t.test('a long list is gone through in pieces, with the same outcome', async (t) => {
  for (const spread of [1, 7, 50_021]) {
    const numbers = Array.from({ length: 50_021 }, (_, index) => index * 7919 % spread)
    t.strictSame(best(numbers, 100), plain(numbers, 100))
    t.strictSame(best(numbers, 30_000), plain(numbers, 30_000))
  }
})

t.test('numbers that are nearly equal are told apart by the order that is given', async (t) => {
  t.strictSame(best([1, 2, 2 + 1e-9, 2, 3], 2, 1e-6), [1, 4])
  t.strictSame(best([1, 2, 2 + 1e-9, 2, 3], 2), [2, 4])
})
