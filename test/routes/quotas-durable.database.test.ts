import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import type { Executor } from '../../lib/stores/sql/executor.js'
import { countTokens } from '../../lib/text/tokens.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { countingIds, testClock } from '../helpers/clock.js'
import { schemaIn, sqlDatabase, storeIn } from '../helpers/sql-database.js'
import { DATABASE_URL, postgresOptions } from '../helpers/sql-stores.js'
import { generation, ScriptedModel } from './reflecting.js'
import { refused } from './support.js'

type Quotas = NonNullable<NonNullable<FileConfig['homeostasis']>['quotas']>

const database = await sqlDatabase(t)
const DAY = 24 * 3_600_000
const QUERY = 'Where does Alice live?'
/** Gateways on one database must not give two memories one id. */
const newId = countingIds()

/** Connections of a process of its own. PGlite has one process, so there its gateways share the database's. */
function connections (t: Test): Executor {
  if (DATABASE_URL === undefined) return database
  const executor = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await executor.close() })
  return executor
}

interface Gateway extends TestApp {
  model: ScriptedModel
}

/** A gateway on the schema: as much of a process of its own as a test needs. */
async function gateway (t: Test, schema: string, quotas: Quotas, { clock = testClock(), banks }: {
  clock?: TestApp['clock'], banks?: FileConfig['banks']
} = {}): Promise<Gateway> {
  const model = new ScriptedModel()
  model.answer = () => generation('Lyon [1].')
  const file: FileConfig = {
    homeostasis: { quotas },
    escalation: { circuit_breaker: { failure_threshold: 1000 } },
    retrieval: { weights: { semantic: 0 } },
    ...(banks !== undefined && { banks }),
  }
  const store = await storeIn(connections(t), { schema })
  const app = await testApp(t, { file }, {
    store, languageModel: model, newBoundary: () => '0123456789abcdef'.repeat(2), newId, clock,
  })
  return { ...app, clock, model }
}

const reflect = async ({ post }: TestApp, more: Record<string, unknown> = {}) => (
  await post('/v1/reflect', { bank_id: 'home', query: QUERY, max_tokens: 50, ...more })
)
const retain = async ({ post }: TestApp, content: string, headers: Record<string, string> = {}) => (
  await post('/v1/retain', { bank_id: 'home', content }, headers)
)

async function statuses (answers: Array<Promise<{ statusCode: number }>>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { statusCode } of await Promise.all(answers)) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

t.test('two gateways on one database share the daily calls of the model, also concurrently', async (t) => {
  const schema = schemaIn(t, database)
  const quotas = { model_calls_per_day: 7 }
  const both = [await gateway(t, schema, quotas), await gateway(t, schema, quotas)]
  await retain(both[0]!, 'Alice lives in Lyon.')
  t.same(await statuses(Array.from({ length: 30 }, async (_, index) => await reflect(both[index % 2]!))), {
    200: 7, 429: 23,
  })
  t.equal(both[0]!.model.asked.length + both[1]!.model.asked.length, 7)
  for (const one of both) {
    refused(t, await reflect(one), 429, 'quota_exceeded', {
      detail: /model_calls_per_day \(7\) is used up/, retry_after_seconds: 14 * 3600,
    })
  }
  for (const { clock } of both) clock.advance(DAY)
  t.same(await statuses(both.map(async (one) => await reflect(one))), { 200: 2 }, 'a new day begins with no use')
})

t.test('two gateways never spend the same tokens twice, and unused ones are available to both', async (t) => {
  const schema = schemaIn(t, database)
  const probe = await gateway(t, schemaIn(t, database), { model_tokens_per_day: 100_000 })
  await retain(probe, 'Alice lives in Lyon.')
  await reflect(probe)
  // A call is reckoned with at this much and uses 34.
  const most = probe.model.last.messages.reduce((sum, { content }) => sum + countTokens(content), 0) + 50
  const quotas = { model_tokens_per_day: 2 * most + 34 }
  const both = [await gateway(t, schema, quotas), await gateway(t, schema, quotas)]
  const [one, other] = both as [Gateway, Gateway]
  await retain(one, 'Alice lives in Lyon.')
  let open = () => {}
  const held = new Promise<void>((resolve) => { open = resolve })
  let calls = 0
  for (const { model } of both) {
    model.answer = async () => {
      calls++
      await held
      return generation('Lyon [1].')
    }
  }
  const answers = Array.from({ length: 10 }, async (_, index) => await reflect(both[index % 2]!))
  // Those that find no room are answered while the others wait for the model.
  let refusals = 0
  await new Promise<void>((resolve) => {
    for (const answer of answers) {
      void answer.then(({ statusCode }) => {
        if (statusCode === 429 && ++refusals === 8) resolve()
      })
    }
  })
  open()
  t.same(await statuses(answers), { 200: 2, 429: 8 })
  t.equal(calls, 2)
  // 68 are used, so there is room for a call that may use all of the rest, and not for one that may use more.
  await Promise.all(both.map(async ({ app }) => { await app.memory.idle() }))
  refused(t, await reflect(one, { max_tokens: 50 + most - 34 + 1 }), 429, 'quota_exceeded')
  t.equal((await reflect(other, { max_tokens: 50 + most - 34 })).statusCode, 200)
})

