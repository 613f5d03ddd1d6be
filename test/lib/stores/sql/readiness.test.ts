import postgres from 'postgres'
import t, { type Test } from 'tap'
import { buildApp } from '../../../../app.js'
import type { EmbeddingProvider } from '../../../../lib/models/embedding-provider.js'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { SqlError, type Executor } from '../../../../lib/stores/sql/executor.js'
import { migrate, quoteSchema, Readiness, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { testApp, type TestApp } from '../../../helpers/app.js'
import { testConfig, type TestConfig } from '../../../helpers/config.js'
import { rejection } from '../../../helpers/rejection.js'
import { DATABASE_URL, freshDatabase, freshSchema, postgresOptions } from '../../../helpers/sql-stores.js'
import { tcpProxy, type TcpProxy } from '../../../helpers/tcp-proxy.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false
const MIGRATIONS = readMigrations()

function config (schema: string, url = DATABASE_URL!, more: Record<string, unknown> = {}): TestConfig {
  return {
    file: {
      vector_store: 'postgres',
      vector_store_config: {
        schema, statement_timeout_ms: 500, connect_timeout_ms: 1000, sweep_interval_ms: 0, ...more,
      },
      retrieval: { weights: { semantic: 1 } },
    },
    database: { url },
    healthTimeoutMs: 5000,
  }
}

function open (t: Test): PostgresExecutor {
  const executor = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await executor.close() })
  return executor
}

/** The error with which the app refuses to start. */
async function refusal (config: TestConfig, embeddings?: EmbeddingProvider): Promise<ProviderError> {
  const overrides = embeddings === undefined ? {} : { embeddings }
  const start = buildApp(testConfig(config), { log: { stream: { write: () => {} } }, overrides })
  return await rejection(ProviderError, start.then(async (app) => { await app.close() }))
}

/** One request for each operation that needs the store. */
const OPERATIONS: ReadonlyArray<(app: TestApp) => ReturnType<TestApp['get']>> = [
  async ({ post }) => await post('/v1/retain', { bank_id: 'team', content: 'The otter sleeps.' }),
  async ({ post }) => await post('/v1/recall', { bank_id: 'team', query: 'otter' }),
  async ({ post }) => await post('/v1/forget', { bank_id: 'team', tags: ['old'] }),
  async ({ get }) => await get('/v1/banks'),
  async ({ get }) => await get('/v1/banks/team/memories'),
]

/** Every operation must answer 503 within the bound, and nothing of the reason may be in an answer. */
async function unavailable (t: Test, app: TestApp, proxy: TcpProxy, boundMs: number): Promise<void> {
  const began = performance.now()
  await Promise.all([...OPERATIONS, async ({ get }: TestApp) => await get('/health')].map(async (operation) => {
    const response = await operation(app)
    const took = Math.round(performance.now() - began)
    t.equal(response.statusCode, 503, response.body)
    t.equal(response.json<{ code: string }>().code, 'dependency_unavailable')
    t.ok(took < boundMs, `${took} ms`)
    const shown = `${response.body}${JSON.stringify(response.headers)}`
    for (const part of [
      '127.0.0.1', String(proxy.port), 'ECONN', 'ETIMEDOUT', 'TIMEOUT', 'select', 'SQL', 'postgres', 'migrat', 'test_',
    ]) {
      t.notOk(shown.includes(part), `${part} is not shown`)
    }
  }))
}

t.test('without bootstrap_schema a missing migration ends the start with the command to run', { skip }, async (t) => {
  const { message } = await refusal(config(freshSchema(t), DATABASE_URL, { bootstrap_schema: false }))
  t.match(message, /lacks the migrations 0001_memories\.sql.*: run `npm run migrate`/)
})

t.test('with bootstrap_schema a database that does not answer ends the start', { skip }, async (t) => {
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  await proxy.refuse()
  t.match(
    (await refusal(config(freshSchema(t), url))).message,
    new RegExp([
      String.raw`^vector_store: the database cannot be used: The database at 127\.0\.0\.1:\d+ cannot be reached: `,
      String.raw`ECONNREFUSED \(nothing listens on that port\)$`,
    ].join('')),
  )
  await proxy.pass()
  proxy.silence()
  t.match((await refusal(config(freshSchema(t), url))).message, /CONNECT_TIMEOUT/)
})

