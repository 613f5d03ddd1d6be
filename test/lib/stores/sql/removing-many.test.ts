import t from 'tap'
import { removeBankStatement, removeStatement } from '../../../../lib/stores/sql/removal.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW, withTags } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'

const home = { tenantId: null, bankId: 'home' }

await t.test('a removal and an import of more memories than one statement takes are complete', async (t) => {
  const database = await sqlDatabase(t)
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  t.teardown(async () => { await store.close() })
  const memories = await newMemories(
    Array.from({ length: 1201 }, (_, index) => `memory ${index}`), { tags: ['many'], documentId: 'document' },
  )
  const others = await newMemories(['one that stays'], { documentId: 'document' })
  t.same(await store.import(home, [...memories, ...others], { now: NOW, onConflict: 'skip' }), {
    imported: 1202, skipped: 0, overwritten: 0,
  })
  t.same(await store.import(home, memories, { now: NOW, onConflict: 'overwrite' }), {
    imported: 0, skipped: 0, overwritten: 1201,
  })
  const { count, memoryIds } = await store.remove(home, withTags(['many']), {
    now: NOW, dryRun: false, idLimit: 1000,
  })
  t.equal(count, 1201)
  t.same(memoryIds, memories.map(({ memoryId }) => memoryId).sort().slice(0, 1000))
  t.equal((await store.statistics(home, NOW)).memoryCount, 1)
  const [row] = await database.query<{ memories: number, postings: number }>(`select (select sum(s.memories)::int
    from ${schema}.bank_statistics s) as memories,
    (select count(*)::int from ${schema}.postings p) as postings`)
  t.same(row, { memories: 1, postings: 3 }, 'the remaining counts and index are those without the others')
})

await t.test('a bank without statistics of the planner is scanned once when it is forgotten', async (t) => {
  const database = await sqlDatabase(t)
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  t.teardown(async () => { await store.close() })
  const plan = async (text: string) => (
    (await database.query(`explain ${text}`, ['\u001fhome', NOW, 0])).map((row) => Object.values(row).join(''))
      .join('\n')
  )
  const found = await plan(removeBankStatement(schema))
  t.match(found, /Delete on memories/, 'the plan is that of the removal')
  t.notMatch(found, /Join Filter/)
  await store.insert(home, await newMemories(['one', 'two', 'three']), { now: NOW })
  const memories = await store.list(home, { now: NOW, limit: 10, filters: {} })
  const memoryIds = memories.map(({ memoryId }) => memoryId).sort()
  for (const idLimit of [0, 2, 10]) {
    t.same(await store.remove(home, { kind: 'all' }, { now: NOW, dryRun: true, idLimit }), {
      count: 3, memoryIds: memoryIds.slice(0, idLimit),
    })
  }
  t.same(await store.remove(home, { kind: 'all' }, { now: NOW, dryRun: false, idLimit: 2 }), {
    count: 3, memoryIds: memoryIds.slice(0, 2),
  })
  t.equal((await store.statistics(home, NOW)).memoryCount, 0)
})

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Plan[]
}

/** Rows that the steps of a plan returned or compared in vain. */
function rowsOf (plan: Plan): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Join Filter': unjoined = 0 } = plan
  const own = (plan['Actual Rows'] + filtered + unjoined) * plan['Actual Loops']
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own)
}

for (const analyzed of [false, true]) {
  t.test('memories are removed by steps proportional to their postings ' +
    `${analyzed ? 'with' : 'without'} statistics of the planner`, async (t) => {
    const database = await sqlDatabase(t)
    const schema = schemaIn(t, database)
    const store = await storeIn(database, { schema })
    t.teardown(async () => { await store.close() })
    const words = Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ')
    const memories: NewMemory[] = []
    for (let count = 0; count < 40; count++) {
      memories.push(await newMemory(`${words} memory${count}`, { vectors: [[1, 0, 0, 0]], chunkMaxCharacters: 5000 }))
    }
    await store.insert(home, memories, { now: NOW })
    const analyses = analyzed ? ['memories', 'postings', 'embeddings'] : []
    for (const table of analyses) await database.maintain(`analyze ${schema}.${table}`)
    const removed = memories.slice(0, 10).map(({ memoryId }) => memoryId)
    const rows = await database.query<{ 'QUERY PLAN': unknown }>(
      `explain (analyze, format json) ${removeStatement(schema, 'current')}`,
      ['\u001fhome', removed],
    )
    const found = rows[0]!['QUERY PLAN']
    const [{ Plan: plan }] = (typeof found === 'string' ? JSON.parse(found) : found) as [{ Plan: Plan }]
    t.ok(rowsOf(plan) < 10 * 10 * 301, `${rowsOf(plan)} rows for ${10 * 301} postings`)
    const left = await database.read(`select (select count(*)::int from ${schema}.postings) as postings,
      (select count(*)::int from ${schema}.embeddings) as vectors`)
    t.same(left, [{ postings: 30 * 301, vectors: 30 }])
  })
}
