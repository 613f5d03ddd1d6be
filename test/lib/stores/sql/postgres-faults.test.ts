import t, { type Test } from 'tap'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { quoteSchema } from '../../../../lib/stores/sql/migrations.js'
import type { PostgresExecutor, PostgresOptions } from '../../../../lib/stores/sql/postgres.js'
import { DATABASE_URL, freshSchema, openPostgres } from '../../../helpers/sql-stores.js'
import { tcpProxy } from '../../../helpers/tcp-proxy.js'
import { rejection } from '../../../helpers/rejection.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false

/** Statement and opening together, with room for a machine that is busy. */
const LIMITS = { statementTimeoutMs: 300, connectTimeoutMs: 1000 }
const BOUND_MS = 300 + 1000 + 1000

/** An executor that connects through a proxy, another that connects directly, and a table. */
async function behindProxy (t: Test, more: Partial<PostgresOptions> = {}) {
  const watcher = openPostgres(t)
  // Dropped after the proxy is closed: a transaction that is open through the proxy would lock the table.
  const kept = await table(t, watcher)
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  return { proxy, executor: openPostgres(t, { url, ...more }), watcher, kept }
}

async function table (t: Test, executor: PostgresExecutor): Promise<string> {
  const schema = quoteSchema(freshSchema(t))
  await executor.query(`create schema ${schema}`)
  await executor.query(`create table ${schema}.kept (id text primary key)`)
  return `${schema}.kept`
}

async function ids (executor: PostgresExecutor, kept: string): Promise<string[]> {
  return (await executor.query<{ id: string }>(`select id from ${kept} order by id`)).map(({ id }) => id)
}

/** The failure, which must come within the bound. */
async function inTime (t: Test, work: Promise<unknown>, bound = BOUND_MS): Promise<SqlError> {
  const began = performance.now()
  const error = await rejection(SqlError, work)
  const took = Math.round(performance.now() - began)
  t.ok(took < bound, `${error.message}: ${took} ms`)
  return error
}

const KILL_ME = 'select pg_terminate_backend(pg_backend_pid())'

t.test('a connection on which a write finds the database read-only is not used again', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const kept = await table(t, executor)
  const insert = `insert into ${kept} values ('a')`
  const write = async (inTransaction: boolean) => {
    if (inTransaction) await executor.transaction(async (tx) => { await tx.query(insert) })
    else await executor.query(insert)
  }
  for (const inTransaction of [false, true]) {
    // The session keeps this setting, as it keeps the database's setting of the time when it was opened.
    await executor.query('set default_transaction_read_only = on')
    t.equal((await rejection(SqlError, write(inTransaction))).code, '25006')
    await write(inTransaction)
    t.same(await ids(executor, kept), ['a'], 'the next write uses a new connection')
    await executor.query(`delete from ${kept}`)
  }
})

t.test('a server that has too many connections is reported as busy by every first statement', { skip }, async (t) => {
  const administrator = openPostgres(t)
  const role = `crowded_${process.pid}`
  await administrator.query(`create role ${role} login password 'of the test' connection limit 0`)
  t.teardown(async () => { await administrator.query(`drop role ${role}`) })
  const url = new URL(DATABASE_URL!)
  url.username = role
  url.password = 'of the test'
  const executor = openPostgres(t, { url: url.href })
  for (const keepPlan of [false, true]) {
    const refusals = [
      async () => await executor.read('select 1', [], { keepPlan }),
      async () => await executor.transaction(async (tx) => await tx.query('select 1'), { keepPlans: keepPlan }),
    ]
    for (const refusal of refusals) {
      t.match(await rejection(SqlError, refusal()), { kind: 'busy', code: '53300' }, `keeps plans: ${keepPlan}`)
    }
  }
})

t.test('a read whose backend is killed is repeated once and answers', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const watcher = openPostgres(t)
  const kept = await table(t, watcher)
  // The first to ask is killed, the next is not.
  const text = `with first as (select count(*) = 0 as it from ${kept}) select pg_backend_pid() as pid,
    pg_sleep(case when it then 20 else 0 end) from first`
  const [before] = await executor.query<{ pid: number }>('select pg_backend_pid() as pid')
  const answer = executor.read<{ pid: number }>(text)
  await watcher.query(`do $$ begin while not exists (select from pg_stat_activity where pid = ${before!.pid} and ` +
    'wait_event = \'PgSleep\') loop perform pg_stat_clear_snapshot(); perform pg_sleep(0.01); end loop; end $$')
  await watcher.query(`insert into ${kept} values ('killed')`)
  await watcher.query('select pg_terminate_backend($1::int)', [before!.pid])
  const [row] = await answer
  t.not(row?.pid, before!.pid)
})

