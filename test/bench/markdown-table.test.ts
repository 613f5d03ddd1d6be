import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { markdownTables, replaceTables, writeTables } from '../../bench/recall/markdown-table.js'
import { outcome, report } from './outcomes.js'

const facts = report([outcome({ ranks: [1, 30], sessionRanks: [], sessionScoreRanks: [] })], { data: 'facts.json', embedder: 'a|b' })

await t.test('each data set has a table, each run a row', async (t) => {
  const tables = markdownTables([report([outcome()]), facts, report([outcome({ ranks: [6] })], { pipeline: 'bm25' })])
  const [talk, other] = tables.split('\n\n**facts.json**')
  t.match(talk, /^\*\*data\.json\*\* \(7 memories, 1 questions\)\n\n\| pipeline \|/)
  t.match(talk, '\n| default | none | in_memory | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | – | – | – | 100.0 | 100.0 | 2.0 / 4.0 |\n')
  t.match(talk, '\n| bm25 | none | in_memory | 0.0 | 100.0 |')
  t.match(other, '| default | a\\|b | in_memory | 50.0 | 50.0 | 50.0 | 100.0 | 100.0 | 61.3 | – | – | – | 50.0 | – |')
})

await t.test('all rows of a table have the columns of its head', async (t) => {
  const lines = markdownTables([report([outcome()])]).split('\n').filter((line) => line.startsWith('|'))
  t.strictSame(lines.map((line) => line.split('|').length), [17, 17, 17])
})

const page = 'Before\n<!-- table:begin -->\nold\n<!-- table:end -->\nAfter\n'

await t.test('only what stands between the markers is replaced, again and again', async (t) => {
  const once = replaceTables(page, 'new')
  t.equal(once, 'Before\n<!-- table:begin -->\n\nnew\n\n<!-- table:end -->\nAfter\n')
  t.equal(replaceTables(once, 'new'), once)
  const path = join(t.testdir(), 'page.md')
  await writeFile(path, page)
  await writeTables(path, 'new')
  t.equal(await readFile(path, 'utf8'), once)
})

await t.test('a page without both markers in order is left alone', async (t) => {
  for (const text of ['', '<!-- table:begin -->', '<!-- table:end -->', '<!-- table:end --><!-- table:begin -->', `${page}${page}`]) {
    t.throws(() => replaceTables(text, 'new'), { message: /each once/ })
  }
  await t.rejects(writeTables('/does/not/exist.md', 'new'), { message: /cannot be read/ })
})
