import { mock } from 'node:test'
import t from 'tap'
import type { Flow } from '../../../../lib/concurrency/flow-tree.js'
import { turns } from '../../../../lib/concurrency/turn-budget.js'
import type { Executor, Param, ReadOptions } from '../../../../lib/stores/sql/executor.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { testApp } from '../../../helpers/app.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'

await t.test('every statement of a request waits for a connection in the turn of its caller', async (t) => {
  const database = await sqlDatabase(t)
  const waits: Array<{ text: string, flow: Flow | undefined }> = []
  const single = async <R extends object>(text: string, params?: readonly Param[], options: ReadOptions = {}) => {
    waits.push({ text, flow: options.flow })
    return await database.read<R>(text, params, options)
  }
  const watched: Executor = {
    query: single,
    read: single,
    transaction: async (work, options = {}) => {
      waits.push({ text: 'transaction', flow: options.flow })
      return await database.transaction(work, options)
    },
    maintain: async (text) => { await database.maintain(text) },
    close: async () => {},
  }
  const store = new SqlVectorStore({
    executor: watched, schema: schemaIn(t, database), bootstrapSchema: true, sweepIntervalMs: 0, shared: false,
  })
  const { post, get } = await testApp(t, {}, { store })
  const identity = { 'x-service-principal': 'user:ann' }
  const headers = { ...identity, 'idempotency-key': 'k' }
  const requests = {
    retain: async () => await post('/v1/retain', { bank_id: 'home', content: 'Ann likes tea.' }, headers),
    recall: async () => await post('/v1/recall', { bank_id: 'home', query: 'tea' }, identity),
    config: async () => await get('/v1/banks/home/config', identity),
    history: async () => await get('/v1/banks/home/config/history', identity),
    forget: async () => await post('/v1/forget', { bank_id: 'home', scope: 'all' }, headers),
  }
  for (const [name, request] of Object.entries(requests)) {
    waits.length = 0
    t.equal((await request()).statusCode, 200, name)
    t.not(waits.length, 0)
    for (const { text, flow } of waits) t.equal(flow?.[0], 'user:ann ', `${name}: ${text.slice(0, 50)}`)
  }

  const withVectors = await storeIn(watched, { schema: schemaIn(t, database) })
  waits.length = 0
  const memory = await newMemory('tea', { vectors: [[1, 0, 0, 0]] })
  await withVectors.insert({ tenantId: null, bankId: 'home', caller: 'user:ann ' }, [memory], { now: NOW })
  t.strictSame(waits.map(({ flow }) => flow?.[0]), ['user:ann ', 'user:ann '], 'the embedding space, and the memory')
})

await t.test('the tokens of what a caller writes are counted in the turns of the caller', async (t) => {
  const database = await sqlDatabase(t)
  const store = await storeIn(database, { schema: schemaIn(t, database) })
  const memory = await newMemory('The quick brown fox jumps over the lazy dog. '.repeat(20_000))
  const next = mock.method(turns, 'next')
  t.after(() => { next.mock.restore() })
  await store.insert({ tenantId: null, bankId: 'home', caller: 'user:ann ' }, [memory], { now: NOW })
  t.ok(next.mock.calls.some((call) => call.arguments[0] === 'user:ann '))
})
