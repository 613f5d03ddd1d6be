import { resolve } from 'node:path'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { PgliteSettings, PostgresSettings } from '../../../../lib/config/providers/schemas/stores.js'
import {
  checkDatabaseUrl, databaseUrl, pgliteSettings, postgresSettings,
} from '../../../../lib/stores/sql/providers.js'

const PASSWORD = 'hunter2-of-the-otter'
const URI = `postgres://app:${PASSWORD}@db.example.org:5432/memories`

/** The ProviderError that the call must throw: with this text, and without anything of these values. */
function refused (t: Test, call: () => unknown, says: RegExp, secrets: readonly string[] = [PASSWORD]): void {
  try {
    call()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    t.match(error.message, says)
    for (const secret of secrets) {
      t.notOk(inspect(error, { depth: 10, showHidden: true }).includes(secret), `${secret} is not shown`)
    }
    return
  }
  t.fail(`not refused: ${says.source}`)
}

/** For every key a value that is taken, both ends of its range, and values that are not. */
const KEYS: Record<string, { good: readonly unknown[], bad: readonly unknown[] }> = {
  dsn: { good: [URI], bad: ['', 5432, null] },
  read_dsn: { good: [URI], bad: ['', 5432, null] },
  max_staleness_ms: { good: [50, 600_000], bad: [49, 600_001, 'five'] },
  bootstrap_schema: { good: [true, false], bad: ['yes', 1, null] },
  schema: {
    good: ['memory_gateway', '_a', 'a'.repeat(63)],
    bad: ['', 'Memory', '1st', 'a-b', 'a.b', 'a"b', 'a;drop', 'a'.repeat(64), 'a\n'],
  },
  pool_max_waiting: { good: [0, 10_000], bad: [-1, 10_001, 1.5, 'five'] },
  pool_wait_ms: { good: [1, 60_000], bad: [0, 60_001, 1.5, 'five'] },
  statement_timeout_ms: { good: [10, 600_000], bad: [9, 600_001, 0, 'five'] },
  sweep_interval_ms: { good: [0, 86_400_000], bad: [-1, 86_400_001, 'five'] },
  pool_size: { good: [1, 500], bad: [0, 501, 1.5, 'five'] },
  connect_timeout_ms: { good: [100, 60_000], bad: [99, 60_001, 'five'] },
  bulk_timeout_ms: { good: [1000, 86_400_000], bad: [999, 86_400_001, 'five'] },
  transaction_pooler: { good: [true, false], bad: ['yes', 0] },
  distribution: { good: ['none', 'citus'], bad: ['yes', null] },
  index_from: { good: [0, 1_000_000], bad: [-1, 1.5, 'five'] },
  index_limit: { good: [0, 1000], bad: [-1, 1001, 1.5, 'five'] },
}

t.test('every key of postgres accepts valid values and refuses the others by its name', (t) => {
  t.same(Object.keys(KEYS).sort(), Object.keys(PostgresSettings.properties).sort(), 'the table has every key')
  for (const [key, { good, bad }] of Object.entries(KEYS)) {
    for (const value of good) {
      t.same(postgresSettings({ [key]: value })[key as 'schema'], value, `${key}: ${String(value)}`)
    }
    for (const value of bad) {
      refused(t, () => postgresSettings({ [key]: value }), new RegExp(`^vector_store_config\\.${key}: `))
    }
  }
  t.same(postgresSettings({}), {
    bootstrap_schema: true,
    schema: 'memory_gateway',
    max_staleness_ms: 1000,
    pool_max_waiting: 100,
    pool_wait_ms: 2000,
    statement_timeout_ms: 10_000,
    bulk_timeout_ms: 300_000,
    sweep_interval_ms: 60_000,
    pool_size: 10,
    connect_timeout_ms: 5000,
    transaction_pooler: false,
    distribution: 'none',
    index_from: 20_000,
    index_limit: 32,
  }, 'what is not set has its default')
  t.end()
})

t.test('a refused value is not shown, whatever its key', (t) => {
  refused(t, () => postgresSettings({ pool_size: URI }), /^vector_store_config\.pool_size: /)
  refused(t, () => postgresSettings({ schema: `x${PASSWORD}` }), /^vector_store_config\.schema: /)
  refused(t, () => postgresSettings({ dsn: [URI] }), /^vector_store_config\.dsn: /)
  refused(t, () => postgresSettings({ dsn: { url: URI } }), /^vector_store_config\.dsn: /)
  t.end()
})

t.test('an unknown key is refused by its name', (t) => {
  refused(t, () => postgresSettings({ poolsize: PASSWORD }), /^vector_store_config\.poolsize: .*known key/)
  refused(t, () => postgresSettings({ data_dir: '/data' }), /^vector_store_config\.data_dir: .*known key/, [])
  refused(
    t, () => pgliteSettings({ data_dir: 'a', dsn: URI }, { baseDirectory: '/' }),
    /^vector_store_config\.dsn: .*known key/,
  )
  t.end()
})

t.test('several faults are reported together', (t) => {
  refused(
    t, () => postgresSettings({ pool_size: 0, bootstrap_schema: 'no', dsm: URI }), /pool_size.*; .*|bootstrap_schema/,
  )
  try {
    postgresSettings({ pool_size: 0, bootstrap_schema: 'no', dsm: URI })
  } catch (error) {
    const { message } = error as Error
    for (const key of ['pool_size', 'bootstrap_schema', 'dsm']) t.match(message, `vector_store_config.${key}: `)
  }
  t.end()
})