t.test('two gateways share the quotas of retain and reflect, and a batch counts each item', async (t) => {
  const schema = schemaIn(t, database)
  const quotas = { retain_per_day: 9, reflect_per_day: 4 }
  const both = [await gateway(t, schema, quotas), await gateway(t, schema, quotas)] as const
  const [one, other] = both
  const key = { 'idempotency-key': 'key-1' }
  t.equal((await retain(one, 'Alice lives in Lyon.', key)).statusCode, 200)
  t.equal((await retain(other, 'Alice lives in Lyon.', key)).headers['idempotent-replayed'], 'true')
  const items = [1, 2, 3].map((number) => ({ content: `Tea number ${number}.` }))
  t.equal((await other.post('/v1/retain/batch', { bank_id: 'home', items })).statusCode, 200)
  t.same(
    await statuses(Array.from({ length: 20 }, async (_, index) => await retain(both[index % 2]!, `Note ${index}.`))),
    { 200: 5, 429: 15 },
  )
  refused(t, await one.post('/v1/retain/batch', { bank_id: 'home', items }), 429, 'quota_exceeded', {
    detail: /retain_per_day \(9\) is used up/,
  })
  const exported = (await one.get('/v1/banks/home/export')).body
  t.equal(
    (await other.inject({
      method: 'POST',
      url: '/v1/banks/home/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: exported,
    })).statusCode,
    200,
  )
  t.same(await statuses(Array.from({ length: 12 }, async (_, index) => await reflect(both[index % 2]!))), {
    200: 4, 429: 8,
  })
})

t.test('a failed reflect returns its daily quota to every gateway', async (t) => {
  const schema = schemaIn(t, database)
  const quotas = { reflect_per_day: 1, model_calls_per_day: 2 }
  const [one, other] = [await gateway(t, schema, quotas), await gateway(t, schema, quotas)]
  await retain(one, 'Alice lives in Lyon.')
  one.model.answer = () => generation(' ')
  t.equal((await reflect(one)).statusCode, 502)
  // A gateway refunds after its answer; its end waits for that.
  await one.app.close()
  t.equal((await reflect(other)).statusCode, 200)
  refused(t, await reflect(other), 429, 'quota_exceeded', { detail: /reflect_per_day/ })
})

t.test('a restart keeps the counts of the day, and a new UTC day begins at zero', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const quotas = { retain_per_day: 2, reflect_per_day: 3, model_calls_per_day: 2 }
  const first = await gateway(t, schema, quotas, { clock })
  await retain(first, 'Alice lives in Lyon.')
  t.equal((await reflect(first)).statusCode, 200)
  await first.app.close()
  const second = await gateway(t, schema, quotas, { clock })
  t.equal((await retain(second, 'Bob lives in Oslo.')).statusCode, 200)
  refused(t, await retain(second, 'Carol lives in Rome.'), 429, 'quota_exceeded', { detail: /retain_per_day \(2\)/ })
  t.equal((await reflect(second)).statusCode, 200)
  refused(t, await reflect(second), 429, 'quota_exceeded', { detail: /model_calls_per_day \(2\)/ })
  await second.app.close()
  clock.advance(14 * 3_600_000 - 1)
  const third = await gateway(t, schema, quotas, { clock })
  refused(t, await reflect(third), 429, 'quota_exceeded', { retry_after_seconds: 1 })
  refused(t, await retain(third, 'Carol lives in Rome.'), 429, 'quota_exceeded', { retry_after_seconds: 1 })
  clock.advance(1)
  t.equal((await reflect(third)).statusCode, 200)
  t.equal((await retain(third, 'Carol lives in Rome.')).statusCode, 200)
})

t.test('forgetting everything returns nothing of the daily quota', async (t) => {
  const one = await gateway(t, schemaIn(t, database), { retain_per_day: 1 })
  await retain(one, 'Alice lives in Lyon.')
  t.equal((await one.post('/v1/forget', { bank_id: 'home', scope: 'all' })).statusCode, 200)
  refused(t, await retain(one, 'Alice lives in Lyon.'), 429, 'quota_exceeded')
})

t.test('a reflect over several banks counts on all of them or on none', async (t) => {
  const schema = schemaIn(t, database)
  const banks = { narrow: { homeostasis: { quotas: { reflect_per_day: 1 } } } }
  const [one, other] = [await gateway(t, schema, { reflect_per_day: 2 }, { banks }), await gateway(
    t, schema, { reflect_per_day: 2 }, { banks },
  )]
  const over = { bank_id: undefined, banks: ['home', 'narrow', 'work'] }
  t.equal((await reflect(one, over)).statusCode, 200)
  refused(t, await reflect(other, over), 429, 'quota_exceeded', { detail: /reflect_per_day \(1\)/ })
  for (const bankId of ['home', 'work']) {
    t.same(await statuses([1, 2].map(async () => await reflect(other, { bank_id: bankId }))), { 200: 1, 429: 1 })
  }
})
