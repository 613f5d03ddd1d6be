import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { ProcessUsage, type UsageStore } from '../../lib/operations/admission.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { UsageEntry, VectorStore } from '../../lib/stores/vector-store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'
import { schemaIn, sqlDatabase, storeIn } from '../helpers/sql-database.js'
import { DATABASE_URL, freshSchema, postgresOptions } from '../helpers/sql-stores.js'
import { tcpProxy } from '../helpers/tcp-proxy.js'
import { SqlError, type Executor } from '../../lib/stores/sql/executor.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import { generation, latch, parts, StreamingModel } from './reflecting.js'
import { refused } from './support.js'

type Quotas = NonNullable<NonNullable<FileConfig['homeostasis']>['quotas']>

const QUERY = 'Where does Alice live?'
/** What the store says, which nobody is told. */
const SECRET = 'password of the database'
const EVENTS = { accept: 'text/event-stream' }

/** Counts of a store that fail or wait as a test says. */
class ScriptedUsage implements UsageStore {
  readonly #counts = new ProcessUsage()
  readonly adjusted: UsageEntry[] = []
  beforeReserving: () => Promise<void> = async () => {}
  beforeAdjusting: () => Promise<void> = async () => {}
  /** Settles with the next correction. */
  nextAdjustment = latch()

  readonly reserveUsage: UsageStore['reserveUsage'] = async (entries) => {
    await this.beforeReserving()
    return await this.#counts.reserveUsage(entries)
  }

  readonly adjustUsage: UsageStore['adjustUsage'] = async (entries) => {
    await this.beforeAdjusting()
    await this.#counts.adjustUsage(entries)
    this.adjusted.push(...entries)
    this.nextAdjustment.open()
  }
}

async function fail (): Promise<never> {
  throw new Error(SECRET)
}

interface Faulty extends TestApp {
  usage: ScriptedUsage
  model: StreamingModel
}

async function faulty (t: Test, quotas: Quotas, file: FileConfig = {}): Promise<Faulty> {
  const usage = new ScriptedUsage()
  const model = new StreamingModel()
  model.answer = () => generation('Lyon [1].')
  model.parts = () => parts('Lyon [1].')
  const { reserveUsage, adjustUsage } = usage
  const store: VectorStore = Object.assign(new InMemoryVectorStore(), { reserveUsage, adjustUsage })
  const app = await testApp(t, { file: { homeostasis: { quotas }, ...file } }, { store, languageModel: model })
  await app.retain('home', 'Alice lives in Lyon.')
  return { ...app, usage, model }
}

const reflect = async (
  { post }: TestApp, more: Record<string, unknown> = {}, headers: Record<string, string> = {},
) => await post('/v1/reflect', { bank_id: 'home', query: QUERY, ...more }, headers)

/** Whether the log tells the cause under the id of the request. */
function logged (log: TestApp['log'], requestId: string): boolean {
  return log.some(({ request_id: id, err }) => id === requestId && JSON.stringify(err ?? '').includes('quotas-faults'))
}

for (const quotas of [{ model_calls_per_day: 5 }, { model_tokens_per_day: 50_000 }, { reflect_per_day: 5 }]) {
  t.test(`a store that cannot count ${Object.keys(quotas).join()} is 503 without a call, and its stack is ` +
    'logged without its message', async (t) => {
    const app = await faulty(t, quotas)
    app.usage.beforeReserving = fail
    const answer = await reflect(app)
    refused(t, answer, 503, 'dependency_unavailable', { detail: 'The vector store is unavailable' })
    t.notMatch(answer.body, SECRET)
    t.ok(logged(app.log, answer.json<{ request_id: string }>().request_id))
    t.notMatch(JSON.stringify(app.log), SECRET)
    const streamed = await reflect(app, {}, EVENTS)
    t.match(streamed.body, /"code":"dependency_unavailable"/)
    t.notMatch(streamed.body, SECRET)
    t.same(app.model.asked, [])
    app.usage.beforeReserving = async () => {}
    t.equal((await reflect(app)).statusCode, 200, 'requests succeed when it is back')
  })
}

t.test('a retain that cannot be counted is 503 and stores nothing', async (t) => {
  const app = await faulty(t, { retain_per_day: 2 })
  app.usage.beforeReserving = fail
  refused(
    t, await app.post('/v1/retain', { bank_id: 'home', content: 'Bob lives in Oslo.' }), 503, 'dependency_unavailable',
  )
  t.equal((await app.get('/v1/banks/home')).json<{ memory_count: number }>().memory_count, 1)
  t.equal(
    (await app.post('/v1/recall', { bank_id: 'home', query: 'Lyon' })).statusCode, 200,
    'operations without a quota still work',
  )
  app.usage.beforeReserving = async () => {}
  t.equal((await app.post('/v1/retain', { bank_id: 'home', content: 'Bob lives in Oslo.' })).statusCode, 200)
})

t.test('a recall continues without a model whose call cannot be counted', async (t) => {
  const app = await faulty(t, { model_calls_per_day: 5 }, { retrieval: { rewrite: { enabled: true } } })
  app.usage.beforeReserving = fail
  const answer = await app.post('/v1/recall', { bank_id: 'home', query: 'Lyon', rewrite: true })
  t.match(answer.json(), { hits: [{ text: 'Alice lives in Lyon.' }], degraded: ['rewrite'] })
  t.same(app.model.asked, [])
})

t.test('extractive answers do not replace a store that cannot count, which is no fault of the model', async (t) => {
  const app = await faulty(t, { model_calls_per_day: 5 }, { escalation: { degraded_mode: 'extractive' } })
  app.usage.beforeReserving = fail
  refused(t, await reflect(app), 503, 'dependency_unavailable')
  t.match(parseEvents((await reflect(app, {}, EVENTS)).body).at(-1), {
    event: 'error', data: { code: 'dependency_unavailable' },
  })
})

