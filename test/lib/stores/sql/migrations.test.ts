import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { migrate, pendingMigrations, quoteSchema, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { runCommand } from '../../../helpers/command.js'
import { DATABASE_URL, freshDatabase, freshSchema, postgresOptions } from '../../../helpers/sql-stores.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false

/** Three files that say what order they ran in. */
const FILES = {
  '0001_first.sql': 'create table steps (id int primary key);\ninsert into steps values (1);\n',
  '0002_second.sql': 'insert into steps select max(id) + 1 from steps;\ncreate table more (id int);\n',
  '0003_third.sql': 'insert into steps select max(id) + 1 from steps;\n',
}

function open (t: Test, url = DATABASE_URL!): PostgresExecutor {
  const executor = new PostgresExecutor(postgresOptions({ url }))
  t.teardown(async () => { await executor.close() })
  return executor
}

interface Fixture {
  folder: string
  executor: PostgresExecutor
  schema: string
  /** Applies the folder as it is now; answers what was applied. */
  run (executor?: PostgresExecutor): Promise<string[]>
  steps (): Promise<number>
}

async function fixture (t: Test, files: Record<string, string> = FILES): Promise<Fixture> {
  const folder = t.testdir(files)
  const schema = quoteSchema(freshSchema(t))
  const executor = open(t)
  return {
    folder,
    executor,
    schema,
    run: async (on = executor) => {
      const applied: string[] = []
      await migrate(on, schema, readMigrations(folder), (name) => { applied.push(name) })
      return applied
    },
    steps: async () => (
      (await executor.query<{ steps: number }>(`select count(*)::int as steps from ${schema}.steps`))[0]!.steps
    ),
  }
}

t.test('every file is applied to a fresh schema in order, and a second run changes nothing', { skip }, async (t) => {
  const { executor, schema, folder, run, steps } = await fixture(t)
  t.same(await pendingMigrations(executor, schema, readMigrations(folder)), Object.keys(FILES))
  t.same(
    await executor.query('select 1 from pg_namespace where nspname = $1', [schema.replaceAll('"', '')]), [],
    'a check changes nothing',
  )
  t.same(await run(), Object.keys(FILES))
  t.equal(await steps(), 3)
  t.same(await pendingMigrations(executor, schema, readMigrations(folder)), [])
  t.same(await run(), [])
  t.equal(await steps(), 3)
  writeFileSync(join(folder, '0004_fourth.sql'), 'insert into steps values (4);')
  t.same(await pendingMigrations(executor, schema, readMigrations(folder)), ['0004_fourth.sql'])
  t.same(await run(), ['0004_fourth.sql'])
})

t.test('concurrent runners take turns: all succeed, and each file is applied once', { skip }, async (t) => {
  const { run, steps } = await fixture(t)
  const runs = await Promise.all([open(t), open(t), open(t), open(t)].map(async (executor) => await run(executor)))
  t.same(runs.flat().sort(), Object.keys(FILES))
  t.equal(await steps(), 3)
})

t.test('a file that fails leaves the files before it applied and nothing of its own', { skip }, async (t) => {
  const {
    executor, schema, folder, run, steps,
  } = await fixture(t, {
    ...FILES, '0002_second.sql': 'insert into steps values (2);\ncreate table more (id int);\nselect nothing_here;\n',
  })
  const error = await t.rejects(run(), { name: 'SqlError', code: '42703', message: /nothing_here/ })
  t.ok(error)
  t.equal(await steps(), 1)
  t.same(await executor.query('select to_regclass($1) is null as missing', [`${schema}.more`]), [{ missing: true }])
  t.same(await pendingMigrations(executor, schema, readMigrations(folder)), ['0002_second.sql', '0003_third.sql'])
  writeFileSync(join(folder, '0002_second.sql'), FILES['0002_second.sql'])
  t.same(await run(), ['0002_second.sql', '0003_third.sql'], 'after the correction the rest is applied')
})

t.test('a file that was edited or renamed after it was applied is refused', { skip }, async (t) => {
  const { executor, schema, folder, run, steps } = await fixture(t)
  await run()
  writeFileSync(join(folder, '0002_second.sql'), `${FILES['0002_second.sql']}\n-- a comment\n`)
  const says = { name: 'ProviderError', message: /the migration 0002_second\.sql was applied .* with another content/ }
  await t.rejects(run(), says)
  await t.rejects(pendingMigrations(executor, schema, readMigrations(folder)), says)
  rmSync(join(folder, '0002_second.sql'))
  writeFileSync(join(folder, '0002_renamed.sql'), FILES['0002_second.sql'])
  await t.rejects(run(), { name: 'ProviderError', message: /0002_second\.sql was applied/ })
  t.equal(await steps(), 3)
})

t.test('a database that is newer than the files is refused, and so is one with a gap', { skip }, async (t) => {
  const { executor, schema, folder, run } = await fixture(t)
  await run()
  const third = readMigrations(folder)
  rmSync(join(folder, '0003_third.sql'))
  await t.rejects(run(), {
    name: 'ProviderError', message: /the database is newer than this version .* 0003_third\.sql/,
  })
  await t.rejects(
    pendingMigrations(executor, schema, readMigrations(folder)), { name: 'ProviderError', message: /newer/ },
  )
  await executor.query(`delete from ${schema}.schema_migrations where version = 2`)
  await t.rejects(migrate(executor, schema, third), {
    name: 'ProviderError', message: /lacks the migration 0002_second\.sql, although it has later ones/,
  })
})

t.test('numbers are consecutive and unique, and names have one form', (t) => {
  const refused = (files: Record<string, string>, says: RegExp) => t.throws(
    () => readMigrations(t.testdir(files)), { name: 'ProviderError', message: says },
  )
  refused(
    { '0001_a.sql': '', '0003_c.sql': '' }, /^migrations\/0003_c\.sql: the next migration must have the number 0002$/,
  )
  refused({ '0002_b.sql': '' }, /number 0001/)
  refused({ '0001_a.sql': '', '0001_b.sql': '' }, /0001_b\.sql: .* number 0002/)
  for (const name of ['1_a.sql', '0001.sql', '0001_A.sql', '0001-a.sql', 'first.sql', '00001_a.sql']) {
    refused({ [name]: '' }, /the name must be like 0001_words\.sql/)
  }
  t.same(readMigrations(t.testdir({ 'README.md': 'no migration' })), [])
  t.end()
})

t.test('a checkout with other line ends has the same checksums', (t) => {
  const unix = readMigrations(t.testdir(FILES)).map(({ checksum }) => checksum)
  const dos = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [name, text.replaceAll('\n', '\r\n')]))
  t.same(readMigrations(t.testdir(dos)).map(({ checksum }) => checksum), unix)
  t.equal(new Set(unix).size, 3)
  t.ok(unix.every((checksum) => /^[0-9a-f]{64}$/.test(checksum)))
  t.end()
})

