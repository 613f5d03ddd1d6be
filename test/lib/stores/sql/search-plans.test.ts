import t from 'tap'
import { countStatement } from '../../../../lib/stores/sql/reader.js'
import { dryRunStatement, lockStatement } from '../../../../lib/stores/sql/removal.js'
import { searchStatement } from '../../../../lib/stores/sql/searcher.js'
import type { SearchRequest } from '../../../../lib/stores/vector-store.js'
import { bank, BM25 } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

const database = await sqlDatabase(t)
const home = bank('home')

/** Rows of the table that the execution of a plan examined. */
function rowsOf (table: string, plan: Plan): number {
  const own = plan['Relation Name'] === table
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsOf(table, child), own)
}

t.test('a search without filters does not read the whole bank for its total, even if memories expire or have no ' +
  'vectors', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const texts = Array.from({ length: 600 }, (_, index) => `note ${index}`)
  await store.insert(home, await newMemories(texts, { vectors: [[1, 0, 0, 0]] }), { now: NOW })
  await store.insert(home, [
    await newMemory('an otter without a vector'),
    await newMemory('a heron without a vector'),
    await newMemory('an otter that has expired', { vectors: [[1, 0, 0, 0]], expiresAt: NOW - 1 }),
    await newMemory('an expired otter without a vector', { expiresAt: NOW - 1 }),
    await newMemory('an otter that expires', { vectors: [[1, 0, 0, 0]], expiresAt: NOW + 1 }),
  ], { now: NOW })
  for (const table of ['memories', 'embeddings', 'postings']) await database.maintain(`analyze ${schema}.${table}`)
  const words = { lexical: { terms: ['otter'], ...BM25, context: false } }
  const meaning = { semantic: { vector: Float32Array.of(1, 0, 0, 0) } }
  for (const [strategies, total] of [[meaning, 601], [{ ...words, ...meaning }, 602], [words, 2]] as const) {
    const request: SearchRequest = { banks: [home], now: NOW, filters: {}, limit: 5, ...strategies }
    t.equal((await store.search(request)).total, total)
    const { text, values } = searchStatement(home, request, { schema, part: 'current', space: CONTRACT_SPACE })!
    const [row] = await database.read<{ 'QUERY PLAN': string | Array<{ Plan: Plan }> }>(
      `explain (analyze, format json) ${text}`, values,
    )
    const found = row!['QUERY PLAN']
    const [{ Plan: plan }] = (typeof found === 'string' ? JSON.parse(found) : found) as [{ Plan: Plan }]
    t.ok(rowsOf('memories', plan) < 50, `${rowsOf('memories', plan)} rows`)
  }
})

t.test('many tags of a filter are looked up in a table, and not compared with each tag of a memory', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  await store.insert(home, [
    await newMemory('an otter', { tags: ['tag 1', 'tag 99'] }), await newMemory('a heron', { tags: ['other'] }),
    await newMemory('a stoat'),
  ], { now: NOW })
  const values = Array.from({ length: 100 }, (_, index) => `tag ${index}`)
  const count = async (tags: { values: string[], match: 'any' }) => (
    await store.countMemories(home, { now: NOW, filters: { tags }, limit: 10 })
  )
  t.equal(await count({ values, match: 'any' }), 1)
  t.equal(await count({ values: values.slice(0, 2), match: 'any' }), 1)
  const filters = { tags: { values, match: 'any' as const } }
  const selector = { kind: 'filters' as const, filters }
  for (const { text, values: parameters } of [
    countStatement(schema, home, { now: NOW, filters, limit: 10 })!,
    lockStatement(schema, home, 'current', selector, NOW)!,
    dryRunStatement(schema, home, selector, { now: NOW, idLimit: 10 })!,
  ]) {
    const plan = await database.read<{ 'QUERY PLAN': string }>(`explain ${text}`, parameters)
    const lines = plan.map(({ 'QUERY PLAN': line }) => line)
    t.ok(lines.some((line) => line.includes('hashed SubPlan')), lines.join('\n'))
    t.notOk(lines.some((line) => line.includes('&&')), lines.join('\n'))
  }
})
