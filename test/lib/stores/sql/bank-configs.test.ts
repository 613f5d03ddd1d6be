import t from 'tap'
import type { BankKey } from '../../../../lib/access/context.js'
import { BANK_CONFIG_HISTORY, type BankConfigChange } from '../../../../lib/stores/bank-configs.js'
import { ALL_BANKS } from '../../../../lib/stores/sql/bank-configs.js'
import { lockBank } from '../../../../lib/stores/sql/fragments.js'
import { SqlError, type Executor } from '../../../../lib/stores/sql/executor.js'
import { migrate, quoteSchema, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { makePgliteStore, makePostgresStore } from '../../../../lib/stores/sql/providers.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { bank, listAll } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { rejection } from '../../../helpers/rejection.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { DATABASE_URL, freshDatabase, postgresOptions } from '../../../helpers/sql-stores.js'

/** The page that has a whole history. */
const WHOLE = { limit: BANK_CONFIG_HISTORY }

const database = await sqlDatabase(t)
const home = bank('home')
const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }

function change (what: string | null, more: Partial<BankConfigChange> = {}): BankConfigChange {
  return {
    document: what === null ? null : JSON.stringify({ description: what }), updatedAt: NOW, updatedBy: null, ...more,
  }
}

t.test('PostgreSQL is shared with other processes, and the folder of PGlite is not', async (t) => {
  const surroundings = { baseDirectory: t.testdirName, database: { url: 'postgres://app@127.0.0.1:1/nothing' } }
  const postgres = makePostgresStore({}, surroundings)
  t.equal(postgres.bankConfigs?.isShared, true)
  await postgres.close()
  const pglite = await makePgliteStore({ data_dir: `${t.testdir({})}/data` }, surroundings)
  t.equal(pglite.bankConfigs?.isShared, false)
  await pglite.close()
})

t.test('a role that may only read and write rows can change configurations', POSTGRES, async (t) => {
  const role = `test_config_role_${process.pid}`
  // Registered first, it comes last: the role cannot go before the database in which it has rights.
  t.teardown(async () => {
    const executor = new PostgresExecutor(postgresOptions())
    await executor.query(`drop role if exists ${role}`)
    await executor.close()
  })
  const url = new URL(await freshDatabase(t))
  const owner = new PostgresExecutor(postgresOptions({ url: url.href }))
  t.teardown(async () => { await owner.close() })
  await owner.query(`create role ${role} login password 'of the test'`)
  await owner.query(`alter default privileges grant usage on schemas to ${role}`)
  await owner.query(`alter default privileges grant select, insert, update, delete on tables to ${role}`)
  const schema = quoteSchema('memory_gateway')
  await migrate(owner, schema, readMigrations())
  url.username = role
  url.password = 'of the test'
  const store = new SqlVectorStore({
    executor: new PostgresExecutor(postgresOptions({ url: url.href })),
    schema,
    bootstrapSchema: false,
    sweepIntervalMs: 0,
  })
  await store.start({ clock: () => NOW, warn: () => {} })
  t.same(await store.bankConfigs.write(home, change('x')), { changed: true, revision: 1 })
  t.same(await store.import(home, await newMemories(['one']), { now: NOW, onConflict: 'skip', config: change('y') }), {
    imported: 1, skipped: 0, overwritten: 0,
  })
  t.same((await store.bankConfigs.history(home, WHOLE)).map(({ revision }) => revision), [2, 1])
  t.same(await store.removeBank(home, NOW), { memoryCount: 1, configRemoved: true })
  t.same(await store.bankConfigs.changedSince(2), { revision: 3, banks: [home] })
  await store.close()
})

t.test('a reader that polls finds every change of many writers, in two stores', async (t) => {
  const schema = schemaIn(t, database)
  const [one, two] = [await storeIn(database, { schema }), await storeIn(database, { schema })]
  const reader = await storeIn(database, { schema })
  const found = new Set<string>()
  let since = 0
  const poll = async () => {
    const { revision, banks } = await reader.bankConfigs.changedSince(since)
    t.ok(revision >= since, 'revisions never fall')
    for (const { bankId } of banks!) found.add(bankId)
    since = revision
  }
  const progress = { writing: true }
  const expected = new Set<string>()
  const revisions: number[] = []
  // Each bank is changed once, so that a change that is passed over stays missing. Some come with memories, and take
  // their time before the lock.
  const writers = [one, two, one, two].map(async (store, writer) => {
    for (let turn = 0; turn < 25; turn++) {
      const key = bank(`bank-${writer}-${turn}`)
      expected.add(key.bankId)
      if (turn % 5 === 4) {
        await store.import(
          key, await newMemories(['one', 'two'], { documentId: 'letter' }),
          { now: NOW, onConflict: 'skip', config: change('x') },
        )
      } else revisions.push((await store.bankConfigs.write(key, change('x'))).revision)
    }
  })
  const polling = (async () => { while (progress.writing) await poll() })()
  await Promise.all(writers).finally(() => { progress.writing = false })
  await polling
  await poll()
  t.same([...found].sort(), [...expected].sort())
  t.equal(since, 100, 'each change has a revision, and none is omitted')
  t.equal(new Set(revisions).size, revisions.length)
})

