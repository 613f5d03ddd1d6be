import t from 'tap'
import { SqlError, type Executor, type Param } from '../../../../lib/stores/sql/executor.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import { IDEMPOTENCY_LIFETIME_MS } from '../../../../lib/stores/vector-store.js'
import { bank, lexical, listAll, REMOVE, texts } from '../../../contract/vector-store/setup.js'
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
    ], { now: NOW })
  }
  const rows = async (table: string) => (
    (await database.read<{ count: number }>(`select count(*)::int as count from ${schema}.${table}`))[0]!.count
  )
  const postings = await rows('postings')
  const sweeper = new Sweeper({
    executor: database, schema, intervalMs: 0, vacuum: false,
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
  await store.insert(bank('one'), [await newMemory('first')], { now: NOW, idempotency: keyed('first') })
  await store.insert(bank('one'), [await newMemory('second')], { now: NOW + 1, idempotency: keyed('second') })
  const sweeper = new Sweeper({
    executor: database, schema, intervalMs: 0, vacuum: false,
  })
  await sweeper.sweep(NOW + IDEMPOTENCY_LIFETIME_MS)
  t.strictSame(await database.read(`select key from ${schema}.idempotency_keys`), [{ key: 'second' }])
})

t.test('a backlog of records is deleted in batches, and a bank that fails does not keep others waiting', async (t) => {
  const schema = schemaIn(t, database)
  await storeIn(database, { schema })
  await database.query(`insert into ${schema}.idempotency_keys (bank_key, key, request_fingerprint, answer,
    kept_at) select E'\\x1fbank ' || n % 3, n::text, 'f', 'null', 0 from generate_series(1, 3600) n`)
  await database.query(`insert into ${schema}.daily_usage (bank_key, day, counter, used)
    values (E'\\x1fused', 1, 'c', 1)`)
  let batches = 0
  let broken = 'bank 1'
  const executor: Executor = {
    read: database.read.bind(database),
    transaction: database.transaction.bind(database),
    maintain: async () => {},
    close: async () => {},
    query: async <R extends object>(text: string, params: readonly Param[] = []) => {
      if (text.includes('idempotency_keys')) {
        batches++
        if (params[0] === `\u001f${broken}`) throw new SqlError('timeout', 'too slow')
      }
      return await database.query<R>(text, params)
    },
  }
  const left = async () => await database.read(`select split_part(k.bank_key, E'\\x1f', 2) as bank_id,
      count(*)::int as records
    from ${schema}.idempotency_keys k group by 1
    union all select split_part(u.bank_key, E'\\x1f', 2), u.used::int from ${schema}.daily_usage u order by 1`)
  const sweeper = new Sweeper({ executor, schema, intervalMs: 0, vacuum: false })
  await t.rejects(sweeper.sweep(NOW), { message: 'too slow' })
  t.strictSame(await left(), [{ bank_id: 'bank 1', records: 1200 }])
  t.equal(batches, 5, 'two for each bank, and one that failed')
  broken = ''
  await sweeper.sweep(NOW)
  t.strictSame(await left(), [])
})

t.test('a sweeper that is stopped ends its round after the statement that runs', async (t) => {
  const schema = schemaIn(t, database)
  await storeIn(database, { schema })
  await database.query(`insert into ${schema}.daily_usage (bank_key, day, counter, used)
    select E'\\x1fbank ' || n, 1, 'c', 1 from generate_series(1, 5) n`)
  const stops: Array<Promise<void>> = []
  const executor: Executor = {
    read: database.read.bind(database),
    transaction: database.transaction.bind(database),
    maintain: async () => { t.fail('it vacuums') },
    close: async () => {},
    query: async <R extends object>(text: string, params: readonly Param[] = []) => {
      stops.push(sweeper.stop())
      return await database.query<R>(text, params)
    },
  }
  const sweeper = new Sweeper({ executor, schema, intervalMs: 0, vacuum: true })
  await sweeper.noteChanges(1000)
  await sweeper.sweep(NOW)
  await Promise.all(stops)
  t.equal(stops.length, 1)
})

t.test('a bank without memories leaves no statistics, and counts from 0 when it is used again', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const [emptied, kept, deleted] = [bank('emptied'), bank('kept'), bank('deleted')]
  for (const key of [emptied, kept, deleted]) await store.insert(key, await newMemories(['a', 'b c']), { now: NOW })
  for (const key of [emptied, kept]) {
    const [first] = await listAll(store, key)
    await store.remove(key, { kind: 'ids', memoryIds: [first!.memoryId] }, REMOVE)
  }
  const [last] = await listAll(store, emptied)
  await store.remove(emptied, { kind: 'ids', memoryIds: [last!.memoryId] }, REMOVE)
  await store.removeBank(deleted, NOW)
  const sweeper = new Sweeper({
    executor: database, schema, intervalMs: 0, vacuum: false,
  })
  const statistics = async () => await database.read(`select split_part(s.bank_key, E'\\x1f', 2) as bank_id,
    sum(s.memories)::int as memories
    from ${schema}.bank_statistics s group by 1 order by 1`)
  await sweeper.sweep(NOW)
  t.strictSame(await statistics(), [{ bank_id: 'kept', memories: 1 }])
  await store.insert(emptied, await newMemories(['d']), { now: NOW })
  await store.removeBank(kept, NOW)
  await sweeper.sweep(NOW + 3_599_999)
  t.strictSame(await statistics(), [{ bank_id: 'emptied', memories: 1 }, { bank_id: 'kept', memories: 0 }])
  await sweeper.sweep(NOW + 3_600_000)
  t.strictSame(await statistics(), [{ bank_id: 'emptied', memories: 1 }])
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
    executor: database, schema, intervalMs: 0, vacuum: false,
  })
  await sweeper.sweep(NOW)
  t.strictSame(await database.read(`select split_part(bank_key, E'\\x1f', 2) as bank_id, day
    from ${schema}.daily_usage order by 1, 2`),
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
  const options = { executor, schema, intervalMs: 0 }
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
  const many = await newMemories(Array.from({ length: 300 }, (_, index) => `memory ${index}`))
  await store.import(bank('filled'), many, { now: NOW, onConflict: 'skip' })
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
    executor, schema, intervalMs: 3_600_000, vacuum: false,
  })
  const warnings: string[] = []
  sweeper.start(() => NOW, (message) => { warnings.push(message) })
  await sweeper.noteChanges(250)
  t.strictSame(warnings, ['vector_store: the tables could not be analyzed: the connection is closed'])
  await sweeper.noteChanges(250)
  t.equal(warnings.length, 1)
  t.equal(beforeFailure.length, 0)
})
