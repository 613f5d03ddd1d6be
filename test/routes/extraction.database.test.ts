import t, { type Test } from 'tap'
import { type Executor, SqlError } from '../../lib/stores/sql/executor.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import type { GenerateRequest } from '../../lib/models/language-model.js'
import type { MemoryRecord } from '../../lib/operations/schemas.js'
import { SteeredTime } from '../fixtures/steered-embeddings.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { countingIds, testClock, type TestClock } from '../helpers/clock.js'
import { leftOpen, schemaIn, sqlDatabase, storeIn } from '../helpers/sql-database.js'
import { DATABASE_URL, postgresOptions } from '../helpers/sql-stores.js'
import { generation, latch, ScriptedModel } from './reflecting.js'

const database = await sqlDatabase(t)
const HOUR = 3_600_000
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
  time: SteeredTime
}

function turnsIn ({ messages }: GenerateRequest): string[] {
  return [...messages[1]!.content.matchAll(/^\[\d+\] (.*)$/gm)].map(([, json]) => (
    (JSON.parse(json!) as { text: string }).text
  ))
}

/** One fact of each turn. */
function factsOf (request: GenerateRequest) {
  return generation(JSON.stringify({
    facts: turnsIn(request).map((text, index) => ({
      text: `Said: ${text}`, speaker: null, key: null, valid_from: null, valid_until: null, sources: [index + 1],
    })),
  }))
}

/** A gateway on the schema: as much of a process of its own as a test needs. */
async function gateway (
  t: Test, schema: string, clock: TestClock, executor: Executor = connections(t),
): Promise<Gateway> {
  const model = new ScriptedModel()
  model.answer = factsOf
  const time = new SteeredTime()
  const file = { extraction: { mode: 'facts' as const }, retrieval: { weights: { semantic: 0 } } }
  const app = await testApp(t, { file }, {
    store: await storeIn(executor, { schema }),
    languageModel: model,
    schedule: time.schedule,
    random: () => 1,
    newId,
    clock,
  })
  return { ...app, model, time }
}

async function memories ({ get }: TestApp, query = ''): Promise<MemoryRecord[]> {
  return (await get(`/v1/banks/home/memories?limit=100${query}`)).json<{ memories: MemoryRecord[] }>().memories
}

/** The texts of facts, each with those of the turns that it was derived from. */
async function facts (app: TestApp): Promise<Array<[string, string[]]>> {
  const all = await memories(app)
  const textOf = new Map(all.map(({ memory_id: id, text }) => [id, text]))
  return all.filter(({ kind }) => kind === 'fact').map(({ text, derived_from: sources = [] }): [string, string[]] => (
    [text, sources.map((id) => textOf.get(id) ?? 'gone')]
  )).sort()
}

async function again ({ app, time }: Gateway): Promise<void> {
  await time.pass()
  await app.memory.idle()
}

t.test('two gateways derive facts from each turn once', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const gateways = [await gateway(t, schema, clock), await gateway(t, schema, clock)]
  const texts = Array.from({ length: 40 }, (_, number) => `turn ${number}`)
  await Promise.all(texts.map(async (text, number) => (
    await gateways[number % 2]!.retain('home', text, { document_id: `chat ${number % 5}` })
  )))
  await Promise.all(gateways.map(async ({ app }) => { await app.memory.idle() }))
  t.same(gateways.flatMap(({ model }) => model.asked.flatMap(turnsIn)).sort(), [...texts].sort())
  t.same(await facts(gateways[0]!), texts.map((text) => [`Said: ${text}`, [text]]).sort())
  for (const each of gateways) await again(each)
  t.equal((await memories(gateways[0]!)).length, 80)
})

t.test('what a gateway noted and did not do is done after a restart', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const first = await gateway(t, schema, clock)
  await first.retain('home', 'a turn')
  await first.app.close()
  t.equal(first.model.asked.length, 0)
  const second = await gateway(t, schema, clock)
  await second.app.memory.idle()
  t.same(await facts(second), [['Said: a turn', ['a turn']]])
})

t.test('a gateway that ends between the answer and the write leaves the turn to another', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const own = connections(t)
  let isBroken = false
  const gone = async () => await Promise.reject(new SqlError('connection', 'The process is gone'))
  const breaking: Executor = {
    ...leftOpen(own),
    query: async (...given) => isBroken ? await gone() : await own.query(...given),
    read: async (...given) => isBroken ? await gone() : await own.read(...given),
    transaction: async (...given) => isBroken ? await gone() : await own.transaction(...given),
  }
  const first = await gateway(t, schema, clock, breaking)
  first.model.answer = (request) => {
    isBroken = true
    return factsOf(request)
  }
  await first.retain('home', 'a turn')
  await first.app.memory.idle()
  const second = await gateway(t, schema, clock)
  await second.app.memory.idle()
  t.equal(second.model.asked.length, 0, 'it may still be at work')
  clock.advance(HOUR)
  await again(second)
  t.same(second.model.asked.map(turnsIn), [['a turn']])
  t.same(await facts(second), [['Said: a turn', ['a turn']]])
})

t.test('a transaction that fails at its end stores neither facts nor that they are done', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const own = connections(t)
  let isBroken = false
  const failing: Executor = {
    ...leftOpen(own),
    transaction: async (work, options) => await own.transaction(async (tx) => {
      const done = await work(tx)
      if (isBroken) throw new SqlError('connection', 'The connection broke before the commit')
      return done
    }, options),
  }
  const first = await gateway(t, schema, clock, failing)
  first.model.answer = (request) => {
    isBroken = true
    return factsOf(request)
  }
  await first.retain('home', 'a turn')
  await first.app.memory.idle()
  t.same(await facts(first), [])
  isBroken = false
  clock.advance(HOUR)
  const second = await gateway(t, schema, clock)
  await second.app.memory.idle()
  t.same(await facts(second), [['Said: a turn', ['a turn']]])
})

t.test('an answer that comes when another gateway has done the work is dropped', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const [slow, fast] = [await gateway(t, schema, clock), await gateway(t, schema, clock)]
  const [asked, answered] = [latch(), latch()]
  slow.model.answer = async (request) => {
    asked.open()
    await answered.opened
    return factsOf(request)
  }
  await slow.retain('home', 'a turn')
  const late = slow.app.memory.idle()
  await asked.opened
  clock.advance(HOUR)
  await fast.app.memory.idle()
  t.same(await facts(fast), [['Said: a turn', ['a turn']]])
  answered.open()
  await late
  t.same(await facts(fast), [['Said: a turn', ['a turn']]])
  t.same(slow.log.filter(({ msg }) => String(msg).startsWith('extraction:')), [])
})

t.test('a turn that is forgotten while the model reads it leaves no fact, and the others theirs', async (t) => {
  const schema = schemaIn(t, database)
  const clock = testClock()
  const one = await gateway(t, schema, clock)
  const { results } = (await one.post('/v1/retain/batch', {
    bank_id: 'home', items: ['a secret', 'a turn'].map((content) => ({ content, document_id: 'chat' })),
  })).json<{ results: Array<{ memory_id: string }> }>()
  let isFirst = true
  one.model.answer = async (request) => {
    if (isFirst) await one.post('/v1/forget', { bank_id: 'home', memory_ids: [results[0]!.memory_id] })
    isFirst = false
    return factsOf(request)
  }
  await one.app.memory.idle()
  t.same(one.model.asked.map(turnsIn), [['a secret', 'a turn'], ['a turn']])
  t.same(await facts(one), [['Said: a turn', ['a turn']]])
})
