import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../../../../bench/free-port.js'
import { quoteSchema } from '../../../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { Standby } from '../../../../lib/stores/sql/standby.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { bank, lexical, listAll, REMOVE, searchFor, texts } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import {
  CONTRACT_SPACE, DATABASE_URL, freshSchema, openPostgres, postgresOptions,
} from '../../../helpers/sql-stores.js'
import { tcpProxy } from '../../../helpers/tcp-proxy.js'

const WAIT_MS = 20_000
const STALENESS_MS = 500
const HOME = bank('home')

/** PostgreSQL refuses to run as root. */
const USER = process.getuid?.() === 0
  ? { uid: Number(execFileSync('id', ['-u', 'postgres'])), gid: Number(execFileSync('id', ['-g', 'postgres'])) }
  : {}

/**
 * A streaming standby of the server of the tests, made with its own programs.
 * @returns undefined where that is impossible
 */
async function startStandby (t: Test): Promise<string | undefined> {
  const executor = openPostgres(t)
  const [server] = await executor.query<{ bin: string, local: boolean }>(`
select (select setting from pg_config where name = 'BINDIR') as bin, inet_server_addr() << '127.0.0.0/8' as local`)
  if (server?.local !== true) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'standby-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid)
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const options = { ...USER, cwd: folder, stdio: 'ignore' } as const
  const url = new URL(DATABASE_URL!)
  const from = `host=${url.hostname} port=${url.port} user=${url.username}`
  const copied = spawnSync(`${server.bin}/pg_basebackup`, ['-D', data, '-d', from, '-R', '-c', 'fast', '-N'], options)
  if (copied.status !== 0) return undefined
  const port = await freePort()
  const settings = `-p ${port} -c unix_socket_directories=${folder} -c fsync=off`
  const started = spawnSync(
    `${server.bin}/pg_ctl`, ['-D', data, '-l', join(folder, 'log'), '-w', '-o', settings, 'start'], options,
  )
  t.equal(started.status, 0, 'the standby starts')
  t.teardown(() => { spawnSync(`${server.bin}/pg_ctl`, ['-D', data, '-m', 'immediate', '-w', 'stop'], options) })
  url.port = String(port)
  return url.href
}

interface Gateway {
  store: SqlVectorStore
  standby: Standby
  warnings: string[]
  /** Statements that the standby was sent. */
  reads: () => number
}

/** A store whose standby is measured on request, by a clock of the test. */
async function openGateway (t: Test, schema: string, standbyUrl: string, clock: { ms: number }): Promise<Gateway> {
  const primary = new PostgresExecutor(postgresOptions())
  const copy = new PostgresExecutor(postgresOptions({ url: standbyUrl, connectTimeoutMs: 1000 }))
  let reads = 0
  const counted = {
    query: copy.query.bind(copy),
    read: (async (...args: Parameters<PostgresExecutor['read']>) => {
      if (!args[0].includes('pg_last_wal_replay_lsn')) reads++
      return await copy.read(...args)
    }) as PostgresExecutor['read'],
    transaction: copy.transaction.bind(copy),
    maintain: copy.maintain.bind(copy),
    close: copy.close.bind(copy),
  }
  const standby = new Standby({
    primary, standby: counted, maxStalenessMs: STALENESS_MS, timer: () => clock.ms, intervalMs: 0,
  })
  const store = new SqlVectorStore({ executor: primary, schema, bootstrapSchema: true, sweepIntervalMs: 0, standby })
  const warnings: string[] = []
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: (message) => { warnings.push(message) } })
  t.teardown(async () => { await store.close() })
  return { store, standby, warnings, reads: () => reads }
}

/** Measures until the standby may answer for the bank, or does not become fresh. */
async function untilFresh ({ standby }: Gateway, clock: { ms: number }): Promise<void> {
  const started = performance.now()
  do {
    clock.ms += 1
    await standby.measure()
  } while (!standby.isFresh([HOME]) && performance.now() - started < WAIT_MS)
}

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false

