import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import type { Executor } from '../../lib/stores/sql/executor.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { countingIds, testClock } from '../helpers/clock.js'
import { schemaIn, sqlDatabase, storeIn } from '../helpers/sql-database.js'
import { DATABASE_URL, postgresOptions } from '../helpers/sql-stores.js'

interface Turn {
  role: string
  content: string
  id?: string
}

const database = await sqlDatabase(t)
/** Gateways on one database must not give two memories one id. */
const newId = countingIds()
const TURNS = Number(process.env['TEST_TURNS'] ?? 200)
const MESSAGES = '/v1/banks/home/conversations/talk/messages'

/** Connections of a process of its own. PGlite has one process, so there its gateways share the database's. */
function connections (t: Test): Executor {
  if (DATABASE_URL === undefined) return database
  const executor = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await executor.close() })
  return executor
}

/** Two gateways on one schema: as much of processes of their own as a test needs. */
async function twoGateways (t: Test): Promise<[TestApp, TestApp]> {
  const schema = schemaIn(t, database)
  const open = async () => await testApp(t, { file: { retrieval: { weights: { semantic: 0 } } } }, {
    store: await storeIn(connections(t), { schema }), newId, clock: testClock(),
  })
  return [await open(), await open()]
}

async function append ({ post }: TestApp, messages: readonly Turn[]): Promise<{ stored: number, repeated: number }> {
  const response = await post(MESSAGES, { messages })
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${response.body}`)
  return response.json()
}

async function transcriptOf ({ get }: TestApp): Promise<string[]> {
  const texts: string[] = []
  for (let cursor = ''; ;) {
    const page = (await get(`${MESSAGES}?limit=200${cursor}`)).json<{
      messages: Array<{ content: string }>, next_cursor: string | null
    }>()
    texts.unshift(...page.messages.map(({ content }) => content))
    if (page.next_cursor === null) return texts
    cursor = `&before=${page.next_cursor}`
  }
}

const content = {
  distinct: (index: number) => `Turn ${index}.`,
  repetitive: (index: number) => index % 5 === 0 ? `Turn ${index}.` : ['ok', 'yes', 'no'][index % 3]!,
}

for (const { what, say, withIds, window } of [
  { what: 'a transcript', say: content.repetitive, withIds: false, window: Infinity },
  { what: 'the end of a transcript', say: content.distinct, withIds: false, window: 5 },
  { what: 'a transcript with ids', say: content.repetitive, withIds: true, window: Infinity },
  { what: 'the end of a transcript with ids', say: content.repetitive, withIds: true, window: 5 },
]) {
  await t.test(`${what} that two gateways send after each turn is stored once, in order`, async (t) => {
    const gateways = await twoGateways(t)
    const whole = Array.from({ length: TURNS }, (_, index): Turn => ({
      role: index % 2 === 0 ? 'user' : 'assistant', content: say(index), ...withIds && { id: randomUUID() },
    }))
    let [stored, repeated] = [0, 0]
    // Each sends on its own, so that one is ahead of the other, or both send the same at once.
    await Promise.all(gateways.map(async (gateway) => {
      for (let length = 1; length <= whole.length; length++) {
        const answer = await append(gateway, whole.slice(Math.max(0, length - window), length))
        stored += answer.stored
        repeated += answer.repeated
      }
    }))
    const expected = whole.map((turn) => turn.content)
    for (const gateway of gateways) t.same(await transcriptOf(gateway), expected)
    t.equal((await gateways[0].get('/v1/banks/home')).json().memory_count, whole.length)
    t.equal(stored, whole.length, `${repeated} were repeats`)
  })
}

await t.test('different messages that two gateways append at once are all stored', async (t) => {
  const gateways = await twoGateways(t)
  await Promise.all(gateways.map(async (gateway, which) => {
    for (let index = 0; index < 40; index++) {
      await append(gateway, [{ role: 'user', content: 'ok', id: `${which}-${index}` }])
    }
  }))
  t.equal((await transcriptOf(gateways[0])).length, 80)
})

await t.test('an id belongs to the message that was first', async (t) => {
  const gateways = await twoGateways(t)
  const answers = await Promise.all(gateways.map(async ({ post }, which) => (
    await post(MESSAGES, {
      messages: [{ role: 'user', content: `By ${which}.`, id: 'a' }, { role: 'user', content: 'b' }],
    })
  )))
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 409])
  t.equal((await transcriptOf(gateways[0])).length, 2)
})
