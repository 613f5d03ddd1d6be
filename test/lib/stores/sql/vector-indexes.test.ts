import t, { type Test } from 'tap'
import type { Executor } from '../../../../lib/stores/sql/executor.js'
import { SqlSearcher } from '../../../../lib/stores/sql/searcher.js'
import { VectorIndexes, type VectorIndexesOptions } from '../../../../lib/stores/sql/vectors.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { bank, REMOVE, texts } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'

const database = await sqlDatabase(t)

/** Angle between one memory's vector and the next one's. */
const STEP = 0.026
/** Half a radian before the first: near enough to tell them apart, and far enough for half precision to do so. */
const QUERY = Float32Array.of(Math.cos(0.5), -Math.sin(0.5), 0, 0)

async function setUp (t: Test, options: Partial<VectorIndexesOptions> = {}) {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const make = (more: Partial<VectorIndexesOptions> = {}) => new VectorIndexes({
    executor: database, schema, from: 20, maxIndexes: 2, build: true, intervalMs: 0, ...options, ...more,
  })
  return {
    store,
    make,
    fill: async (name: string, count: number, tenantId: string | null = null): Promise<NewMemory[]> => {
      const memories = await Promise.all(Array.from({ length: count }, async (_, index) => (
        await newMemory(`memory ${index} of ${name}`, {
          vectors: [[Math.cos(index * STEP), Math.sin(index * STEP), 0, 0]], tags: index % 2 === 0 ? ['even'] : [],
        })
      )))
      await store.insert(bank(name, tenantId), memories, { now: NOW })
      return memories
    },
    indexes: async () => (await database.read<{ name: string, definition: string }>(
      'select indexname as name, indexdef as definition from pg_indexes where schemaname = $1 and indexname like ' +
        '$2 order by 1', [schema.slice(1, -1), 'embeddings_hnsw_%'],
    )),
    schema,
  }
}

t.test('only the largest banks have an index, each over its own vectors', async (t) => {
  const { fill, make, indexes } = await setUp(t)
  await fill('small', 19)
  await fill('big', 30)
  await fill('bigger', 40, 'it\'s a \\ tenant')
  await fill('third', 25)
  const vectorIndexes = make()
  const told: string[] = []
  await vectorIndexes.update(CONTRACT_SPACE, (message) => { told.push(message) })
  t.strictSame(
    told, [40, 30].map((count) => `vector_store: building the vector index of a bank of ${count} vectors`),
    'only the two largest banks',
  )
  t.strictSame(
    [bank('small'), bank('big'), bank('bigger', 'it\'s a \\ tenant'), bank('bigger'), bank('third')].map(
      (key) => vectorIndexes.passagesPerMemory(key) !== undefined,
    ),
    [false, true, true, false, false],
  )
  for (const { definition } of await indexes()) {
    t.match(definition, /USING hnsw .*halfvec\(4\).* WHERE .*bank_key.*model/)
  }
  await vectorIndexes.update(CONTRACT_SPACE, (message) => { told.push(message) })
  t.equal(told.length, 2, 'nothing is built twice')
  t.notOk(make().passagesPerMemory(bank('big')), 'a bank that was not examined is searched exactly')
})

t.test('a bank with an index is searched through it, under filters too, and finds what an exact ' +
  'search finds', async (t) => {
  const { fill, make, store, schema } = await setUp(t)
  const memories = await fill('big', 60)
  const vectorIndexes = make()
  await vectorIndexes.update(CONTRACT_SPACE, () => {})
  const { SqlVectorStore } = await import('../../../../lib/stores/sql/store.js')
  const indexed = new SqlVectorStore({
    executor: database, schema, bootstrapSchema: true, sweepIntervalMs: 0, indexes: vectorIndexes,
  })
  await indexed.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  for (const [step, filters] of [[1, {}], [2, { tags: { values: ['even'], match: 'any' as const } }]] as const) {
    const request = { banks: [bank('big')], now: NOW, filters, limit: 5, semantic: { vector: QUERY } }
    const answer = await indexed.search(request)
    t.strictSame(texts(answer.semantic!), [0, 1, 2, 3, 4].map((n) => `memory ${n * step} of big`))
    t.strictSame(answer, await store.search(request))
  }
  await store.remove(bank('big'), { kind: 'ids', memoryIds: [memories[0]!.memoryId] }, REMOVE)
  const { semantic } = await indexed.search({
    banks: [bank('big')], now: NOW, filters: {}, limit: 1, semantic: { vector: QUERY },
  })
  t.strictSame(texts(semantic!), ['memory 1 of big'], 'a forgotten memory is not found')
})