t.test('a change that waits for another commit has the later revision, and is not seen before', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  let waiting: Promise<unknown> | undefined
  const reader = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await reader.close() })
  await database.transaction(async (tx) => {
    await tx.query(lockBank(schema), [ALL_BANKS])
    waiting = store.bankConfigs.write(bank('second'), change('x'))
    const waits = async () => (await reader.read<{ waits: boolean }>(
      'select exists (select from pg_stat_activity a where a.query = $1 and ' +
        'cardinality(pg_blocking_pids(a.pid)) > 0) as waits', [lockBank(schema)],
    ))[0]!.waits
    while (!await waits());
    await tx.query(`insert into ${schema}.bank_configuration_changes values (E'\\x1ffirst', 1, 1)`)
    t.same(await store.bankConfigs.changedSince(-1), { revision: 0, banks: [] })
  })
  t.same(await waiting, { changed: true, revision: 2 })
  t.same((await store.bankConfigs.changedSince(1)).banks, [bank('second')])
})

t.test('server clocks that disagree leave no gap in the known changes', async (t) => {
  const schema = schemaIn(t, database)
  const { bankConfigs } = await storeIn(database, { schema })
  const day = 86_400_000
  for (const [name, updatedAt] of [
    ['a', NOW], ['slow', NOW - 3 * day], ['fast', NOW + day / 2], ['b', NOW + 1], ['c', NOW + 2],
  ] as const) {
    await bankConfigs.write(bank(name), change('x', { updatedAt }))
    const rows = await database.read<{ revision: number }>('select revision::float8 as revision from ' +
      `${schema}.bank_configuration_changes order by revision`)
    const [{ revision: oldest } = { revision: 0 }] = rows
    t.same(rows.map(({ revision }) => revision), rows.map((_, index) => oldest + index), name)
  }
  t.same(await bankConfigs.changedSince(0), { revision: 5, banks: undefined })
  t.same((await bankConfigs.changedSince(2)).banks?.length, 3)
})

t.test('concurrent imports, removals and changes succeed, and a bank is complete or absent', async (t) => {
  const schema = schemaIn(t, database)
  const [one, two] = [await storeIn(database, { schema }), await storeIn(database, { schema })]
  const banks = [home, bank('other'), bank('home', 'acme')]
  const memories = new Map<BankKey, NewMemory[]>()
  for (const key of banks) {
    memories.set(key, [
      await newMemory('first', { documentId: 'letter' }), await newMemory('second', { documentId: 'letter' }),
      await newMemory('third'),
    ])
  }
  const failures: unknown[] = []
  let apart = 0
  await Promise.all(Array.from({ length: 12 }, async (_, worker) => {
    const store = worker % 2 === 0 ? one : two
    for (let turn = 0; turn < 8; turn++) {
      const key = banks[(worker + turn) % banks.length]!
      try {
        switch ((worker * 5 + turn) % 4) {
          case 0:
          case 1:
            await store.import(key, memories.get(key)!, {
              now: NOW,
              onConflict: turn % 2 === 0 ? 'overwrite' : 'skip',
              config: change(`import ${worker}/${turn}`),
            })
            break
          case 2:
            await store.removeBank(key, NOW)
            break
          default: {
            // Only a bank that has a configuration is changed, so that no change makes one without memories.
            const [found] = await store.bankConfigs.read([key])
            if (found !== undefined) {
              await store.bankConfigs.write(key, change(`write ${worker}/${turn}`, { expected: found.config.revision }))
            }
          }
        }
        const [row] = await database.read<{ apart: number }>(`select count(*)::int as apart
          from (select distinct bank_key, true as held from ${schema}.memories) m
          full join (select bank_key, true as set
            from ${schema}.bank_configurations) c using (bank_key)
          where m.held is null or c.set is null`)
        apart += row!.apart
      } catch (error) {
        failures.push(error)
      }
    }
  }))
  t.same(failures, [])
  t.equal(apart, 0)
  for (const key of banks) {
    const [found] = await one.bankConfigs.read([key])
    t.equal((await listAll(one, key)).length, found === undefined ? 0 : 3)
    if (found !== undefined) t.same((await two.bankConfigs.history(key, WHOLE))[0], found.config)
    await one.removeBank(key, NOW)
  }
  t.same(await database.read(`select (select count(*)::int
    from ${schema}.bank_configuration_history) as history, (select count(*)::int from ${schema}.postings) as postings,
    (select sum(memories)::int from ${schema}.bank_statistics) as memories`), [
    { history: 0, postings: 0, memories: 0 },
  ])
})

t.test('a change that meets a deadlock is repeated, and not one that meets another error', async (t) => {
  const schema = schemaIn(t, database)
  await storeIn(database, { schema })
  let failing: SqlError[] = [new SqlError('statement', 'deadlock detected', { code: '40P01' })]
  const executor: Executor = {
    query: async (text, params) => await database.query(text, params),
    read: async (text, params) => await database.read(text, params),
    transaction: async (work, options) => await database.transaction(async (tx) => {
      const outcome = await work(tx)
      const error = failing.shift()
      if (error !== undefined) throw error
      return outcome
    }, options),
    maintain: async (text) => { await database.maintain(text) },
    close: async () => {},
  }
  const store = new SqlVectorStore({ executor, schema, bootstrapSchema: false, sweepIntervalMs: 0 })
  await store.start({ clock: () => NOW, warn: () => {} })
  t.same(await store.bankConfigs.write(home, change('x')), { changed: true, revision: 1 })
  t.equal((await store.bankConfigs.history(home, WHOLE)).length, 1)
  for (const work of [
    async () => await store.bankConfigs.write(home, change('y')), async () => await store.removeBank(home, NOW),
  ]) {
    const lost = new SqlError('connection', 'The connection to the database was lost')
    failing = [lost]
    t.equal(await rejection(SqlError, work()), lost)
  }
  t.same((await store.bankConfigs.history(home, WHOLE)).map(({ revision }) => revision), [1])
})
