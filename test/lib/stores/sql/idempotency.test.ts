import t, { type Test } from 'tap'
import { countingIds, testClock, type TestClock } from '../../../helpers/clock.js'
import { testApp, type TestApp } from '../../../helpers/app.js'
import { PostgresExecutor } from '../../../../lib/stores/sql/postgres.js'
import { DATABASE_URL, freshSchema, postgresOptions } from '../../../helpers/sql-stores.js'
import { tcpProxy } from '../../../helpers/tcp-proxy.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false
const KEY = { 'idempotency-key': 'key-1' }
const DAY_MS = 86_400_000

interface Process {
  app: TestApp
  clock: TestClock
}

/**
 * A gateway on the schema: as much of a process of its own as a test needs. What it is asked shows nothing of another's
 * memory.
 */
async function gateway (
  t: Test, schema: string, { url = DATABASE_URL!, ids = countingIds(), clock = testClock(), quotas = {} } = {},
): Promise<Process> {
  const app = await testApp(t, {
    file: {
      vector_store: 'postgres',
      vector_store_config: { schema, sweep_interval_ms: 0, index_from: 0 },
      homeostasis: { quotas },
    },
    database: { url },
  }, { newId: ids, clock })
  return { app, clock }
}

async function kept (t: Test, schema: string): Promise<{ memories: number, receipts: number }> {
  const executor = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await executor.close() })
  const [row] = await executor.query<{ memories: number, receipts: number }>('select (select count(*)::int from ' +
    `${schema}.memories) as memories, (select count(*)::int from ${schema}.idempotency_keys) as receipts`)
  return row!
}

const retain = async ({ app }: Process, content: string, headers: Record<string, string> = KEY) => (
  await app.post('/v1/retain', { bank_id: 'team', content }, headers)
)

t.test('a key that one process answered is answered by another, with the same words and ' +
  'without work', { skip }, async (t) => {
  const schema = freshSchema(t)
  const ids = countingIds()
  const first = await retain(await gateway(t, schema, { ids }), 'The otter sleeps.')
  t.equal(first.statusCode, 200, first.body)
  const other = await gateway(t, schema, { ids })
  const again = await retain(other, 'The otter sleeps.')
  t.equal(again.body, first.body)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(first.headers['idempotent-replayed'], undefined)
  t.same(await kept(t, schema), { memories: 1, receipts: 1 })
  const changed = await retain(other, 'The otter wakes.')
  t.equal(changed.statusCode, 409)
  t.equal(changed.json<{ code: string }>().code, 'idempotency_key_reused')
  t.same(await kept(t, schema), { memories: 1, receipts: 1 })
})

t.test('the same holds for every operation that takes a key', { skip }, async (t) => {
  const schema = freshSchema(t)
  const [one, two] = [await gateway(t, schema), await gateway(t, schema)]
  const operations: Array<[string, unknown]> = [
    ['/v1/retain', { bank_id: 'team', content: 'The otter sleeps.' }],
    ['/v1/retain/batch', { bank_id: 'team', items: [{ content: 'One.' }, { content: 'Two.' }] }],
    ['/v1/forget', { bank_id: 'team', scope: 'all' }],
  ]
  for (const [url, body] of operations) {
    const first = await one.app.post(url, body, KEY)
    t.equal(first.statusCode, 200, `${url}: ${first.body}`)
    const again = await two.app.post(url, body, KEY)
    t.equal(again.body, first.body, url)
    t.equal(again.headers['idempotent-replayed'], 'true')
  }
  t.same(await kept(t, schema), { memories: 0, receipts: 3 }, 'the key of forget did not forget the receipts')
})

t.test('the same request to two processes at the same time is executed once', { skip }, async (t) => {
  const schema = freshSchema(t)
  const ids = countingIds()
  const processes =
    [await gateway(t, schema, { ids }), await gateway(t, schema, { ids }), await gateway(t, schema, { ids })]
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(processes.map(async (process) => (
      await retain(process, `Memory ${round}.`, { 'idempotency-key': `key-${round}` })
    )))
    t.same(answers.map(({ statusCode }) => statusCode), [200, 200, 200])
    t.equal(new Set(answers.map(({ body }) => body)).size, 1, answers.map(({ body }) => body).join(' '))
    t.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1, 'one executed it')
    t.equal(answers[0]!.json<{ stored: boolean }>().stored, true)
  }
  t.same(await kept(t, schema), { memories: 10, receipts: 10 })
})

t.test('of two concurrent bodies with one key one is executed and the other is refused', { skip }, async (t) => {
  const schema = freshSchema(t)
  const [one, two] = [
    await gateway(t, schema), await gateway(t, schema, { ids: () => '01936f0e-7b3c-7a10-8d2f-ffffffffffff' }),
  ]
  const answers = await Promise.all([retain(one, 'The otter sleeps.'), retain(two, 'The otter wakes.')])
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 409])
  t.same(await kept(t, schema), { memories: 1, receipts: 1 })
})

