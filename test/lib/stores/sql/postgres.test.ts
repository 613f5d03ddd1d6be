import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { SqlError, type Param } from '../../../../lib/stores/sql/executor.js'
import { quoteSchema } from '../../../../lib/stores/sql/migrations.js'
import type { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { DATABASE_URL, freshSchema, openPostgres } from '../../../helpers/sql-stores.js'
import { rejection } from '../../../helpers/rejection.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false

/** A table `kept (id text primary key, value text)` in a schema of its own. */
async function table (t: Test, executor: PostgresExecutor): Promise<string> {
  const schema = quoteSchema(freshSchema(t))
  await executor.query(`create schema ${schema}`)
  await executor.query(`create table ${schema}.kept (id text primary key check (id <> 'never'), value text, ` +
    'number int)')
  return `${schema}.kept`
}

for (const transactionPooler of [false, true]) {
  t.test('bound values are returned ' +
    `unchanged${transactionPooler ? ', through a pooler in transaction mode too' : ''}`, { skip }, async (t) => {
    const executor = openPostgres(t, { transactionPooler })
    const back = async (value: Param, cast: string) => (
      (await executor.query<{ value: unknown }>(`select $1::${cast} as value`, [value]))[0]?.value
    )
    for (const text of [
      '', 'null', 'NULL', '{}', '{a,b}', 'it\'s', '"quoted"', 'back\\slash', '\\\\', '$1', 'line\nfeed\ttab',
      '🦦 é \u200b', 'x'.repeat(100_000),
    ]) {
      t.equal(await back(text, 'text'), text)
      t.same(await back([text], 'text[]'), [text], `an array of ${JSON.stringify(text).slice(0, 30)}`)
    }
    // In JSON, because the driver reads a null of an array as the text NULL: no statement of the store answers one.
    const listed = async (list: Param, cast = 'text[]') => (
      JSON.parse(
        (await executor.query<{ value: string }>(`select array_to_json($1::${cast})::text as value`, [list]))[0]!.value,
      ) as unknown
    )
    for (const list of [
      [], [null], [null, 'null', 'NULL', ''], ['a,b', '{a,b}', '"', '\\', '\'', ' ', '{}', '{', '}', 'a"b\\c'], [''],
    ]) {
      t.same(await listed(list), list, JSON.stringify(list))
    }
    t.equal(await back(null, 'text'), null)
    t.equal(await back(null, 'text[]'), null)
    t.equal(await back(true, 'boolean'), true)
    t.equal(await back(false, 'boolean'), false)
    for (const number of [0, -1, 1.5, 1e-7, 1e21, 2 ** 53 - 1, 1_768_471_200_000]) {
      t.equal(await back(number, 'float8'), number)
    }
    t.equal(await back(2_147_483_647, 'int'), 2_147_483_647)
    const instants = ['9007199254740991', null, '1768471200000']
    t.same(await listed(instants, 'text[]::bigint[]::text[]'), instants, 'whole numbers beyond an int go as text')
    t.equal(
      (await executor.query<{ value: number }>('select $1::float8::bigint::float8 as value', [2 ** 53 - 1]))[0]?.value,
      2 ** 53 - 1,
    )
    const json = JSON.stringify({ a: 'it\'s', b: [1, null, '{x}'], 'c"': '\\u0041' })
    t.same(JSON.parse(await back(json, 'text::jsonb::text') as string), JSON.parse(json))
  })
}

t.test('a statement without rows returns an empty list', { skip }, async (t) => {
  const executor = openPostgres(t)
  t.same(await executor.query('select 1 as one where false'), [])
  const kept = await table(t, executor)
  t.same(await executor.query(`insert into ${kept} values ($1, null)`, ['a']), [])
  t.same(await executor.query(`delete from ${kept} returning id`), [{ id: 'a' }])
})

t.test('no error contains a bound value, whatever the database reports about it', { skip }, async (t) => {
  const executor = openPostgres(t)
  const kept = await table(t, executor)
  const secret = 'the-otter-sleeps-at-dawn'
  await executor.query(`insert into ${kept} values ($1, 'x')`, [secret])
  const vector = `[0.123456,0.654321,${secret}]`
  const json = `{"secret": "${secret}"`
  const wrong: Array<[string, Param[], string]> = [
    [`insert into ${kept} values ($1, 'y')`, [secret], '23505'],
    [`insert into ${kept} (id, value) values ('never', $1)`, [secret], '23514'],
    [`insert into ${kept} (id, value) values (null, $1)`, [secret], '23502'],
    ['select $1::text::jsonb', [json], '22P02'],
    ['select $1::text::vector', [vector], '22P02'],
    ['select $1::text::uuid', [secret], '22P02'],
    ['select $1::text[]::int[]', [['1', secret]], '22P02'],
    ['select $1::text::int', [secret], '22P02'],
    [
      'select 1 / length(nullif($1::text, $2::text)), 1 / (length($1::text) - length($2::text))', [secret, secret],
      '22012',
    ],
    ['select $1::text from nothing_here', [secret], '42P01'],
    ['select $1::text, nothing_here', [secret], '42703'],
    ['select nothing_here($1::text)', [secret], '42883'],
    [`do $$ begin raise exception '${secret}'; end $$`, [], 'P0001'],
    ['select $1::text', [`${secret}\u0000`], '22021'],
  ]
  for (const [text, params, code] of wrong) {
    for (const ask of [
      async () => await executor.query(text, params),
      async () => await executor.read(text, params),
      async () => await executor.transaction(async (tx) => await tx.query(text, params)),
    ]) {
      const error = await rejection(SqlError, ask())
      t.equal(error.code, code, text)
      t.equal(error.kind, 'statement')
      t.equal(error.cause, undefined)
      const properties = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)))
      for (const shown of [
        error.message, error.stack ?? '', ...properties, inspect(error, { depth: 10, showHidden: true }),
      ]) {
        t.notOk([secret, '0.123456', json].some((part) => shown.includes(part)), 'nothing of it')
      }
    }
  }
  const taken = await rejection(SqlError, executor.query(wrong[0]![0], wrong[0]![1]))
  t.equal(taken.constraint, 'kept_pkey')
  const unbindable = await rejection(SqlError, executor.query('select $1::text', [
    { toString: () => { throw new Error(secret) } } as unknown as Param,
  ]))
  t.notOk(inspect(unbindable, { depth: 10, showHidden: true }).includes(secret), 'nor does the driver error')
  t.same(await executor.query('select 1 as one'), [{ one: 1 }], 'the pool still works')
})

