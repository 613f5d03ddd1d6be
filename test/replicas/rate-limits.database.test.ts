import t from 'tap'
import { bankKeyString } from '../../lib/access/context.js'
import { exactOverTwo } from './rate-limits.js'
import { DATABASE_URL, freshSchema, openPostgres } from '../helpers/sql-stores.js'

t.test('gateways over one PostgreSQL count rate limits together', {
  skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false,
}, async (t) => {
  const schema = freshSchema(t)
  const database = openPostgres(t)
  await exactOverTwo(t, {
    database: { url: DATABASE_URL ?? '' },
    file: {
      vector_store: 'postgres',
      vector_store_config: { schema, pool_max_waiting: 1000, pool_wait_ms: 20_000, sweep_interval_ms: 0 },
    },
  })
  const rows = await database.query<{ key: string, points: string }>(`select key, points from ${schema}.rate_limits`)
  t.equal(rows.length, 6, 'a row a bank, caller, limit and minute')
  const own = bankKeyString({ tenantId: null, bankId: 'home' })
  for (const { key } of rows) {
    t.ok(key.startsWith(`${own} `), key)
    t.match(key.slice(own.length), /^ (recall|global) [\w-]{43} \d+$/)
  }
})
