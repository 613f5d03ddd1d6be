import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { interleave, type QueryOrder } from '../../../lib/ranking/ranking.js'
import { candidate, ids, rankingOf } from './candidates.js'

/** A ranking of memories named by single characters, scores falling from `best`. */
function ranking (names: string, best = 0.9): QueryOrder {
  return rankingOf(...[...names].map((name, index) => candidate(name, { lexical: best - index / 100 })))
}

t.test('a question without parts keeps its ranking', async (t) => {
  const whole = ranking('abc')
  const merged = interleave([whole], 0)
  t.strictSame(ids(merged), ['a', 'b', 'c'])
  t.strictSame(merged.map(({ rankScore }) => rankScore), [0.9, 0.89, 0.88])
  t.ok(merged.every(({ ranking }) => ranking === undefined))
  t.strictSame(interleave([ranking('')], 0), [])
})

t.test('the whole question and its parts take turns, and the whole question has the first', async (t) => {
  const merged = interleave([ranking('xaby'), ranking('ab'), ranking('cde')], 0)
  t.strictSame(ids(merged), ['x', 'a', 'c', 'b', 'd', 'e', 'y'])
})

t.test('a memory that several parts find occurs once, at its first place', async (t) => {
  t.strictSame(ids(interleave([ranking('ab'), ranking('ab'), ranking('ba')], 0)), ['a', 'b'])
})

t.test('each memory shows from which ranking it was taken', async (t) => {
  t.strictSame(
    interleave([ranking('ba'), ranking('ac')], 0).map(({ memory, ranking }) => [memory.memoryId, ranking]),
    [['b', 0], ['a', 1], ['c', 1]],
  )
})

t.test('a memory that reaches the minimum score is not moved below it by others', async (t) => {
  const [first, second] = [
    rankingOf(candidate('a', { lexical: 0.9 }), candidate('b', { lexical: 0.8 }), candidate('c', { lexical: 0.7 })),
    rankingOf(candidate('d', { lexical: 0.5 })),
  ]
  t.strictSame(
    interleave([ranking(''), first, second], 0.5).map(({ memory, rankScore }) => [memory.memoryId, rankScore]),
    [['a', 0.9], ['d', 0.5], ['b', 0.5], ['c', 0.5]],
  )
})

t.test('each memory occurs once, scores fall, and the inputs are not modified', async () => {
  const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh')).map((list) => list.join(''))
  const best = fc.integer({ min: 10, max: 100 }).map((hundredths) => hundredths / 100)
  fc.assert(fc.property(fc.array(fc.tuple(names, best), { minLength: 1, maxLength: 4 }), (drafts) => {
    const rankings = drafts.map(([list, first]) => ranking(list, first))
    const before = JSON.stringify(rankings)
    const merged = interleave(rankings, 0)
    assert.equal(JSON.stringify(rankings), before)
    assert.deepEqual(ids(merged).sort(), [...new Set(drafts.flatMap(([list]) => [...list]))].sort())
    merged.forEach(({ rankScore }, index) => assert.ok(index === 0 || rankScore <= merged[index - 1]!.rankScore))
  }))
})