t.test('the name of a schema is a plain identifier', (t) => {
  t.equal(quoteSchema('memory_gateway'), '"memory_gateway"')
  for (const name of ['', 'A', 'a b', 'a"', '1a', 'a'.repeat(64), 'ä']) t.throws(() => quoteSchema(name), ProviderError)
  t.end()
})

t.test('a missing right of a role is reported in the words of the database', { skip }, async (t) => {
  const url = new URL(await freshDatabase(t))
  const owner = open(t, url.href)
  const role = `test_role_${randomBytes(6).toString('hex')}`
  await owner.query(`create role ${role} login password 'of the test'`)
  t.teardown(async () => {
    const executor = new PostgresExecutor(postgresOptions())
    await executor.query(`drop role if exists ${role}`)
    await executor.close()
  })
  url.username = role
  url.password = 'of the test'
  const guest = open(t, url.href)
  const error: unknown = await migrate(guest, '"memory_gateway"', readMigrations()).catch((reason: unknown) => reason)
  if (!(error instanceof SqlError)) throw new Error(`not an SqlError: ${String(error)}`)
  t.match(error, { code: '42501', message: /permission denied for database/ })
  t.notOk(error.message.includes('of the test'))
  await guest.close()
})

t.test('the command uses MIGRATE_DATABASE_URL, then dsn, then DATABASE_URL or SERVICES_PG_DSN', { skip }, async (t) => {
  const dead = 'postgres://app:hunter2@127.0.0.1:1/nothing'
  const first = await freshDatabase(t)
  const fresh = await runCommand('migrate', { MIGRATE_DATABASE_URL: first, DATABASE_URL: dead })
  t.equal(fresh.code, 0, fresh.stderr)
  t.match(fresh.stdout, /^applied 0001_memories\.sql$/m)
  t.match(
    fresh.stdout, /^the database \(schema memory_gateway\)|^the database \(schema "memory_gateway"\) is up to date$/m,
  )

  const again = await runCommand('migrate', { SERVICES_PG_DSN: first })
  t.equal(again.code, 0, again.stderr)
  t.match(again.stdout, /has all \d+ migrations/)
  t.equal((await runCommand('migrate', { DATABASE_URL: first })).code, 0)

  const config = join(t.testdir({
    'config.yaml': `vector_store: postgres\nvector_store_config:\n  dsn: ${first}\n  schema: elsewhere\n`,
  }), 'config.yaml')
  const byFile = await runCommand('migrate', { SERVICES_CONFIG_PATH: config, DATABASE_URL: dead })
  t.equal(byFile.code, 0, byFile.stderr)
  t.match(byFile.stdout, /elsewhere/)
  const second = await freshDatabase(t)
  const beforeFile = await runCommand('migrate', { SERVICES_CONFIG_PATH: config, MIGRATE_DATABASE_URL: second })
  t.match(beforeFile.stdout, /^applied 0001_memories\.sql$/m, 'of the other database')
  const schemas = await open(t, second).query<{ name: string }>(
    'select nspname as name from pg_namespace where nspname in ($1, $2)', ['memory_gateway', 'elsewhere'],
  )
  t.same(schemas, [{ name: 'elsewhere' }])
})