t.test('a count that cannot be corrected fails no answer, is logged, and keeps the reservation', async (t) => {
  const app = await faulty(t, { model_tokens_per_day: 10_000 })
  app.usage.beforeAdjusting = fail
  t.equal((await reflect(app, { max_tokens: 7000 })).statusCode, 200)
  t.match(parseEvents((await reflect(app, { max_tokens: 100 }, EVENTS)).body).at(-1), { event: 'done' })
  await app.app.memory.idle()
  const warnings = app.log.filter(({ msg }) => /could not be corrected/.test(String(msg)))
  t.equal(warnings.length, 2)
  t.match(warnings[0], {
    level: /warn|40/, msg: /model_tokens_per_day of home .*\(The vector store is unavailable: Error\)/,
  })
  t.notMatch(JSON.stringify(warnings), SECRET)
  refused(t, await reflect(app, { max_tokens: 7000 }), 429, 'quota_exceeded')
})

t.test('no answer waits for a correction, but the shutdown does', async (t) => {
  const app = await faulty(t, { model_tokens_per_day: 3000 })
  const { opened, open } = latch()
  app.usage.beforeAdjusting = async () => { await opened }
  t.equal((await reflect(app)).statusCode, 200)
  t.same(app.usage.adjusted, [])
  const closed = app.app.close()
  await new Promise((resolve) => { setImmediate(resolve) })
  t.same(app.usage.adjusted, [])
  open()
  await closed
  t.match(app.usage.adjusted, [{ counter: 'model_tokens_per_day' }])
})

for (const [what, quotas] of [
  ['its budget', { model_calls_per_day: 1 }], ['its quota', { reflect_per_day: 1 }],
] as const) {
  t.test(`a reflect whose deadline passes while the store counts ${what} calls no model and is refunded`, async (t) => {
    const app = await faulty(t, quotas)
    const { opened, open } = latch()
    app.usage.beforeReserving = async () => { await opened }
    refused(t, await reflect(app, { timeout_ms: 1500 }), 503, 'deadline_exceeded')
    app.usage.beforeReserving = async () => {}
    open()
    await app.usage.nextAdjustment.opened
    t.match(app.usage.adjusted, [{ amount: -1 }])
    t.same(app.model.asked, [])
    t.equal((await reflect(app)).statusCode, 200)
    t.equal((await reflect(app)).statusCode, 429)
  })
}

t.test('with a store that has only one of the two methods the process counts', async (t) => {
  for (const method of ['reserveUsage', 'adjustUsage'] as const) {
    const { retain, post } = await testApp(t, { file: { homeostasis: { quotas: { retain_per_day: 1 } } } }, {
      store: Object.assign(new InMemoryVectorStore(), { [method]: fail }),
    })
    await retain('home', 'Alice lives in Lyon.')
    refused(t, await post('/v1/retain', { bank_id: 'home', content: 'Bob lives in Oslo.' }), 429, 'quota_exceeded')
  }
})

t.test('the refund of a retain that finds no free connection is made when one is free', async (t) => {
  const executor = await sqlDatabase(t)
  let refusals = 0
  const crowded: Executor = {
    query: async (text, params, options) => {
      if (refusals > 0) {
        refusals -= 1
        throw new SqlError('busy', 'No connection is free')
      }
      return await executor.query(text, params, options)
    },
    read: async (text, params, options) => await executor.read(text, params, options),
    transaction: async (work, options) => await executor.transaction(work, options),
    maintain: async (text) => { await executor.maintain(text) },
    close: async () => {},
  }
  const store = await storeIn(crowded, { schema: schemaIn(t, executor) })
  const { reserveUsage } = store
  store.reserveUsage = async (entries) => {
    const outcome = await reserveUsage.call(store, entries)
    // The insert, and two attempts at the refund.
    if (outcome.granted) refusals = 3
    return outcome
  }
  const { post, app } = await testApp(t, { file: { homeostasis: { quotas: { retain_per_day: 1 } } } }, { store })
  const retain = async () => await post('/v1/retain', { bank_id: 'home', content: 'one' })
  refused(t, await retain(), 503, 'dependency_unavailable')
  await app.memory.idle()
  t.equal(refusals, 0)
  store.reserveUsage = reserveUsage
  t.equal((await retain()).statusCode, 200, 'the quota is not used up')
})

t.test('a database that stops while it counts is 503, and keeps the counts that it has ' +
  'acknowledged', { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }, async (t) => {
  const schema = quoteSchema(freshSchema(t))
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  const executor = new PostgresExecutor(postgresOptions({ url, statementTimeoutMs: 1000, connectTimeoutMs: 1000 }))
  const store = new SqlVectorStore({ executor, schema, bootstrapSchema: true, sweepIntervalMs: 0 })
  const { post, retain, app } =
    await testApp(t, { file: { homeostasis: { quotas: { retain_per_day: 4 } } } }, { store })
  const again = async (content: string) => await post('/v1/retain', { bank_id: 'home', content })
  await retain('home', 'one')
  // The counter is bound, so it is in what is sent for every reservation, prepared or not.
  const before = proxy.trap('retain_per_day', 'before')
  refused(t, await again('two'), 503, 'dependency_unavailable')
  await before
  const answered = proxy.trap('retain_per_day', 'answered')
  refused(t, await again('two'), 503, 'dependency_unavailable')
  await answered
  t.equal((await again('two')).statusCode, 200)
  // One whose answer was lost was counted, and stays so.
  t.equal((await again('three')).statusCode, 200)
  refused(t, await again('four'), 429, 'quota_exceeded')
  await app.close()
})
