import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { SCORE_GRID } from '../../../lib/stores/context.js'
import { descendingOrder } from '../../../lib/stores/top-k.js'

type Compare = (a: number, b: number) => number

const sorted = (indices: readonly number[], scores: Float64Array, compareEqual: Compare): number[] => (
  [...indices].sort((a, b) => scores[b]! - scores[a]! || compareEqual(a, b))
)

t.test('the order is that of a sort with a comparison function', async () => {
  // Few different scores, so that many are equal; neighbours on the grid, which must not be confused.
  const score = fc.oneof(
    fc.constantFrom(0, 1, 1 / SCORE_GRID, 1 - 1 / SCORE_GRID, 0.5), fc.integer({ min: 0, max: SCORE_GRID })
      .map((units) => units / SCORE_GRID),
  )
  fc.assert(fc.property(fc.array(score, { maxLength: 300 }), fc.integer({ min: 1, max: 7 }), (list, factor) => {
    const scores = Float64Array.from(list)
    const compareEqual = (a: number, b: number) => (a * factor) % 11 - (b * factor) % 11 || a - b
    const all = [...scores.keys()]
    for (const indices of [all, all.filter((index) => index % 3 > 0).reverse()]) {
      assert.deepEqual(descendingOrder(indices, scores, compareEqual), sorted(indices, scores, compareEqual))
    }
  }))
})

t.test('more scores than are packed with their index are ordered, too', async (t) => {
  const scores = Float64Array.from({ length: 9000 }, (_, index) => (index * 37 % 100) / 100)
  const compareEqual = (a: number, b: number) => b - a
  const indices = [...scores.keys()]
  t.strictSame(descendingOrder(indices, scores, compareEqual), sorted(indices, scores, compareEqual))
})
