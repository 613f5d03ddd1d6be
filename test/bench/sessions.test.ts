import t from 'tap'
import { sessionsByFirst, sessionsByScore } from '../../bench/recall/sessions.js'

const hit = (session: string | null, score: number) => ({ session, score })
const hits = [
  hit('a', 0.9), hit('b', 0.85), hit(null, 0.84), hit('b', 0.8), hit('c', 0.5), hit('b', 0.4), hit('b', 0.3),
]

await t.test('sessions are in the order of their best hits', async (t) => {
  t.strictSame(sessionsByFirst(hits), ['a', 'b', 'c'])
  t.strictSame(sessionsByFirst([]), [])
})

await t.test('by score, the next two hits of a session count 0.15 each and further ones nothing', async (t) => {
  t.strictSame(sessionsByScore(hits), ['b', 'a', 'c'], '0.85 + 0.15 × (0.8 + 0.4) is above 0.9')
  const close = [hit('a', 1), hit('b', 0.8), hit('b', 0.6), hit('b', 0.6), hit('b', 0.6)]
  t.strictSame(sessionsByScore(close), ['a', 'b'], '0.8 + 0.15 × 1.2 is below 1, with the fourth it would be above')
})

await t.test('sessions of the same score keep the order of their best hits', async (t) => {
  t.strictSame(sessionsByScore([hit('b', 0.5), hit('a', 0.5)]), ['b', 'a'])
})