t.test('a statement that takes too long ends in time, alone and in a transaction', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1, statementTimeoutMs: 100 })
  const pid = async () => (await executor.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid
  const before = await pid()
  const began = performance.now()
  const error = await rejection(SqlError, executor.query('select pg_sleep(30)'))
  t.equal(error.kind, 'timeout')
  t.equal(error.code, '57014')
  t.equal(
    (await rejection(SqlError, executor.transaction(async (tx) => await tx.query('select pg_sleep(30)')))).kind,
    'timeout',
  )
  t.ok(performance.now() - began < 5000, 'long before they would have ended')
  t.equal(await pid(), before, 'the server kept its own limit')
})

t.test('where the server has no time limit the gateway applies it, and cancels the statement', { skip }, async (t) => {
  const limits = { poolSize: 1, statementTimeoutMs: 100, connectTimeoutMs: 1000 }
  const executor = openPostgres(t, { ...limits, transactionPooler: true })
  const watcher = openPostgres(t, { poolSize: 1 })
  const mark = `select pg_sleep(30) as mark_${process.pid}`
  const error = await rejection(SqlError, executor.query(mark))
  t.match(error, { kind: 'timeout', message: 'The database did not answer within 1100 ms' })
  t.same(await executor.query('select 1 as one'), [{ one: 1 }])
  // Bounded by the statement limit of the watcher: the server is given no 30 seconds to come to its end.
  await watcher.query(`do $$ begin while exists (select from pg_stat_activity where query = '${mark}' and state = ` +
    '\'active\') loop perform pg_stat_clear_snapshot(); perform pg_sleep(0.01); end loop; end $$')
})

t.test('bulk work has its own limit', { skip }, async (t) => {
  const executor = openPostgres(t, { statementTimeoutMs: 50, bulkTimeoutMs: 10_000, poolSize: 1 })
  t.same(
    await executor.transaction(async (tx) => await tx.query('select 1 as one from pg_sleep(0.2)'), { bulk: true }),
    [{ one: 1 }],
  )
  t.equal(
    (await rejection(SqlError, executor.query('select pg_sleep(0.2)'))).kind, 'timeout',
    'which ends with the transaction',
  )
})

