import { cp, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { openPglite } from '../../../../lib/stores/sql/pglite.js'
import { rejection } from '../../../helpers/rejection.js'
import { LIMITS, open, root, template, value } from './pglite-support.js'

t.test('statements', async (t) => {
  const { database, dataDir } = await open(t)

  t.test('bind parameters as the types in the statement', async (t) => {
    t.same(await database.query('select $1::float8 as f, $2::int as i, $3::bool as b, $4::text as t, $5::text as n, ' +
      '$6::jsonb as j',
    [1.5, 3, true, 'it\'s', null, '{"a":[1]}']), [{ f: 1.5, i: 3, b: true, t: 'it\'s', n: null, j: { a: [1] } }])
    t.equal(await value(database, 'select $1::text as v', [5]), '5')
    t.equal(await value(database, 'select $1::text as v', [false]), 'false')
    t.equal(await value(database, 'select $1::float8 as v', [-Infinity]), -Infinity)
    t.same(await database.query('select 1 as a where false'), [])
    t.same(await database.query('insert into notes values (1, $1)', ['x']), [])
    t.same(await database.read('select body from notes'), [{ body: 'x' }])
  })

  t.test('bind arrays of text with any content', async (t) => {
    const elements = [
      'a', '', ' ', 'NULL', 'null', null, '{a,b}', '{}', '"', '"q"', 'it\'s', '\\', 'back\\"slash', '\\x41', 'c,d',
      ' x ', '😀', 'a\nb\tc', 'é', '\u0301',
    ]
    t.same(await value(database, 'select $1::text[] as v', [elements]), elements)
    t.same(await value(database, 'select $1::text[] as v', [[]]), [])
    t.equal(await value(database, 'select cardinality($1::text[]) as v', [[]]), 0)
    t.same(await value(database, 'select $1::text[] as v', [[null, '']]), [null, ''])
    t.equal(await value(database, 'select $1::text[] as v', [null]), null)
    t.same(await value(database, 'select $1::text[]::int[] as v', [['1', '2', null]]), [1, 2, null])
    t.same(await database.query('select i::text as i, f from unnest($1::text[]::uuid[], $2::text[]::float8[]) ' +
      'as u (i, f)',
    [['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'], ['0.5', '1e3']]),
    [{ i: '00000000-0000-0000-0000-000000000001', f: 0.5 }, { i: '00000000-0000-0000-0000-000000000002', f: 1000 }])
  })

  t.test('reject with the message of PostgreSQL, without the bound values', async (t) => {
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

  t.test('are planned for the bound values, sort by bytes, and have the extension vector', async (t) => {
    t.equal(await value(database, 'select current_setting(\'plan_cache_mode\') as v'), 'force_custom_plan')
    t.same(await database.query('select datcollate, pg_encoding_to_char(encoding) as encoding, ' +
      'current_setting(\'TimeZone\') as zone from pg_database where datname = current_database()'),
    [{ datcollate: 'C', encoding: 'UTF8', zone: 'UTC' }])
    await database.maintain('create extension vector')
    t.equal(await value(database, 'select $1::vector <=> \'[1,0]\' as v', ['[1,0]']), 0)
  })

  t.test('do not block the event loop', async (t) => {
    let ticks = 0
    let hasEnded = false
    const tick = () => { ticks++; if (!hasEnded) setImmediate(tick) }
    tick()
    t.equal(
      await value(
        database,
        'with recursive r as (select 1 as n union all select n + 1 from r where n < 200000) select count(*)::int ' +
          'as v from r',
      ),
      200000,
    )
    hasEnded = true
    t.ok(ticks > 100, `${ticks} ticks`)
  })

  t.test('a second process cannot open the folder, and the first one is not affected', async (t) => {
    await t.rejects(openPglite({ ...LIMITS, dataDir }), { constructor: ProviderError, message: /is in use by process/ })
    t.equal(await value(database, 'select 1 as v'), 1)
  })
})

t.test('PostgreSQL is started again after a panic', async (t) => {
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

t.test('a broken cluster is not opened, and no lock remains', async (t) => {
  const dataDir = join(root, 'broken')
  await cp(template, dataDir, { recursive: true })
  await writeFile(join(dataDir, 'db', 'PG_VERSION'), '12\n')
  await t.rejects(openPglite({ ...LIMITS, dataDir }), { constructor: ProviderError, message: /cannot be opened/ })
  t.same(await readdir(dataDir), ['db'])
})