t.test('reads go to a fresh standby, and never miss a write of the same process', { skip }, async (t) => {
  const standbyUrl = await startStandby(t)
  if (standbyUrl === undefined) {
    t.pass('the server of the tests is copied', { skip: 'it cannot be copied from here' })
    return
  }
  const schema = quoteSchema(freshSchema(t))
  const { proxy, url } = await tcpProxy(t, standbyUrl)
  const clock = { ms: 1000 }
  const first = await openGateway(t, schema, url, clock)
  const second = await openGateway(t, schema, url, clock)
  const control = new PostgresExecutor(postgresOptions({ url: standbyUrl }))
  t.teardown(async () => { await control.close() })
  const retain = async ({ store }: Gateway, text: string) => {
    await store.insert(HOME, [await newMemory(text)], { now: NOW })
  }
  const found = async ({ store }: Gateway) => (
    texts((await lexical(store, [HOME], 'otter')).map(({ memory }) => memory)).sort()
  )

  await retain(first, 'The first otter.')
  t.same(await found(first), ['The first otter.'], 'before any measurement the primary answers')
  t.equal(first.reads(), 0)
  for (const gateway of [first, second]) await untilFresh(gateway, clock)
  t.same(await found(first), ['The first otter.'])
  t.same(texts(await listAll(first.store, HOME)), ['The first otter.'])
  t.ok(first.reads() >= 3, 'search, its memories and a list are answered by the standby')

  await control.query('select pg_wal_replay_pause()')
  await retain(first, 'The second otter.')
  let before = first.reads()
  t.same(await found(first), ['The first otter.', 'The second otter.'], 'the writer sees its write')
  t.equal((await first.store.statistics(HOME, NOW)).memoryCount, 2)
  t.equal((await first.store.listBanks({ now: NOW, limit: 5, tenantId: null }))[0]?.memoryCount, 2)
  t.equal(first.reads(), before, 'so the primary answered')
  await lexical(first.store, [bank('other')], 'otter')
  t.equal(first.reads(), before + 1, 'a bank that was not written is read from the standby')
  t.same(await found(second), ['The first otter.'], 'another gateway may be late')
  const { total } = await searchFor(second.store, [HOME], 'otter', { current: true })
  t.equal(total, 2, 'but not where it must be current')
  clock.ms += STALENESS_MS + 1
  await second.standby.measure()
  t.same(await found(second), ['The first otter.', 'The second otter.'], 'and not later than is allowed')
  t.match(second.warnings.at(-1), /reads go to the primary: it lacks writes that are older than 500 ms/)

  await control.query('select pg_wal_replay_resume()')
  for (const gateway of [first, second]) await untilFresh(gateway, clock)
  t.match(second.warnings.at(-1), /reads go to the standby again/)
  before = first.reads()
  t.same(await found(first), ['The first otter.', 'The second otter.'])
  t.ok(first.reads() > before, 'the standby has the write, and answers again')

  await first.store.remove(HOME, { kind: 'all' }, REMOVE)
  t.same(await found(first), [], 'what was forgotten is gone at once')
  await untilFresh(first, clock)
  await retain(second, 'The third otter.')
  await untilFresh(first, clock)

  await proxy.refuse()
  t.same(await found(first), ['The third otter.'], 'a standby that is gone is no error')
  await first.standby.measure()
  t.match(first.warnings.at(-1), /reads go to the primary: /)
  t.same(await found(first), ['The third otter.'])
})

t.test('a server that is no standby is not read from', { skip }, async (t) => {
  const clock = { ms: 1000 }
  const gateway = await openGateway(t, quoteSchema(freshSchema(t)), DATABASE_URL!, clock)
  await gateway.standby.measure()
  t.notOk(gateway.standby.isFresh([HOME]))
  t.match(gateway.warnings, [/reads go to the primary: the server of read_dsn is not a streaming standby/])
  await gateway.standby.measure()
  t.equal(gateway.warnings.length, 1, 'which is told once')
})

t.test('writes to more banks than are remembered are not missed', async (t) => {
  const clock = { ms: 0 }
  let position = 0
  const server = {
    query: async () => [],
    read: (async () => [{ position }]) as unknown as PostgresExecutor['read'],
    transaction: async () => { throw new Error('none is expected') },
    maintain: async () => {},
    close: async () => {},
  }
  const standby = new Standby({
    primary: server, standby: server, maxStalenessMs: 1000, timer: () => clock.ms, intervalMs: 0,
  })
  await standby.measure()
  t.ok(standby.isFresh(undefined))
  clock.ms = 5
  for (let number = 0; number < 10_001; number++) standby.noteWrite(bank(`bank-${number}`))
  t.notOk(standby.isFresh(undefined))
  t.notOk(standby.isFresh([bank('bank-0')]))
  t.notOk(standby.isFresh([bank('bank-10000')]), 'the last one did not fit')
  position = 7
  clock.ms = 10
  await standby.measure()
  t.ok(standby.isFresh([bank('bank-0'), bank('bank-10000')]))
  clock.ms = 2000
  t.notOk(standby.isFresh([bank('bank-0')]), 'a measurement ages')
})