t.test('a transaction is stored completely or not at all', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const kept = await table(t, executor)
  const ids = async () => (
    (await executor.query<{ id: string }>(`select id from ${kept} order by id`)).map(({ id }) => id)
  )
  t.equal(await executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('a')`)
    await tx.script(`insert into ${kept} values ('b'); insert into ${kept} values ('c')`)
    return 'the result'
  }), 'the result')
  t.same(await ids(), ['a', 'b', 'c'])
  const mine = new TypeError('mine')
  await t.rejects(executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('d')`)
    throw mine
  }), mine, 'what the work rejects with comes out as it is')
  t.equal((await rejection(SqlError, executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('d')`)
    await tx.query(`insert into ${kept} values ('a')`)
  }))).code, '23505')
  t.equal((await rejection(SqlError, executor.transaction(async (tx) => {
    await tx.query(`insert into ${kept} values ('d')`)
    await tx.query(`insert into ${kept} values ('a')`).catch(() => {})
  }))).kind, 'statement', 'a work that passes over a failed statement is told that nothing of it was kept')
  await rejection(SqlError, executor.transaction(async (tx) => await Promise.all([
    tx.query(`insert into ${kept} values ('a')`), tx.query(`insert into ${kept} values ('d')`),
    tx.query(`insert into ${kept} values ('e')`),
  ])))
  t.same(await ids(), ['a', 'b', 'c'])
})

t.test('an ended transaction refuses statements, so that none runs in another one', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const kept = await table(t, executor)
  let late: (() => Promise<unknown>) | undefined
  await executor.transaction(async (tx) => { late = async () => await tx.query(`insert into ${kept} values ('late')`) })
  await executor.transaction(async () => { await t.rejects(late!(), { message: 'The transaction is over' }) })
  t.same(await executor.query(`select id from ${kept}`), [])
})

t.test('a snapshot sees one moment and cannot write', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 2 })
  const kept = await table(t, executor)
  await executor.transaction(async (tx) => {
    t.same(await tx.query(`select id from ${kept}`), [])
    await executor.query(`insert into ${kept} values ('a')`)
    t.same(await tx.query(`select id from ${kept}`), [])
  }, { snapshot: true, bulk: true })
  t.equal(
    (await rejection(SqlError, executor.transaction(
      async (tx) => await tx.query(`insert into ${kept} values ('b')`), { snapshot: true },
    ))).code,
    '25006',
  )
})

t.test('with all connections in use a call waits, or is refused at once or after a time limit', { skip }, async (t) => {
  for (const { poolMaxWaiting, poolWaitMs } of [
    { poolMaxWaiting: 0, poolWaitMs: 60_000 }, { poolMaxWaiting: 5, poolWaitMs: 10 },
  ]) {
    const executor = openPostgres(t, { poolSize: 1, poolMaxWaiting, poolWaitMs })
    await executor.transaction(async () => {
      for (const ask of [executor.query('select 1'), executor.read('select 1'), executor.transaction(async () => {})]) {
        t.equal((await rejection(SqlError, ask)).kind, 'busy')
      }
    })
    t.same(await executor.query('select 1 as one'), [{ one: 1 }])
  }
})

t.test('the pool never has more connections than allowed, and reuses them', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 3 })
  const pids = await Promise.all(Array.from({ length: 30 }, async () => (
    (await executor.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid
  )))
  t.ok(new Set(pids).size <= 3)
  const again = (await executor.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid
  t.ok(pids.includes(again))
})

t.test('a URI that the driver cannot read does not use up a slot', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1, poolMaxWaiting: 0, url: 'postgres://app:%zz@127.0.0.1:1/nothing' })
  for (let attempt = 0; attempt < 3; attempt++) {
    await t.rejects(executor.query('select 1'), { message: 'URI malformed' })
  }
})

t.test('a read determines whether its plan is kept, whatever ran on the connection before', { skip }, async (t) => {
  const executor = openPostgres(t, { poolSize: 1 })
  const mode = 'select current_setting(\'plan_cache_mode\') as mode'
  const asked = async (keepPlan: boolean) => (await executor.read<{ mode: string }>(mode, [], { keepPlan }))[0]?.mode
  for (const [keepPlan, expected] of [
    [false, 'custom'], [true, 'generic'], [true, 'generic'], [false, 'custom'], [true, 'generic'],
  ] as const) {
    t.equal(await asked(keepPlan), `force_${expected}_plan`)
  }
  t.equal(
    await executor.transaction(async (tx) => (await tx.query<{ mode: string }>(mode))[0]?.mode), 'force_custom_plan',
  )
  await t.rejects(executor.transaction(async () => { throw new Error('undone') }), new Error('undone'))
  t.equal(await asked(true), 'force_generic_plan')
  t.equal((await executor.query<{ mode: string }>(mode))[0]?.mode, 'force_custom_plan')
})

t.test('a connection has its settings, whatever those of the role are', { skip }, async (t) => {
  const url = new URL(DATABASE_URL!)
  url.searchParams.set('options', '-c jit=on -c enable_seqscan=on -c statement_timeout=123s')
  const executor = openPostgres(t, { url: url.href, statementTimeoutMs: 4000 })
  t.strictSame(Object.fromEntries((await executor.read<{ name: string, setting: string }>(
    'select name, setting from pg_settings where name = any($1::text[])',
    [['enable_seqscan', 'jit', 'max_parallel_workers_per_gather', 'statement_timeout']],
  )).map(({ name, setting }) => [name, setting])), {
    enable_seqscan: 'off', jit: 'off', max_parallel_workers_per_gather: '0', statement_timeout: '4000',
  })
  await t.resolves(executor.maintain(`do $$ begin
    if current_setting('statement_timeout') <> '0' then raise 'maintenance has a time limit'; end if;
  end $$`))
})
