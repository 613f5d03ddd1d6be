import t from 'tap'
import { makeStatements } from '../../../../lib/stores/sql/statements.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import { IDEMPOTENCY_LIFETIME_MS } from '../../../../lib/stores/vector-store.js'
import { bank, lexical, texts } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'

const database = await sqlDatabase(t)

t.test('expired rows are deleted for good, in every bank, and nothing else', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const banks = [bank('one'), bank('two'), bank('one', 'acme')]
  for (const key of banks) {
    await store.insert(key, [
      await newMemory('a brief apple', { expiresAt: NOW + 10, vectors: [[1, 0, 0, 0]] }),
      await newMemory('a longer apple', { expiresAt: NOW + 20, vectors: [[1, 0, 0, 0]] }),
      await newMemory('a lasting apple', { vectors: [[1, 0, 0, 0]] }),
    ], NOW)
  }
  const rows = async (table: string) => (
    (await database.read<{ count: number }>(`select count(*)::int as count from ${schema}.${table}`))[0]!.count
  )
  const postings = await rows('postings')
  const sweeper = new Sweeper({
    executor: database, schema, statements: makeStatements(schema), intervalMs: 0, vacuum: false,
  })
  await sweeper.sweep(NOW + 9)
  t.equal(await rows('memories'), 9)
  await sweeper.sweep(NOW + 10)
  t.strictSame([await rows('memories'), await rows('embeddings'), await rows('postings')], [6, 6, postings * 2 / 3])
  for (const key of banks) {
    t.strictSame(texts(await lexical(store, [key], 'apple', { now: NOW + 10 })), ['a longer apple', 'a lasting apple'])
  }
  await sweeper.sweep(NOW + 10)
  t.strictSame(
    await database.read('select sum(memories)::int as memories, sum(expiring)::int as expiring, sum(embedded)::int ' +
      `as embedded from ${schema}.bank_statistics`),
    [{ memories: 6, expiring: 3, embedded: 6 }],
  )
})

t.test('records of idempotency keys are deleted when they expire', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const keyed = (key: string) => ({ key, requestFingerprint: 'f', context: 'null' })
  await store.insert(bank('one'), [await newMemory('first')], NOW, keyed('first'))
  await store.insert(bank('one'), [await newMemory('second')], NOW + 1, keyed('second'))
  const sweeper = new Sweeper({
    executor: database, schema, statements: makeStatements(schema), intervalMs: 0, vacuum: false,
  })
  await sweeper.sweep(NOW + IDEMPOTENCY_LIFETIME_MS)
  t.strictSame(await database.read(`select key from ${schema}.idempotency_keys`), [{ key: 'second' }])
})

t.test('usage counts of past days are deleted, a day late, in every bank', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const today = Math.floor(NOW / 86_400_000)
  const days = [today - 5, today - 2, today - 1, today, today + 1]
  for (const key of [bank('one'), bank('two', 'acme')]) {
    for (const day of days) {
      await store.reserveUsage([{ bank: key, day, counter: 'retain_per_day', amount: 1, limit: 10 }])
    }
  }
  const sweeper = new Sweeper({
    executor: database, schema, statements: makeStatements(schema), intervalMs: 0, vacuum: false,
  })
  await sweeper.sweep(NOW)
  t.strictSame(await database.read(`select bank_id, day from ${schema}.daily_usage order by bank_id, day`),
    ['one', 'two'].flatMap((bankId) => days.slice(2).map((day) => ({ bank_id: bankId, day }))))
})

t.test('tables are vacuumed when enough has changed, where the database has no autovacuum', async (t) => {
  const schema = schemaIn(t, database)
  await storeIn(database, { schema })
  const maintained: string[] = []
  const executor = {
    ...database,
    read: database.read.bind(database),
    query: database.query.bind(database),
    transaction: database.transaction.bind(database),
    close: async () => {},
    maintain: async (text: string) => { maintained.push(text); await database.maintain(text) },
  }
  const options = { executor, schema, statements: makeStatements(schema), intervalMs: 0 }
  const [ours, theirs] = [new Sweeper({ ...options, vacuum: true }), new Sweeper({ ...options, vacuum: false })]
  for (const sweeper of [ours, theirs]) await sweeper.noteChanges(499)
  for (const sweeper of [ours, theirs]) await sweeper.sweep(NOW)
  t.strictSame(maintained, [])
  for (const sweeper of [ours, theirs]) await sweeper.noteChanges(1)
  for (const sweeper of [ours, theirs]) await sweeper.sweep(NOW)
  t.strictSame(maintained.slice(0, 2), [`vacuum (analyze) ${schema}.memories`, `vacuum (analyze) ${schema}.postings`])
  const once = maintained.length
  await ours.sweep(NOW)
  t.equal(maintained.length, once)
})

t.test('the tables that a large write has filled are analyzed after it', async (t) => {
  const schema = schemaIn(t, database)
  const store = new SqlVectorStore({ executor: database, schema, bootstrapSchema: true, sweepIntervalMs: 3_600_000 })
  await store.start({ clock: () => NOW, warn: () => {} })
  const rows = async () => (
    (await database.read<{ rows: number }>(
      'select reltuples::float8 as rows from pg_class where oid = to_regclass($1)', [`${schema}.memories`],
    ))[0]!.rows
  )
  await store.import(
    bank('filled'), await newMemories(Array.from({ length: 300 }, (_, index) => `memory ${index}`)), 'skip', NOW,
  )
  t.equal(await rows(), 300, 'after the commit, because before it nothing is visible')
})

t.test('only an analysis that fails while the store is open is worth a warning', async (t) => {
  const schema = schemaIn(t, database)
  const beforeFailure: Array<() => Promise<void>> = [async () => {}, async () => { await sweeper.stop() }]
  const executor = {
    ...database,
    maintain: async () => {
      await beforeFailure.shift()!()
      throw new Error('the connection is closed')
    },
  }
  const sweeper = new Sweeper({
    executor, schema, statements: makeStatements(schema), intervalMs: 3_600_000, vacuum: false,
  })
  const warnings: string[] = []
  sweeper.start(() => NOW, (message) => { warnings.push(message) })
  await sweeper.noteChanges(250)
  t.strictSame(warnings, ['vector_store: the tables could not be analyzed: the connection is closed'])
  await sweeper.noteChanges(250)
  t.equal(warnings.length, 1)
  t.equal(beforeFailure.length, 0)
})