t.test('the index alone answers a search of a bank whose memories have several passages that are alike', async (t) => {
  const { make, store, schema } = await setUp(t)
  await store.insert(bank('split'), await Promise.all(Array.from({ length: 60 }, async (_, index) => (
    await newMemory(`${index} begins with this. ${index} goes on with it. ${index} ends with that.`, {
      chunkMaxCharacters: 24,
      vectors: [0, 1, 2].map((passage) => index * STEP + passage * STEP / 10).map((angle) => (
        [Math.cos(angle), Math.sin(angle), 0, 0]
      )),
    })
  ))), { now: NOW })
  const vectorIndexes = make()
  await vectorIndexes.update(CONTRACT_SPACE, () => {})
  let reads = 0
  const counted: Executor = {
    query: async (text, params, options) => await database.query(text, params, options),
    read: async (text, params, options) => { reads++; return await database.read(text, params, options) },
    transaction: async (work, options) => await database.transaction(work, options),
    maintain: async (text) => { await database.maintain(text) },
    close: async () => {},
  }
  const searcher = new SqlSearcher({ executor: counted, schema, indexes: vectorIndexes })
  searcher.start(CONTRACT_SPACE)
  const request = { banks: [bank('split')], now: NOW, filters: {}, limit: 20, semantic: { vector: QUERY } }
  t.strictSame(await searcher.search(request), await store.search(request))
  t.equal(reads, 3, 'one of the index, one of the scores, one of the memories')
})

t.test('a bank that has become clearly smaller loses its index, if indexes may be built', async (t) => {
  const { fill, make, store, indexes } = await setUp(t)
  const memories = await fill('big', 24)
  await make({ build: false }).update(CONTRACT_SPACE, () => {})
  t.equal((await indexes()).length, 0)
  await make().update(CONTRACT_SPACE, () => {})
  const used = make({ build: false })
  await used.update(CONTRACT_SPACE, () => {})
  t.ok(used.passagesPerMemory(bank('big')), 'an index that another process built is used')
  const forget = async (from: number, to: number) => {
    await store.remove(
      bank('big'), { kind: 'ids', memoryIds: memories.slice(from, to).map(({ memoryId }) => memoryId) }, REMOVE,
    )
  }
  await forget(0, 10)
  await make().update(CONTRACT_SPACE, () => {})
  t.equal((await indexes()).length, 1, '14 of 20')
  await forget(10, 20)
  const last = make()
  await last.update(CONTRACT_SPACE, () => {})
  t.equal((await indexes()).length, 0, '4 of 20')
  t.notOk(last.passagesPerMemory(bank('big')))
})

t.test('with index_from 0 no bank has one, and those of an earlier configuration are dropped', async (t) => {
  const { fill, make, indexes } = await setUp(t, { from: 20 })
  await fill('big', 30)
  await make().maintain(() => {})
  t.equal((await indexes()).length, 1)
  await make({ from: 0, build: false }).update(CONTRACT_SPACE, () => {})
  t.equal((await indexes()).length, 1, 'by a process that may')
  const none = make({ from: 0 })
  await none.update(CONTRACT_SPACE, () => {})
  t.equal((await indexes()).length, 0)
  t.notOk(none.passagesPerMemory(bank('big')))
})
