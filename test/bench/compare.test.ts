import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { compare, formatComparison } from '../../bench/recall/compare.js'
import { outcomesOf, readReport } from '../../bench/recall/report.js'
import { outcome, report } from './outcomes.js'

const first = report([outcome({ ranks: [12] }), outcome({ question: 1, category: 2 }), outcome({ conversation: 'b', ranks: [1, Infinity] })])
const second = report([outcome({ conversation: 'b', ranks: [1, 2] }), outcome({ question: 1, category: 2 }), outcome({ ranks: [3], sessionRanks: [6] })], { pipeline: 'other' })

await t.test('questions are paired whatever their order', async (t) => {
  const found = Object.fromEntries(compare(first, second).map(({ figure, ...rest }) => [figure, rest]))
  t.match(found['recall@10'], { questions: 3, a: 0.5, b: 1, difference: 0.5, won: 2, conversations: 2 })
  t.match(found['recall@10, temporal'], { questions: 1, a: 1, b: 1, won: 0, conversations: 1 })
  t.match(found['session recall@5, single-hop'], { questions: 2, a: 1, b: 0.5, won: 0 })
})

await t.test('the comparison is printed in per cent', async (t) => {
  const text = formatComparison(first, second, compare(first, second))
  t.match(text, /^B: data\.json, pipeline other, embedder none, store in_memory$/m)
  t.match(text, /^recall@10 +3 +50\.0 +100\.0 +\+50\.0 +\[\+25\.0, \+75\.0\] +2\/2$/m)
})

await t.test('facts have no figure of sessions to compare', async (t) => {
  const facts = report([outcome({ sessionRanks: [], sessionScoreRanks: [] })])
  t.notOk(compare(facts, facts).some(({ figure }) => figure.startsWith('session')))
})

await t.test('runs over other questions are refused', async (t) => {
  const fewer = report([outcome({ ranks: [12] })])
  t.throws(() => compare(first, fewer), { message: /did not ask the same questions: 3 on data\.json and 1 on data\.json, 1 of them the same/ })
  t.throws(() => compare(fewer, first), { message: /did not ask the same questions/ })
  t.throws(() => compare(fewer, report([outcome({ ranks: [12, 13] })])), { message: /0 of them the same/ }, 'other evidence')
  t.throws(() => compare(report([]), report([])), { message: /did not ask/ })
})

await t.test('a report comes back from its file as it was', async (t) => {
  const path = join(t.testdir(), 'report.json')
  await writeFile(path, JSON.stringify(first))
  t.strictSame(outcomesOf(await readReport(path)), outcomesOf(first))
  t.equal(outcomesOf(first)[2]?.ranks[1], Infinity)
  t.match(await readFile(path, 'utf8'), '"ranks":[1,null]')
  await writeFile(path, '{"bench":"store"}')
  await t.rejects(readReport(path), { message: /a report of bench:recall is not as expected/ })
})
