import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { TopK } from '../../../lib/stores/top-k.js'

interface Item {
  id: number
  score: number
}

/** The k first items in the order of `compare`, sorted. */
function topK<T> (items: Iterable<T>, k: number, compare: (a: T, b: T) => number): T[] {
  const first = new TopK(k, compare)
  for (const item of items) first.offer(item)
  return first.sorted()
}

/** A total order: falling score, then rising id. */
function byScore (a: Item, b: Item): number {
  return b.score - a.score || a.id - b.id
}

const items = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 })
  .map((scores) => scores.map((score, id): Item => ({ id, score })))

t.test('the first k items are those of a full sort, with ties, whatever the order of the input', async () => {
  fc.assert(fc.property(items.chain((list) => fc.shuffledSubarray(list, { minLength: list.length })), fc.integer({
    min: 0, max: 220,
  }), (list, k) => {
    const found = topK(list, k, byScore)
    const expected = list.toSorted(byScore).slice(0, k)
    return found.length === expected.length && found.every((item, index) => item === expected[index])
  }), { numRuns: 2000 })
})

t.test('an infinite limit sorts everything', async (t) => {
  t.strictSame(topK([3, 1, 2], Infinity, (a, b) => a - b), [1, 2, 3])
})

t.test('the items are not modified', async (t) => {
  const list = Object.freeze([5, 3, 9, 1, 7])
  t.strictSame(topK(list, 2, (a, b) => a - b), [1, 3])
  t.strictSame(topK(list, 9, (a, b) => a - b), [1, 3, 5, 7, 9])
  t.strictSame(list, [5, 3, 9, 1, 7])
})

t.test('items that cannot enter the result cost one comparison each', async (t) => {
  const list = Array.from({ length: 10_000 }, (_, index) => index)
  let comparisons = 0
  t.strictSame(topK(list, 10, (a, b) => { comparisons++; return a - b }), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.ok(comparisons < 10_200, `${comparisons} comparisons`)
})