t.test('a database that starts late is checked when it answers, and used once it is migrated', { skip }, async (t) => {
  const schema = freshSchema(t)
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  await proxy.refuse()
  const app = await testApp(t, config(schema, url, { bootstrap_schema: false }))
  t.ok(
    app.log.some(({ level, msg }) => level === 40 && /does not answer yet.*npm run migrate/.test(String(msg))),
    'the operator is warned',
  )
  t.equal((await app.get('/live')).statusCode, 200)
  await unavailable(t, app, proxy, 3000)
  await proxy.pass()
  await unavailable(t, app, proxy, 3000)
  await migrate(open(t), quoteSchema(schema), MIGRATIONS)
  t.equal((await app.get('/health')).statusCode, 200)
  await app.retain('team', 'The otter sleeps.')
})

t.test('a database that stops while it is used causes 503 in time, and requests succeed ' +
  'when it is back', { skip }, async (t) => {
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  const app = await testApp(t, config(freshSchema(t), url))
  await app.retain('team', 'The otter sleeps.')
  await proxy.refuse()
  await unavailable(t, app, proxy, 3000)
  await proxy.pass()
  t.equal((await app.get('/health')).statusCode, 200)
  await app.retain('team', 'The otter wakes.')
  proxy.silence()
  await unavailable(t, app, proxy, 4000)
  await proxy.pass()
  t.equal((await app.get('/health')).statusCode, 200)
  const recalled = await app.post('/v1/recall', { bank_id: 'team', query: 'otter' })
  t.equal(recalled.json<{ hits: unknown[] }>().hits.length, 2, recalled.body)
})

t.test('without a free connection a request is answered 503 with Retry-After', { skip }, async (t) => {
  const schema = freshSchema(t)
  // Nothing in the background may have the one connection.
  const given = config(schema, DATABASE_URL, { pool_size: 1, pool_max_waiting: 0, statement_timeout_ms: 20_000 })
  const app = await testApp(t, { ...given, file: { ...given.file, retrieval: { weights: { semantic: 0 } } } })
  const watcher = open(t)
  const [first, refused] = await watcher.transaction(async (tx) => {
    await tx.query(`lock table ${schema}.memories in access exclusive mode`)
    const first = app.post('/v1/retain', { bank_id: 'team', content: 'The otter sleeps.' })
    await tx.query('do $$ begin while not exists (select from pg_locks l where l.relation = ' +
      `'${schema}.memories'::regclass and not l.granted) loop perform pg_sleep(0.01); end loop; end $$`)
    const refused = await app.post('/v1/recall', { bank_id: 'team', query: 'otter' })
    return [first, refused]
  })
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.match(refused.json(), { code: 'dependency_unavailable', retry_after_seconds: 1 })
  t.equal((await first).statusCode, 200)
})

t.test('vectors of another model end the start, and the message names both models', { skip }, async (t) => {
  const schema = freshSchema(t)
  const embeddings = (model: string, dimensions = 4): EmbeddingProvider => ({
    model,
    dimensions,
    fusionWeight: 1,
    embed: async (texts) => texts.map(() => Float32Array.from({ length: dimensions }, () => 1)),
  })
  const app = await testApp(t, config(schema), { embeddings: embeddings('otter-1') })
  await app.retain('team', 'The otter sleeps.')
  for (const [other, name] of [
    [embeddings('otter-2'), 'otter-2:4 (4 dimensions)'], [embeddings('otter-1', 8), 'otter-1:8 (8 dimensions)'],
  ] as const) {
    const { message } = await refusal(config(schema), other)
    t.match(message, /npm run reembed/)
    t.ok(message.includes(name) && message.includes('1 bank has vectors of otter-1:4 (4 dimensions)'), message)
  }
  const same = await testApp(t, config(schema), { embeddings: embeddings('otter-1') })
  t.equal((await same.get('/health')).statusCode, 200)
  t.equal((await app.post('/v1/forget', { bank_id: 'team', scope: 'all' })).statusCode, 200)
  const forgotten = await app.get('/v1/banks')
  t.same(forgotten.json<{ banks: unknown[] }>().banks, [], forgotten.body)
  const moved = await testApp(t, config(schema), { embeddings: embeddings('otter-2') })
  t.equal((await moved.get('/health')).statusCode, 200, 'a bank without vectors does not prevent the start')
})

