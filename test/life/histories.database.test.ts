import t from 'tap'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import { testApp } from '../helpers/app.js'
import { countingIds, testClock } from '../helpers/clock.js'
import fc, { runs } from '../helpers/fast-check.js'
import { leftOpen, pgliteDatabase, schemaIn } from '../helpers/sql-database.js'
import { DATABASE_URL, freshSchema, postgresOptions } from '../helpers/sql-stores.js'
import { histories, History } from './history.js'

t.test('random histories are read as a plain model reads them: in memory', async (t) => {
  await fc.assert(fc.asyncProperty(histories, async (history) => {
    await t.test('a history', async (t) => {
      const clock = testClock()
      const gateway = await testApp(t, {}, { clock, newId: countingIds() })
      await new History(t, [gateway], clock).run(history)
    })
  }), { numRuns: runs(20, 500) })
})

t.test('random histories are read as a plain model reads them: PGlite', async (t) => {
  const database = await pgliteDatabase(t)
  await fc.assert(fc.asyncProperty(histories, async (history) => {
    await t.test('a history', async (t) => {
      const clock = testClock()
      const store = new SqlVectorStore({
        executor: leftOpen(database), schema: schemaIn(t, database), bootstrapSchema: true, sweepIntervalMs: 0,
      })
      const gateway = await testApp(t, {}, { clock, newId: countingIds(), store })
      await new History(t, [gateway], clock).run(history)
    })
  }), { numRuns: runs(4, 100) })
})

t.test('random histories are read as a plain model reads them: two gateways on one PostgreSQL', {
  skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false,
}, async (t) => {
  await fc.assert(fc.asyncProperty(histories, async (history) => {
    await t.test('a history', async (t) => {
      const [clock, newId, schema] = [testClock(), countingIds(), quoteSchema(freshSchema(t))]
      const open = async () => await testApp(t, {}, {
        clock,
        newId,
        store: new SqlVectorStore({
          executor: new PostgresExecutor(postgresOptions()), schema, bootstrapSchema: true, sweepIntervalMs: 0,
        }),
      })
      await new History(t, [await open(), await open()], clock).run(history)
    })
  }), { numRuns: runs(8, 200) })
})
