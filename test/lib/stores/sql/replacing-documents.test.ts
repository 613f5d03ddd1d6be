import t from 'tap'
import { lockBank } from '../../../../lib/stores/sql/fragments.js'
import { quoteSchema } from '../../../../lib/stores/sql/migrations.js'
import { testApp } from '../../../helpers/app.js'
import { sqlDatabase } from '../../../helpers/sql-database.js'
import { countingIds } from '../../../helpers/clock.js'
import { DATABASE_URL, freshSchema } from '../../../helpers/sql-stores.js'

const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }

t.test('a document that two processes replace at once has the text of the last, even if it had it ' +
  'before', POSTGRES, async (t) => {
  const database = await sqlDatabase(t)
  const schema = freshSchema(t)
  const newId = countingIds()
  const gateway = async () => await testApp(t, {
    file: {
      vector_store: 'postgres',
      vector_store_config: { schema, sweep_interval_ms: 0, index_from: 0 },
      signal_quality: { dedup: { action: 'warn' } },
    },
    database: { url: DATABASE_URL! },
  }, { newId })
  const [one, other] = [await gateway(), await gateway()]
  const put = async (app: typeof one, content: string) => (
    await app.post('/v1/retain', { bank_id: 'b', content, document_id: 'letter', replace_document: true })
  )
  await put(one, 'The otter sleeps.')
  const replacements = await database.transaction(async (tx) => {
    await tx.query(lockBank(quoteSchema(schema)), ['\u001fb'])
    const untilWaiting = async (count: number) => {
      for (;;) {
        const [found] = await database.read<{ count: number }>(`select count(*)::int as count from pg_stat_activity a
          where a.query like '%' || $1 || '%' and cardinality(pg_blocking_pids(a.pid)) > 0`, [schema])
        if (found!.count === count) return
      }
    }
    const first = put(other, 'A heron waits for its prey.')
    await untilWaiting(1)
    const second = put(one, 'The otter sleeps.')
    await untilWaiting(2)
    return { first, second }
  })
  t.equal((await replacements.first).statusCode, 200)
  t.equal((await replacements.second).statusCode, 200)
  const list = await one.get('/v1/banks/b/memories')
  t.strictSame(list.json<{ memories: Array<{ text: string }> }>().memories.map(({ text }) => text), [
    'The otter sleeps.',
  ])
})