t.test('a read is executed at most twice', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const watcher = openPostgres(t)
  const kept = await table(t, watcher)
  await watcher.query(`create sequence ${kept}_count`)
  t.equal(
    (await rejection(SqlError, executor.read(`select nextval('${kept}_count'), ` +
      'pg_terminate_backend(pg_backend_pid())'))).kind,
    'connection',
  )
  t.same(await watcher.query(`select last_value::int as tries from ${kept}_count`), [{ tries: 2 }])
})

t.test('a write whose backend is killed is not repeated', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const watcher = openPostgres(t)
  const kept = await table(t, watcher)
  await watcher.query(`create sequence ${kept}_count`)
  t.equal(
    (await rejection(SqlError, executor.query(`select nextval('${kept}_count'), ` +
      'pg_terminate_backend(pg_backend_pid())'))).kind,
    'connection',
  )
  t.same(await watcher.query(`select last_value::int as tries from ${kept}_count`), [{ tries: 1 }])
  t.same(await executor.query('select 1 as one'), [{ one: 1 }], 'the next call gets a connection')
})

t.test('a transaction whose backend is killed is undone completely, in and between statements', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 2 })
  const watcher = openPostgres(t)
  const kept = await table(t, watcher)
  const inStatement = await rejection(SqlError, executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('a')`)
    await tx.query(KILL_ME)
  }))
  t.equal(inStatement.kind, 'connection')
  const between = await rejection(SqlError, executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('b')`)
    const [me] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    // Answers when the backend is gone.
    await watcher.query('select pg_terminate_backend($1::int, 5000)', [me!.pid])
    await tx.query(`insert into ${kept} values ('c')`).catch(() => {})
    // A driver that opened the connection anew would keep this one, as a transaction of its own.
    await tx.query(`insert into ${kept} values ('d')`)
  }))
  t.equal(between.kind, 'connection')
  t.same(await ids(executor, kept), [])
})

t.test('work that rejects with its own error after its connection was lost gets that error', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const mine = new Error('mine')
  for (let round = 0; round < 5; round++) {
    await t.rejects(executor.transaction(async (tx) => {
      await tx.query(KILL_ME).catch(() => {})
      throw mine
    }), mine)
    t.same(await executor.query('select 1 as one'), [{ one: 1 }])
  }
})

t.test('transactions beside one that lost its connection are not affected', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 2 })
  const watcher = openPostgres(t)
  const kept = await table(t, watcher)
  const all = Array.from({ length: 40 }, async (_, number) => await executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('${number}')`)
    if (number % 4 === 0) await tx.query(KILL_ME)
    await tx.query('select 1')
  }))
  const settled = await Promise.allSettled(all)
  const kepts = settled.flatMap(({ status }, number) => status === 'fulfilled' ? [String(number)] : [])
  t.equal(kepts.length, 30)
  t.same(await ids(watcher, kept), kepts.sort(), 'only acknowledged rows exist')
})

t.test('a commit that does not arrive is undone, one with a lost answer is kept; both reject', { skip }, async (t) => {
  const { proxy, executor, kept } = await behindProxy(t)
  for (const [when, id] of [['before', 'undone'], ['answered', 'kept']] as const) {
    const sprung = proxy.trap('commit', when)
    t.equal(
      (await inTime(t, executor.transaction(async (tx) => (
        await tx.query(`insert into ${kept} values ('${id}')`)
      )))).kind,
      'connection',
    )
    await sprung
  }
  t.same(await ids(executor, kept), ['kept'])
})

t.test('a commit that is never answered ends in time', { skip }, async (t) => {
  const { proxy, executor, kept } = await behindProxy(t, LIMITS)
  t.equal((await inTime(t, executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('a')`)
    proxy.silence()
  }))).kind, 'timeout')
  await proxy.pass()
  t.same(await executor.query('select 1 as one'), [{ one: 1 }])
})

t.test('each call ends in time when the network drops everything, and succeeds later', { skip }, async (t) => {
  const { proxy, executor } = await behindProxy(t, { ...LIMITS, poolSize: 3 })
  await Promise.all([1, 2, 3].map(async () => await executor.query('select pg_sleep(0.01)')))
  t.equal(proxy.size, 3)
  proxy.silence()
  const errors = await Promise.all([
    inTime(t, executor.query('select 1')),
    inTime(t, executor.read('select 1')),
    inTime(t, executor.transaction(async (tx) => await tx.query('select 1'))),
  ])
  t.same(errors.map(({ kind }) => kind), ['timeout', 'timeout', 'timeout'])
  await proxy.pass()
  const answers = await Promise.all(Array.from({ length: 6 }, async () => await executor.query('select 1 as one')))
  t.same(answers, Array.from({ length: 6 }, () => [{ one: 1 }]))
})

