import t from 'tap'
import { quoteSchema } from '../../../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { bank } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { storeIn } from '../../../helpers/sql-database.js'
import { DATABASE_URL, freshSchema, postgresOptions } from '../../../helpers/sql-stores.js'

const home = bank('home')

t.test('a write that waits for a connection can be cancelled', {
  skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false,
}, async (t) => {
  const executor = new PostgresExecutor(postgresOptions({ poolSize: 1 }))
  t.teardown(async () => { await executor.close() })
  const store = await storeIn(executor, { schema: quoteSchema(freshSchema(t)) })
  const [one, two, three] = [await newMemory('one'), await newMemory('two'), await newMemory('three')]
  await store.insert(home, [one], { now: NOW })
  const leaving = new AbortController()
  const { signal } = leaving
  await executor.transaction(async () => {
    const writes = [
      store.insert(home, [two], { now: NOW, signal }),
      store.insert(home, [two, three], { now: NOW, signal }),
      store.import(home, [two], { now: NOW, onConflict: 'skip', signal }),
      // In the other bank, because in the same one it would wait for the import.
      store.remove(bank('other'), { kind: 'all' }, { now: NOW, dryRun: false, idLimit: 0, signal }),
    ]
    const ended = Promise.allSettled(writes)
    while (executor.status().waiting < writes.length) await new Promise(setImmediate)
    leaving.abort(new Error('gone'))
    for (const settled of await ended) t.match(settled, { status: 'rejected', reason: new Error('gone') })
    t.equal(executor.status().waiting, 0)
  })
  t.equal((await store.statistics(home, NOW)).memoryCount, 1)
})
