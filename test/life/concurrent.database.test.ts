import t, { type Test } from 'tap'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { countingIds, testClock } from '../helpers/clock.js'
import { leftOpen, pgliteDatabase, schemaIn } from '../helpers/sql-database.js'
import { DATABASE_URL, freshSchema, postgresOptions } from '../helpers/sql-stores.js'

interface Listed {
  memory_id: string
  text: string
  state: string
  superseded_by?: string
  version: number
}

const WRITERS = 50

/** Gateways that share what they store. */
const SETUPS: Array<[about: string, skip: string | false, open: (t: Test) => Promise<TestApp[]>]> = [
  ['in memory', false, async (t) => [await testApp(t)]],
  ['on PGlite', false, async (t) => {
    const database = await pgliteDatabase(t)
    return [await testApp(t, {}, {
      store: new SqlVectorStore({
        executor: leftOpen(database), schema: schemaIn(t, database), bootstrapSchema: true, sweepIntervalMs: 0,
      }),
    })]
  }],
  ['two gateways on one PostgreSQL', DATABASE_URL === undefined && 'TEST_DATABASE_URL is not set', async (t) => {
    const [clock, newId, schema] = [testClock(), countingIds(), quoteSchema(freshSchema(t))]
    const open = async () => await testApp(t, {}, {
      clock,
      newId,
      store: new SqlVectorStore({
        executor: new PostgresExecutor(postgresOptions()), schema, bootstrapSchema: true, sweepIntervalMs: 0,
      }),
    })
    return [await open(), await open()]
  }],
]

async function listed ({ get }: TestApp): Promise<Listed[]> {
  return (await get('/v1/banks/home/memories?state=all&limit=200')).json<{ memories: Listed[] }>().memories
}

for (const [about, skip, open] of SETUPS) {
  t.test(`${about}: ${WRITERS} writers on one key leave one current memory and a whole chain`, { skip }, async (t) => {
    const gateways = await open(t)
    const answers = await Promise.all(Array.from({ length: WRITERS }, async (_, index) => (
      await gateways[index % gateways.length]!.post('/v1/retain', {
        bank_id: 'home', content: `Ada works at place ${index}.`, key: 'ada/employer',
      })
    )))
    t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
    const memories = await listed(gateways[0]!)
    t.equal(memories.length, WRITERS)
    const current = memories.filter(({ state }) => state === 'current')
    t.equal(current.length, 1)
    const successors = new Map(memories.map(({ memory_id: id, superseded_by: by }) => [id, by]))
    const [first] = memories.filter(({ memory_id: id }) => !memories.some((other) => other.superseded_by === id))
    let length = 1
    for (let id = first!.memory_id; successors.get(id) !== undefined; id = successors.get(id)!) length++
    t.equal(length, WRITERS, 'each was superseded by the next one')
  })

  t.test(`${about}: of changes of one version one is made, and nothing is lost`, { skip }, async (t) => {
    const gateways = await open(t)
    const id = await gateways[0]!.retain('home', 'Ada likes tea.')
    const change = async (index: number, headers: Record<string, string>) => (
      await gateways[index % gateways.length]!.inject({
        method: 'PATCH', url: `/v1/banks/home/memories/${id}`, headers, payload: { content: `Ada likes tea ${index}.` },
      })
    )
    const statuses = async (headers: Record<string, string>) => (
      (await Promise.all(Array.from({ length: 10 }, async (_, index) => await change(index, headers))))
        .map(({ statusCode }) => statusCode).sort()
    )
    t.same(await statuses({ 'if-match': '"1"' }), [200, ...Array.from({ length: 9 }, () => 412)])
    const made = (await statuses({})).filter((status) => status === 200).length
    t.ok(made > 0)
    const { versions } = (await gateways[0]!.get(`/v1/banks/home/memories/${id}/versions`)).json<{
      versions: Array<{ version: number, content: string }>
    }>()
    const newest = versions.map(({ version }) => version)
    t.same(newest, newest.map((_, index) => newest.length - index), 'no version is missing')
    t.ok(newest.length >= 2)
    t.equal(new Set(versions.map(({ content }) => content)).size, versions.length, 'each has its own content')
  })
}