t.test('a connection that becomes silent inside a transaction ends it in time', { skip }, async (t) => {
  const { proxy, executor } = await behindProxy(t, { ...LIMITS, poolSize: 1 })
  t.equal((await inTime(t, executor.transaction(async (tx) => {
    await tx.query('select 1')
    proxy.silence()
    await tx.query('select 1')
  }))).kind, 'timeout')
  await proxy.pass()
  t.same(await executor.query('select 1 as one'), [{ one: 1 }])
})

t.test('a silent connection to a server that refuses new ones ends only its own call', { skip }, async (t) => {
  const { proxy, executor } = await behindProxy(t, { ...LIMITS, poolSize: 1 })
  await executor.query('select 1')
  proxy.silence()
  // The statement cannot be cancelled either: the server takes no connection any more.
  proxy.listenNoMore()
  t.equal((await inTime(t, executor.query('select 1'))).kind, 'timeout')
  t.equal((await inTime(t, executor.query('select 1'))).kind, 'connection')
  await proxy.pass()
  t.same(await executor.query('select 1 as one'), [{ one: 1 }])
})

t.test('a call ends when the database refuses connections, or accepts them and never answers', { skip }, async (t) => {
  const { proxy, executor } = await behindProxy(t, { ...LIMITS, poolSize: 2 })
  await proxy.refuse()
  const asks: Array<() => Promise<unknown>> = [
    async () => await executor.query('select 1'), async () => await executor.read('select 1'),
    async () => { await executor.transaction(async () => {}) }, async () => { await executor.maintain('select 1') },
  ]
  for (const ask of asks) {
    t.match(await inTime(t, ask()), {
      kind: 'connection',
      message: `The database at 127.0.0.1:${proxy.port} cannot be reached: ECONNREFUSED (nothing listens on that port)`,
    })
  }
  await proxy.pass()
  proxy.silence()
  const errors = await Promise.all(asks.map(async (ask) => await inTime(t, ask(), 2 * BOUND_MS)))
  t.same(errors.map(({ kind }) => kind), ['connection', 'connection', 'connection', 'connection'])
  for (const { message } of errors) {
    t.equal(
      message, `The database at 127.0.0.1:${proxy.port} cannot be reached: CONNECT_TIMEOUT (nobody answers there)`,
    )
  }
  await proxy.pass()
  t.same(await executor.query('select 1 as one'), [{ one: 1 }])
})

t.test('connections that were cut while idle are replaced without a failure', { skip }, async (t) => {
  const { proxy, executor, watcher } = await behindProxy(t, { poolSize: 4 })
  const pids = await Promise.all([1, 2, 3, 4].map(async () => (
    (await executor.query<{ pid: number }>('select pg_backend_pid() as pid from pg_sleep(0.05)'))[0]!.pid
  )))
  proxy.cut()
  await watcher.query('do $$ begin while exists (select from pg_stat_activity where pid = ' +
    `any('{${pids.join(',')}}')) loop perform pg_stat_clear_snapshot(); perform pg_sleep(0.01); end loop; end $$`)
  const answers = await Promise.all([1, 2, 3, 4].map(async () => await executor.read('select 1 as one')))
  t.same(answers, Array.from({ length: 4 }, () => [{ one: 1 }]))
})

t.test('close waits for work in progress, and accepts no more', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  let begin!: () => void
  const begun = new Promise<void>((resolve) => { begin = resolve })
  const work = executor.transaction(async (tx) => {
    begin()
    await tx.query('select pg_sleep(0.1)')
    return (await tx.query<{ one: number }>('select 1 as one'))[0]?.one
  })
  await begun
  const waiting = rejection(SqlError, executor.query('select 1'))
  const closed = executor.close()
  t.equal(await work, 1)
  await closed
  t.match(await waiting, { kind: 'connection', message: 'The store is closed' })
  const errors = await Promise.all(
    [
      executor.query('select 1'), executor.read('select 1'), executor.transaction(async () => {}),
      executor.maintain('select 1'),
    ].map(async (work) => await rejection(SqlError, work)),
  )
  for (const error of errors) t.match(error, { kind: 'connection', message: 'The store is closed' })
  await executor.close()
})

t.test('close waits neither for an unresponsive network nor for the build of an index', { skip }, async (t) => {
  const { proxy, executor } = await behindProxy(t, { poolSize: 1 })
  await executor.query('select 1')
  const began = performance.now()
  const building = rejection(SqlError, executor.maintain('select pg_sleep(60)'))
  await proxy.nextConnection()
  proxy.silence()
  const hanging = rejection(SqlError, executor.query('select 1'))
  await executor.close()
  t.ok(performance.now() - began < 10_000)
  t.equal((await building).kind, 'connection')
  t.equal((await hanging).kind, 'connection')
})