t.test('the command runs in an environment of the gateway whose settings would end ' +
  'the gateway', { skip }, async (t) => {
  const file = join(
    t.testdir({ 'config.yaml': 'vector_store: postgres\nsources: {shop: {auth: {secret: "$' + '{SHOP_SECRET}"}}}\n' }),
    'config.yaml',
  )
  const { code, stderr } = await runCommand('migrate', {
    MIGRATE_DATABASE_URL: await freshDatabase(t),
    SERVICES_HOST: '0.0.0.0',
    SERVICES_PORT: 'x',
    SERVICE_API_KEY_FILE: '/nowhere',
    SERVICES_CONFIG_PATH: file,
  })
  t.strictSame([code, stderr], [0, ''])
})

t.test('the command reports what is wrong and never the URI', { skip }, async (t) => {
  const none = await runCommand('migrate')
  t.equal(none.code, 1)
  t.match(none.stderr, /set DATABASE_URL, SERVICES_PG_DSN or vector_store_config\.dsn/)
  for (const env of [
    { DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/nothing' }, { MIGRATE_DATABASE_URL: 'hunter2' },
    { DATABASE_URL: 'postgres://app:hunter2@db/' },
  ]) {
    const { code, stdout, stderr } = await runCommand('migrate', env)
    t.equal(code, 1)
    t.match(stderr, /at 127\.0\.0\.1:1 cannot be reached: ECONNREFUSED|must be a connection URI/)
    t.equal(stderr.trim().split('\n').length, 1, 'one line')
    t.notOk(`${stdout}${stderr}`.includes('hunter2'))
  }
  const wrong = await runCommand('migrate', {}, ['--now'])
  t.equal(wrong.code, 1)
  t.match(wrong.stderr, /npm run migrate/)
  t.equal((await runCommand('migrate', {}, ['--help'])).code, 0)
})
