import t from 'tap'
import { makeStatements } from '../../../../lib/stores/sql/statements.js'
import { newMemories, NOW } from '../../../helpers/memories.js'
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
  t.same(await store.import(home, [...memories, ...others], 'skip', NOW), {
    imported: 1202, skipped: 0, overwritten: 0,
  })
  t.same(await store.import(home, memories, 'overwrite', NOW), { imported: 0, skipped: 0, overwritten: 1201 })
  const { count, memoryIds } = await store.remove(home, { kind: 'tags', tags: ['many'], match: 'any' }, {
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
    (await database.query(`explain ${text}`, ['', 'home', NOW, 0, 0])).map((row) => Object.values(row).join(''))
      .join('\n')
  )
  const found = await plan(makeStatements(schema).removal.removeBank)
  t.match(found, /Delete on memories/, 'the plan is that of the removal')
  t.notMatch(found, /Join Filter/)
  await store.insert(home, await newMemories(['one', 'two', 'three']), NOW)
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
