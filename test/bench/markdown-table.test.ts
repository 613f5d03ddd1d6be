import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { markdownTable, overview, replaceTable, writeTable } from '../../bench/recall/markdown-table.js'
import { runLabel } from '../../bench/recall/report.js'
import { outcome, report } from './outcomes.js'

const facts = report(
  [outcome({ ranks: [1, 30], sessionRanks: [], sessionScoreRanks: [] })], { data: 'facts.json', embedder: 'a|b' },
)

await t.test('each data set has its rows, then each of its parts, one row per run', async (t) => {
  const runs = [report([outcome()]), facts, report([outcome({ ranks: [6] })], { pipeline: 'bm25' })]
  t.strictSame(markdownTable(runs).split('\n').slice(2), [
    '| **data.json** | 1 | default | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |',
    '|  |  | bm25 | 0.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 16.7 | 35.6 |',
    '| single-hop | 1 | default | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |',
    '|  |  | bm25 | 0.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 16.7 | 35.6 |',
    '| **facts.json** | 1 | default + a\\|b | 50.0 | 50.0 | 100.0 | – | – | – | 100.0 | 61.3 |',
    '| single-hop | 1 | default + a\\|b | 50.0 | 50.0 | 100.0 | – | – | – | 100.0 | 61.3 |',
  ])
})

await t.test('all rows have the columns of the header', async (t) => {
  const rows = overview([report([outcome({ roles: ['user'] })]), facts])
  t.strictSame([...new Set(rows.map(({ length }) => length))], [11])
  t.strictSame(rows.map(([name]) => name), [
    'data, part', 'data.json', 'single-hop', 'evidence: user', 'facts.json', 'single-hop',
  ])
})

await t.test('the name of a run contains what differs from the defaults', async (t) => {
  const label = (pipeline: string, embedder: string, store: string) => runLabel({ pipeline, embedder, store })
  t.equal(label('bm25', 'none', 'in_memory'), 'bm25')
  t.equal(label('local', 'local', 'in_memory'), 'local')
  t.equal(label('default', 'local', 'postgres'), 'default + local, postgres')
  t.equal(label('as served', 'as served', 'as served'), 'as served')
})

const page = 'Before\n<!-- table:begin -->\nold\n<!-- table:end -->\nAfter\n'

await t.test('only the text between the markers is replaced, also repeatedly', async (t) => {
  const once = replaceTable(page, 'new')
  t.equal(once, 'Before\n<!-- table:begin -->\n\nnew\n\n<!-- table:end -->\nAfter\n')
  t.equal(replaceTable(once, 'new'), once)
  const path = join(t.testdir(), 'page.md')
  await writeFile(path, page)
  await writeTable(path, 'new')
  t.equal(await readFile(path, 'utf8'), once)
})

await t.test('a page without both markers in order is not changed', async (t) => {
  for (const text of [
    '', '<!-- table:begin -->', '<!-- table:end -->', '<!-- table:end --><!-- table:begin -->', `${page}${page}`,
  ]) {
    t.throws(() => replaceTable(text, 'new'), { message: /each once/ })
  }
  await t.rejects(writeTable('/does/not/exist.md', 'new'), { message: /cannot be read/ })
})
