import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { compare, formatComparison, pairReports } from '../../bench/recall/compare.js'
import { outcomesOf, readReports } from '../../bench/recall/report.js'
import { outcome, report } from './outcomes.js'

const first = report([
  outcome({ ranks: [12] }), outcome({ question: 1, category: 'temporal' }),
  outcome({ conversation: 'b', ranks: [1, Infinity] }),
])
const second = report(
  [
    outcome({ conversation: 'b', ranks: [1, 2] }), outcome({ question: 1, category: 'temporal' }),
    outcome({ ranks: [3], sessionRanks: [6] }),
  ],
  { pipeline: 'other' },
)

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

await t.test('isolated facts have no session figures to compare', async (t) => {
  const facts = report([outcome({ sessionRanks: [], sessionScoreRanks: [] })])
  t.notOk(compare(facts, facts).some(({ figure }) => figure.startsWith('session')))
})

await t.test('runs over different questions are refused', async (t) => {
  const fewer = report([outcome({ ranks: [12] })])
  t.throws(() => compare(first, fewer), {
    message: /did not ask the same questions: 3 on data\.json and 1 on data\.json, 1 of them the same/,
  })
  t.throws(() => compare(fewer, first), { message: /did not ask the same questions/ })
  t.throws(
    () => compare(fewer, report([outcome({ ranks: [12, 13] })])), { message: /0 of them the same/ }, 'other evidence',
  )
  t.throws(() => compare(report([]), report([])), { message: /did not ask/ })
})

await t.test('the evidence of each speaker is compared separately', async (t) => {
  const mixed = (ranks: number[]) => report([outcome({ ranks, roles: ['user', 'assistant'] })])
  const found = Object.fromEntries(compare(mixed([1, 30]), mixed([30, 2])).map(({ figure, ...rest }) => [figure, rest]))
  t.match(found['recall@10, evidence: assistant'], { questions: 1, a: 0, b: 1 })
  t.match(found['recall@10, evidence: user'], { questions: 1, a: 1, b: 0 })
  t.match(found['any@10'], { a: 1, b: 1 })
})

await t.test('reports are paired by their data', async (t) => {
  const beam = report([outcome()], { data: 'beam.json' })
  t.strictSame(
    pairReports([first, beam], [beam, second]).map(([a, b]) => [a.data, b.pipeline]),
    [['data.json', 'other'], ['beam.json', 'default']],
  )
  t.throws(() => pairReports([first], [beam]), { message: /data\.json was measured in one of the files only/ })
  t.throws(() => pairReports([first, second], [first]), {
    message: 'a file holds 2 runs on data.json: choose one, as in FILE#default',
  })
})

await t.test('reports that are read back from their file are unchanged', async (t) => {
  const path = join(t.testdir(), 'report.json')
  await writeFile(path, JSON.stringify(first))
  const [back] = await readReports(path)
  t.strictSame(outcomesOf(back!), outcomesOf(first))
  t.equal(outcomesOf(first)[2]?.ranks[1], Infinity)
  t.match(await readFile(path, 'utf8'), '"ranks":[1,null]')
  await writeFile(path, JSON.stringify([first, second]))
  t.strictSame((await readReports(path)).map(({ pipeline }) => pipeline), ['default', 'other'])
  t.strictSame((await readReports(`${path}#other`)).map(({ pipeline }) => pipeline), ['other'])
  await writeFile(path, JSON.stringify([first, { ...first, store: 'in process' }, second]))
  const storesOf = async (name: string) => (await readReports(`${path}#${name}`)).map(({ store }) => store)
  t.strictSame(await storesOf('default, in process'), ['in process'])
  t.strictSame(await storesOf('default'), [first.store], 'a label goes before a pipeline')
  await writeFile(path, JSON.stringify([{ ...first, store: 'in process' }, second]))
  t.strictSame(await storesOf('default'), ['in process'])
  await t.rejects(readReports(`${path}#third`), { message: /holds no report of third/ })
  await writeFile(path, '{"bench":"store"}')
  await t.rejects(readReports(path), { message: /a report of bench:recall is not as expected/ })
})