t.test('a key is free after 24 hours, in each process', { skip }, async (t) => {
  const schema = freshSchema(t)
  const ids = countingIds()
  const [one, two] = [await gateway(t, schema, { ids }), await gateway(t, schema, { ids })]
  await retain(one, 'The otter sleeps.')
  two.clock.advance(DAY_MS - 1)
  t.equal((await retain(two, 'The otter sleeps.')).headers['idempotent-replayed'], 'true')
  const three = await gateway(t, schema, { ids, clock: testClock() })
  three.clock.advance(DAY_MS)
  const free = await retain(three, 'The otter wakes.')
  t.equal(free.statusCode, 200, free.body)
  t.equal(free.headers['idempotent-replayed'], undefined)
  t.same(await kept(t, schema), { memories: 2, receipts: 1 }, 'the new answer replaces the old one')
})

t.test('a key of one caller has no effect for another', { skip }, async (t) => {
  const schema = freshSchema(t)
  const ids = countingIds()
  const [one, two] = [await gateway(t, schema, { ids }), await gateway(t, schema, { ids })]
  await retain(one, 'The otter sleeps.')
  const ada = await retain(two, 'The otter wakes.', { ...KEY, 'x-service-principal': 'user:ada' })
  t.equal(ada.statusCode, 200)
  t.equal(ada.headers['idempotent-replayed'], undefined)
})

t.test('a key of one bank has no effect on another, in any process and after a restart', { skip }, async (t) => {
  const schema = freshSchema(t)
  const ids = countingIds()
  const ask = async ({ app }: Process, bank: string) => (
    await app.post('/v1/retain', { bank_id: bank, content: 'The otter sleeps.' }, KEY)
  )
  const [one, two] = [await gateway(t, schema, { ids }), await gateway(t, schema, { ids })]
  const answers = await Promise.all([ask(one, 'team'), ask(two, 'other')])
  t.same(answers.map(({ statusCode }) => statusCode), [200, 200])
  t.same(await kept(t, schema), { memories: 2, receipts: 2 })
  for (const process of [one, two, await gateway(t, schema, { ids })]) {
    for (const [index, bank] of ['team', 'other'].entries()) {
      const again = await ask(process, bank)
      t.equal(again.body, answers[index]!.body)
      t.equal(again.headers['idempotent-replayed'], 'true')
    }
  }
  t.same(await kept(t, schema), { memories: 2, receipts: 2 })
})

t.test('work that was rolled back stores no key', { skip }, async (t) => {
  const schema = freshSchema(t)
  const process = await gateway(t, schema)
  const executor = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await executor.close() })
  await executor.query(`create function ${schema}.refuse() returns trigger language plpgsql as $$ begin raise ` +
    'exception \'no\'; end $$')
  // When the receipt is written the memory has been: both must go.
  await executor.query(`create constraint trigger refuse after insert on ${schema}.idempotency_keys deferrable ` +
    `initially deferred for each row execute function ${schema}.refuse()`)
  const failed = await retain(process, 'The otter sleeps.')
  t.equal(failed.statusCode, 503, failed.body)
  t.same(await kept(t, schema), { memories: 0, receipts: 0 })
  await executor.query(`drop trigger refuse on ${schema}.idempotency_keys`)
  const other = await retain(process, 'The otter wakes.')
  t.equal(other.statusCode, 200, 'with another body, because the key is free')
  t.equal(other.headers['idempotent-replayed'], undefined)
  t.same(await kept(t, schema), { memories: 1, receipts: 1 })
})

for (const when of ['before', 'answered'] as const) {
  t.test('a connection that is cut ' +
    `${when === 'before' ? 'before the commit arrives' : 'when the commit is done and not yet answered'}: with a key ` +
    'the work is done once and answered', { skip }, async (t) => {
    const schema = freshSchema(t)
    const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
    const process = await gateway(t, schema, { url })
    await retain(process, 'A warm-up.', {})
    const sprung = proxy.trap('commit', when)
    const answer = await retain(process, 'The otter sleeps.')
    await sprung
    t.equal(answer.statusCode, 200, answer.body)
    t.equal(answer.json<{ stored: boolean }>().stored, true)
    t.same(await kept(t, schema), { memories: 2, receipts: 1 })
    const again = await retain(await gateway(t, schema), 'The otter sleeps.')
    t.equal(again.body, answer.body)
  })
}

t.test('a write whose commit was not answered counts in the quota', { skip }, async (t) => {
  const schema = freshSchema(t)
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  const process = await gateway(t, schema, { url, quotas: { retain_per_day: 2 } })
  await retain(process, 'A warm-up.', {})
  const sprung = proxy.trap('commit', 'answered')
  t.equal((await retain(process, 'The otter sleeps.')).statusCode, 200)
  await sprung
  t.equal((await retain(process, 'The otter wakes.', {})).statusCode, 429)
  t.same(await kept(t, schema), { memories: 2, receipts: 1 })
})

t.test('a connection that is cut at a write without a key is answered 503, because its ' +
  'outcome is unknown', { skip }, async (t) => {
  const schema = freshSchema(t)
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  const process = await gateway(t, schema, { url })
  const sprung = proxy.trap('bank_statistics', 'answered')
  const answer = await retain(process, 'The otter sleeps.', {})
  await sprung
  t.equal(answer.statusCode, 503, answer.body)
})