/** A database that says of itself what the test says. */
function pretending (version: string | undefined, failing: () => SqlError | undefined = () => undefined): Executor {
  const read: Executor['read'] = async <R extends object>(text: string): Promise<R[]> => {
    const error = failing()
    if (error !== undefined) throw error
    const rows: object[] = text.includes('to_regclass')
      ? [{ there: true }]
      : text.includes('schema_migrations')
        ? MIGRATIONS.map(({ version, name, checksum }) => ({ version, name, checksum }))
        : text.includes('pg_extension') && version !== undefined ? [{ version }] : []
    return rows as R[]
  }
  const never = async () => { throw new Error('not asked') }
  return { read, query: read, transaction: never, maintain: never, close: async () => {} }
}

t.test('pgvector has to be installed, in a version with iterative index scans', async (t) => {
  const start = async (version: string | undefined) => {
    await new Readiness({
      executor: pretending(version), schema: '"s"', migrations: MIGRATIONS, bootstrapSchema: false,
    }).start({ warn: () => {} })
  }
  for (const [version, found] of [['0.7.4', '0.7.4'], ['0.5.1', '0.5.1'], [undefined, 'none']] as const) {
    await t.rejects(start(version), {
      name: 'ProviderError',
      message: `vector_store: the extension vector must be version 0.8 or newer; the database has ${found}`,
    })
  }
  for (const version of ['0.8.0', '0.8.1', '0.10.0', '1.0.0']) await t.resolves(start(version))
})

t.test('a database that is not ready is checked by one request at a time and, once it is ready, no more', async (t) => {
  let asked = 0
  let down = true
  const readiness = new Readiness({
    executor: pretending('0.8.0', () => {
      asked++
      return down ? new SqlError('connection', 'down') : undefined
    }),
    schema: '"s"',
    migrations: MIGRATIONS,
    bootstrapSchema: false,
  })
  const warnings: string[] = []
  await readiness.start({ warn: (message) => { warnings.push(message) } })
  t.equal(warnings.length, 1)
  asked = 0
  await Promise.all([1, 2, 3].map(
    async () => { await t.rejects(readiness.ensure(), { name: 'SqlError', message: 'down' }) },
  ))
  t.equal(asked, 1)
  down = false
  await readiness.ensure()
  const before = asked
  await readiness.ensure()
  t.equal(asked, before)
})

t.test('a read-only database is not ready, and is ready again as soon as it is writable', { skip }, async (t) => {
  const url = await freshDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const app = await testApp(t, config('memory_gateway', url))
  t.teardown(async () => { await sql.end() })
  const [retain, recall] = OPERATIONS
  const health = async () => (await app.get('/health')).statusCode
  t.equal(await health(), 200)
  t.equal((await retain!(app)).statusCode, 200)

  const name = `"${new URL(url).pathname.slice(1)}"`
  await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
  // Sessions have the setting of the time when they were opened.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  const refused = await app.get('/health')
  t.equal(refused.statusCode, 503)
  t.equal(refused.json<{ detail: string }>().detail, 'Not ready: vector_store reports itself unhealthy')
  t.equal((await recall!(app)).statusCode, 200, 'what is stored is still found')
  t.equal((await retain!(app)).statusCode, 503)
  t.equal(await health(), 503)

  await sql.unsafe(`alter database ${name} reset default_transaction_read_only`)
  t.equal(await health(), 200)
  t.equal((await retain!(app)).statusCode, 200)
})