t.test('pglite needs its folder, which is resolved against the configuration file', (t) => {
  const surroundings = { baseDirectory: resolve('/etc/gateway') }
  t.equal(pgliteSettings({ data_dir: 'data' }, surroundings).data_dir, resolve('/etc/gateway/data'))
  t.equal(pgliteSettings({ data_dir: resolve('/var/data') }, surroundings).data_dir, resolve('/var/data'))
  refused(t, () => pgliteSettings({}, surroundings), /^vector_store_config\.data_dir: /)
  for (const value of ['', 5, null]) {
    refused(t, () => pgliteSettings({ data_dir: value }, surroundings), /^vector_store_config\.data_dir: /)
  }
  for (const key of Object.keys(PgliteSettings.properties).filter((name) => name !== 'data_dir')) {
    const { good, bad } = KEYS[key]!
    for (const value of good) {
      t.same(pgliteSettings({ data_dir: 'a', [key]: value }, surroundings)[key as 'schema'], value)
    }
    for (const value of bad) {
      refused(
        t, () => pgliteSettings({ data_dir: 'a', [key]: value }, surroundings),
        new RegExp(`vector_store_config\\.${key}: `),
      )
    }
  }
  t.end()
})

t.test('the URI is that of the settings, and otherwise that of the environment', (t) => {
  const other = URI.replace('memories', 'others')
  t.equal(databaseUrl({ dsn: URI }, { url: other }), URI)
  t.equal(databaseUrl({}, { url: other }), other)
  t.equal(databaseUrl({ dsn: URI }), URI)
  refused(t, () => databaseUrl({}), /set DATABASE_URL, SERVICES_PG_DSN or vector_store_config\.dsn/)
  t.end()
})

t.test('sslmode has one of the values that work, and the message about another contains nothing of the URI', (t) => {
  for (const mode of ['disable', 'prefer', 'require', 'verify-full']) {
    const good = `${URI}?application_name=a&sslmode=${mode}`
    t.equal(checkDatabaseUrl(good, 'DATABASE_URL'), good)
  }
  const bad = ['requird', 'Require', '', 'allow', 'verify-ca', 'no-verify', 'true', 'require&sslmode=requird', PASSWORD]
  for (const mode of bad) {
    const says = /: sslmode must be disable, prefer, require or verify-full \(the value is not shown\)$/
    refused(t, () => checkDatabaseUrl(`${URI}?sslmode=${mode}`, 'MIGRATE_DATABASE_URL'), says)
    refused(t, () => databaseUrl({ dsn: `${URI}?sslmode=${mode}` }, { url: URI }), says)
    refused(t, () => databaseUrl({}, { url: `${URI}?sslmode=${mode}` }), says)
  }
  t.end()
})

t.test('with sslmode=verify-full, an IP address is accepted as the only host', (t) => {
  for (const hosts of ['10.0.0.1', '[::1]', 'db', 'one,two']) {
    const good = `postgres://app@${hosts}:5432/memories?sslmode=verify-full`
    t.equal(checkDatabaseUrl(good, 'DATABASE_URL'), good)
  }
  for (const hosts of ['10.0.0.1,10.0.0.2', 'db,10.0.0.2']) {
    const bad = `postgres://app:${PASSWORD}@${hosts}:5432/memories`
    refused(t, () => checkDatabaseUrl(`${bad}?sslmode=verify-full`, 'DATABASE_URL'), /several hosts must all be names/)
    t.equal(checkDatabaseUrl(`${bad}?sslmode=require`, 'DATABASE_URL'), `${bad}?sslmode=require`)
  }
  t.end()
})

t.test('a URI must name the place of the database, and the message about a wrong one does not contain it', (t) => {
  for (const good of [
    URI, URI.replace('postgres:', 'postgresql:'), 'postgres://db/memories', 'postgres://app@[::1]:5432/memories',
    `${URI}?sslmode=require`,
  ]) {
    t.equal(checkDatabaseUrl(good, 'DATABASE_URL'), good)
  }
  const bad = [
    '', PASSWORD, `app:${PASSWORD}@db/memories`, `mysql://app:${PASSWORD}@db/memories`,
    `http://app:${PASSWORD}@db/memories`,
    // No database, no host.
    `postgres://app:${PASSWORD}@db`, `postgres://app:${PASSWORD}@db/`, `postgres:///memories?password=${PASSWORD}`,
    `postgres://app:${PASSWORD}@db:port/memories`, `postgres://app:${PASSWORD}@db:99999/memories`,
    // The driver does not know the parameter, and would look at the local machine.
    `postgres:///memories?host=/run/${PASSWORD}`,
  ]
  for (const uri of bad) {
    refused(
      t, () => checkDatabaseUrl(uri, 'MIGRATE_DATABASE_URL'),
      /^MIGRATE_DATABASE_URL: must be a connection URI with a host and a database/,
    )
    refused(t, () => databaseUrl({ dsn: uri }, { url: URI }), /^vector_store_config\.dsn: must be/)
    refused(t, () => databaseUrl({}, { url: uri }), /^DATABASE_URL/)
    refused(t, () => databaseUrl({}, { url: uri, variable: 'SERVICES_PG_DSN' }), /^SERVICES_PG_DSN: must be/)
  }
  refused(
    t, () => checkDatabaseUrl(`postgres://app:${PASSWORD}%@db/memories`, 'DATABASE_URL'),
    /^DATABASE_URL: a % in the user or the password must be written as %25/,
  )
  refused(
    t, () => checkDatabaseUrl(`postgres://${PASSWORD}%zz@db/memories`, 'DATABASE_URL'),
    /^DATABASE_URL: a % in the user/,
  )
  t.end()
})
