import { cp, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { ProviderError } from '../../../../lib/providers/registry.js'
import { SqlError, type Executor, type Param, type SqlErrorKind } from '../../../../lib/stores/sql/executor.js'
import { openPglite, type PgliteOptions } from '../../../../lib/stores/sql/pglite.js'
import { rejection } from '../../../helpers/rejection.js'
import { gate } from '../../../helpers/waiting.js'

const root = await mkdtemp(join(tmpdir(), 'pglite-test-'))
t.teardown(async () => { await rm(root, { recursive: true, force: true }) })

const LIMITS = { timeoutMs: 20_000, maxWaiting: 20, waitMs: 20_000 }
/** Longer than the limits of a test, shorter than anybody waits. */
const SLOW = 'select pg_sleep(1.5)'

/** A cluster that was closed properly, with one table; made once, as that takes seconds. */
const template = join(root, 'template')
const maker = await openPglite({ ...LIMITS, dataDir: template })
await maker.query('create table notes (id int primary key, body text not null)')
await maker.query('create table pairs (a int unique deferrable initially deferred)')
await maker.close()

let copies = 0

/** Opens a copy of the template; it is closed when the test is over. */
async function open (
  t: Test, limits: Partial<PgliteOptions> = {},
): Promise<{ database: Executor, dataDir: string, reopen: () => Promise<Executor> }> {
  const dataDir = join(root, `copy-${++copies}`)
  await cp(template, dataDir, { recursive: true })
  const reopen = async () => {
    const database = await openPglite({ ...LIMITS, ...limits, dataDir })
    t.teardown(async () => { await database.close() })
    return database
  }
  t.teardown(async () => { await rm(dataDir, { recursive: true, force: true }) })
  return { database: await reopen(), dataDir, reopen }
}

async function fails (t: Test, promise: Promise<unknown>, kind: SqlErrorKind, message = ''): Promise<void> {
  const error = await rejection(SqlError, promise)
  t.equal(error.kind, kind)
  t.ok(error.message.includes(message), error.message)
}

async function value (database: Pick<Executor, 'query'>, text: string, params: readonly Param[] = []): Promise<unknown> {
  const [row] = await database.query<{ v: unknown }>(text, params)
  return row?.v
}

t.test('statements', async (t) => {
  const { database, dataDir } = await open(t)

  t.test('binds parameters as text of the type that the statement asks for', async (t) => {
    t.same(await database.query('select $1::float8 as f, $2::int as i, $3::bool as b, $4::text as t, $5::text as n, $6::jsonb as j',
      [1.5, 3, true, 'it\'s', null, '{"a":[1]}']), [{ f: 1.5, i: 3, b: true, t: 'it\'s', n: null, j: { a: [1] } }])
    t.equal(await value(database, 'select $1::text as v', [5]), '5')
    t.equal(await value(database, 'select $1::text as v', [false]), 'false')
    t.equal(await value(database, 'select $1::float8 as v', [-Infinity]), -Infinity)
    t.same(await database.query('select 1 as a where false'), [])
    t.same(await database.query('insert into notes values (1, $1)', ['x']), [])
    t.same(await database.read('select body from notes'), [{ body: 'x' }])
  })

  t.test('binds arrays of text whatever is in them', async (t) => {
    const elements = ['a', '', ' ', 'NULL', 'null', null, '{a,b}', '{}', '"', '"q"', 'it\'s', '\\', 'back\\"slash', '\\x41', 'c,d', ' x ', '😀', 'a\nb\tc', 'é', '\u0301']
    t.same(await value(database, 'select $1::text[] as v', [elements]), elements)
    t.same(await value(database, 'select $1::text[] as v', [[]]), [])
    t.equal(await value(database, 'select cardinality($1::text[]) as v', [[]]), 0)
    t.same(await value(database, 'select $1::text[] as v', [[null, '']]), [null, ''])
    t.equal(await value(database, 'select $1::text[] as v', [null]), null)
    t.same(await value(database, 'select $1::text[]::int[] as v', [['1', '2', null]]), [1, 2, null])
    t.same(await database.query('select i::text as i, f from unnest($1::text[]::uuid[], $2::text[]::float8[]) as u (i, f)',
      [['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'], ['0.5', '1e3']]),
    [{ i: '00000000-0000-0000-0000-000000000001', f: 0.5 }, { i: '00000000-0000-0000-0000-000000000002', f: 1000 }])
  })

  t.test('says what PostgreSQL says, and never what was bound', async (t) => {
    const secret = 'sesame'
    const duplicate = await rejection(SqlError, database.query('insert into notes values (7, $1), (7, $1)', [secret]))
    t.match(duplicate, { kind: 'statement', code: '23505', constraint: 'notes_pkey' })
    const invalid = await rejection(SqlError, database.query('select $1::int', [secret]))
    t.match(invalid, { kind: 'statement', code: '22P02', constraint: undefined })
    const bool = await rejection(SqlError, database.query('select $1::bool', [secret]))
    t.match(bool, { kind: 'statement', code: '22P02' })
    const unknown = await rejection(SqlError, database.query('select * from nowhere where $1 = \'a\'', [secret]))
    t.match(unknown.message, 'relation "nowhere" does not exist')
    for (const error of [duplicate, invalid, bool, unknown]) {
      t.notMatch(inspect(error, { depth: 9, showHidden: true }), secret)
    }
    t.equal(await value(database, 'select 1 as v'), 1)
  })

  t.test('plans for the values at hand, sorts by bytes, and has the extension', async (t) => {
    t.equal(await value(database, 'select current_setting(\'plan_cache_mode\') as v'), 'force_custom_plan')
    t.same(await database.query('select datcollate, pg_encoding_to_char(encoding) as encoding, current_setting(\'TimeZone\') as zone from pg_database where datname = current_database()'),
      [{ datcollate: 'C', encoding: 'UTF8', zone: 'UTC' }])
    await database.maintain('create extension vector')
    t.equal(await value(database, 'select $1::vector <=> \'[1,0]\' as v', ['[1,0]']), 0)
  })

  t.test('leaves the event loop free while a statement works', async (t) => {
    let ticks = 0
    let over = false
    const tick = () => { ticks++; if (!over) setImmediate(tick) }
    tick()
    t.equal(await value(database, 'with recursive r as (select 1 as n union all select n + 1 from r where n < 200000) select count(*)::int as v from r'), 200000)
    over = true
    t.ok(ticks > 100, `${ticks} ticks`)
  })

  t.test('refuses a second opener and leaves the first unharmed', async (t) => {
    await t.rejects(openPglite({ ...LIMITS, dataDir }), { constructor: ProviderError, message: /is in use by process/ })
    t.equal(await value(database, 'select 1 as v'), 1)
  })
})

t.test('transactions', async (t) => {
  const { database, dataDir, reopen } = await open(t)
  const count = async () => await value(database, 'select count(*)::int as v from notes')

  t.test('commit together and keep others out', async (t) => {
    const { opened, open } = gate()
    const order: string[] = []
    const transaction = database.transaction(async (tx) => {
      await tx.query('insert into notes values (1, \'a\')')
      await opened
      await tx.query('insert into notes values (2, \'b\')')
      order.push('transaction')
      return 'done'
    })
    const other = count().then((found) => { order.push('other'); return found })
    open()
    t.equal(await transaction, 'done')
    t.equal(await other, 2)
    t.same(order, ['transaction', 'other'])
  })

  t.test('roll back when the work rejects, and pass on its error', async (t) => {
    const error = new Error('mine')
    await t.rejects(database.transaction(async (tx) => {
      await tx.query('insert into notes values (3, \'c\')')
      throw error
    }), error)
    t.equal(await count(), 2)
  })

  t.test('fail with a statement that failed, though the work goes on', async (t) => {
    const found = await rejection(SqlError, database.transaction(async (tx) => {
      await tx.query('insert into notes values (4, \'d\')')
      await tx.query('insert into notes values (4, \'d\')').catch(() => {})
      return 'done'
    }))
    t.match(found, { kind: 'statement', code: '23505' })
    t.equal(await count(), 2)
  })

  t.test('fail with what fails at the commit', async (t) => {
    const found = await rejection(SqlError, database.transaction(async (tx) => { await tx.query('insert into pairs values (1), (1)') }))
    t.match(found, { kind: 'statement', code: '23505', constraint: 'pairs_a_key' })
    t.equal(await value(database, 'select count(*)::int as v from pairs'), 0)
  })

  t.test('cannot be used when they are over', async (t) => {
    const tx = await database.transaction(async (tx) => tx)
    await fails(t, tx.query('insert into notes values (5, \'e\')'), 'statement', 'The transaction is over')
    t.equal(await count(), 2)
  })

  t.test('run scripts', async (t) => {
    await t.rejects(database.transaction(async (tx) => {
      await tx.script('create table one (a int); insert into one values (1); create table two (a int);')
      t.equal(await value(tx, 'select a as v from one'), 1)
      throw new Error('no')
    }), { message: 'no' })
    t.equal(await value(database, 'select to_regclass(\'one\')::text as v'), null)
    await fails(t, database.transaction(async (tx) => { await tx.script('create table one (a int); selekt') }), 'statement', 'selekt')
    t.equal(await value(database, 'select to_regclass(\'one\')::text as v'), null)
  })

  t.test('only read as a snapshot', async (t) => {
    await database.transaction(async (tx) => {
      t.equal(await value(tx, 'select current_setting(\'transaction_isolation\') as v'), 'repeatable read')
    }, { snapshot: true })
    t.match(await rejection(SqlError, database.transaction(async (tx) => { await tx.query('delete from notes') }, { snapshot: true })), { code: '25006' })
    t.equal(await count(), 2)
  })

  t.test('are there when the directory is opened again', async (t) => {
    await database.close()
    t.same((await readdir(dataDir)).sort(), ['db'])
    const again = await reopen()
    t.same(await again.read('select id, body from notes order by id'), [{ id: 1, body: 'a' }, { id: 2, body: 'b' }])
  })
})

t.test('bounds', async (t) => {
  const { database } = await open(t, { timeoutMs: 750, bulkTimeoutMs: 20_000, maxWaiting: 2, waitMs: 50 })

  /** Has the database to itself and does not give it back. */
  async function hold (): Promise<{ end: () => Promise<void> }> {
    const began = gate()
    const { opened, open } = gate()
    const transaction = database.transaction(async () => { began.open(); await opened })
    await began.opened
    return { end: async () => { open(); await transaction } }
  }

  /** Tries until the database has answered what it was still at. */
  async function patiently (): Promise<void> {
    for (;;) {
      const found = await database.query('select 1').catch((error: unknown) => error)
      if (!(found instanceof SqlError)) return
      if (found.kind !== 'busy') throw found
    }
  }

  t.test('refuse who comes when too many wait, at once, and who waits too long', async (t) => {
    const holder = await hold()
    const waiting = [database.query('select 1'), database.query('select 1')].map(async (work) => await rejection(SqlError, work))
    await fails(t, database.query('select 1'), 'busy')
    for (const error of await Promise.all(waiting)) t.equal(error.kind, 'busy')
    await fails(t, database.read('select 1'), 'busy')
    await fails(t, database.transaction(async () => {}), 'busy')
    await fails(t, database.maintain('select 1'), 'busy')
    await holder.end()
    t.equal(await value(database, 'select 1 as v'), 1)
  })

  t.test('end the wait for a slow statement, which keeps others out until it is over', async (t) => {
    await fails(t, database.query(SLOW), 'timeout', 'within 750 ms')
    await fails(t, database.query('select 1'), 'busy')
    await patiently()
  })

  t.test('roll back a transaction in which a statement was too slow', async (t) => {
    const found = await rejection(SqlError, database.transaction(async (tx) => {
      await tx.query('insert into notes values (1, \'a\')')
      await tx.query(SLOW).catch(() => {})
      await tx.query('insert into notes values (2, \'b\')')
    }))
    t.equal(found.kind, 'timeout')
    await fails(t, database.query('select 1'), 'busy')
    await patiently()
    t.equal(await value(database, 'select count(*)::int as v from notes'), 0)
  })

  t.test('are wider for work on a whole bank, and there are none for maintenance', async (t) => {
    await database.transaction(async (tx) => { await tx.query(SLOW) }, { bulk: true })
    await database.maintain(SLOW)
    await database.maintain('vacuum notes')
    t.pass('they came to their end')
  })

  t.test('end what is under way when it is closed', async (t) => {
    const slow = rejection(SqlError, database.maintain('select pg_sleep(60)'))
    const waiting = rejection(SqlError, database.query('select 1'))
    await database.close()
    t.equal((await slow).kind, 'connection')
    t.equal((await waiting).kind, 'connection')
  })
})

t.test('closing', async (t) => {
  const { database, reopen } = await open(t)
  const { opened, open: finish } = gate()
  const began = gate()
  const transaction = database.transaction(async (tx) => {
    began.open()
    await opened
    await tx.query('insert into notes values (1, \'a\')')
  })
  await began.opened
  const waiting = rejection(SqlError, database.query('select 1'))
  const closing = Promise.all([database.close(), database.close()])
  await fails(t, database.query('select 1'), 'connection', 'closed')
  t.equal((await waiting).kind, 'connection')
  finish()
  await transaction
  await closing
  await fails(t, database.read('select 1'), 'connection', 'closed')
  await fails(t, database.transaction(async () => {}), 'connection')
  await fails(t, database.maintain('select 1'), 'connection')
  await database.close()
  const again = await reopen()
  t.equal(await value(again, 'select count(*)::int as v from notes'), 1, 'what was under way was waited for')
})

t.test('starts PostgreSQL anew when it has given up', async (t) => {
  const { database, dataDir } = await open(t)
  await database.query('insert into notes values (1, \'a\')')
  // PostgreSQL panics when it cannot write its control file.
  const control = join(dataDir, 'db', 'global', 'pg_control')
  await rename(control, `${control}.away`)
  const panic = await rejection(SqlError, database.transaction(async (tx) => {
    await tx.query('insert into notes values (2, \'b\')')
    await tx.query('checkpoint')
  }))
  t.equal(panic.kind, 'connection')
  t.comment(panic.message)
  await rename(`${control}.away`, control)
  t.same(await database.query('select id from notes'), [{ id: 1 }])
  t.equal(await value(database, 'select current_setting(\'plan_cache_mode\') as v'), 'force_custom_plan')
})

t.test('does not open a cluster that is broken, and leaves it unlocked', async (t) => {
  const dataDir = join(root, 'broken')
  await cp(template, dataDir, { recursive: true })
  await writeFile(join(dataDir, 'db', 'PG_VERSION'), '12\n')
  await t.rejects(openPglite({ ...LIMITS, dataDir }), { constructor: ProviderError, message: /cannot be opened/ })
  t.same(await readdir(dataDir), ['db'])
})
