import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { Executor, Transaction } from '../../../../lib/stores/sql/executor.js'
import {
  makeReembeddingStatements, Reembedding, type ReembeddingOptions,
} from '../../../../lib/stores/sql/reembedding.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { VectorIndexes } from '../../../../lib/stores/sql/vectors.js'
import { type EmbeddingSpace, memoryOf } from '../../../../lib/stores/vector-store.js'
import { bank, lexical, REMOVE, semantic } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW, withTags } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE, DATABASE_URL } from '../../../helpers/sql-stores.js'

const database = await sqlDatabase(t)
const home = bank('home')
const NEWER: EmbeddingSpace = { model: 'newer', dimensions: 3 }
const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }

function reembedding (schema: string, options: Partial<ReembeddingOptions> = {}): Reembedding {
  const embed = async (list: string[]) => list.map(() => Float32Array.of(1, 0, 0))
  return new Reembedding({
    executor: database, schema, space: NEWER, batch: 10, pause: async () => {}, embed, ...options,
  })
}

/** The database, with something that happens before a statement. */
function before (statement: string | RegExp, happen: () => Promise<void>): Executor {
  const look = async (text: string) => {
    if (typeof statement === 'string' ? text === statement : statement.test(text)) await happen()
  }
  return {
    query: async (text, params) => {
      await look(text)
      return await database.query(text, params)
    },
    read: async (text, params) => await database.read(text, params),
    transaction: async (work, options) => await database.transaction(async (tx) => {
      const watched: Transaction = {
        query: async (text, params) => {
          await look(text)
          return await tx.query(text, params)
        },
        script: async (text) => { await tx.script(text) },
      }
      return await work(watched)
    }, options),
    maintain: async (text) => { await database.maintain(text) },
    close: async () => {},
  }
}

t.test('a repeated run removes the old vectors after a run that was interrupted after the move', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  await store.insert(home, await newMemories(['one', 'two'], { vectors: [[1, 0, 0, 0]] }), { now: NOW })
  const executor = before(makeReembeddingStatements(schema).dropVectors, async () => { throw new Error('killed') })
  await t.rejects(reembedding(schema, { executor }).reembed(home, () => {}), new Error('killed'))
  await reembedding(schema).reembed(home, () => {})
  t.strictSame(await database.read(`select distinct model from ${schema}.embeddings`), [{ model: 'newer' }])
})

t.test('a memory without a vector that is added during the move is counted once', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  await store.insert(home, [await newMemory('one', { vectors: [[1, 0, 0, 0]] })], { now: NOW })
  let come = 0
  const executor = before(makeReembeddingStatements(schema).flag, async () => {
    if (come++ === 0) await store.insert(home, [await newMemory('two')], { now: NOW })
  })
  await reembedding(schema, { executor }).reembed(home, () => {})
  t.strictSame(
    await database.read(`select sum(s.embedded)::int as counted, (select count(*)::int from ${schema}.memories where ` +
      `embedded) as there from ${schema}.bank_statistics s`),
    [{ counted: 2, there: 2 }],
  )
})

t.test('a memory is not lost when another takes its new content while it is changed', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const [heron, crow] = [await newMemory('A heron'), await newMemory('A crow')]
  await store.insert(home, [heron], { now: NOW })
  let come = 0
  const executor = before(/insert into \S+\.memories as m/, async () => {
    if (come++ === 0) await store.insert(home, [crow], { now: NOW })
  })
  const { passages, fingerprint } = crow
  const memory = { ...memoryOf(heron), text: 'A crow', version: 2 }
  await t.rejects(
    (await storeIn(executor, { schema })).revise(home, [{ memory, fingerprint, passages }], { now: NOW }),
    { name: 'PlaceTakenError', memoryId: crow.memoryId },
  )
  t.match(await store.get(home, heron.memoryId, NOW), { text: 'A heron', version: 1 })
  t.equal((await store.statistics(home, NOW)).memoryCount, 2)
})

t.test('a memory that is restored after a move to another model waits for its vectors', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const [heron, crow] = await newMemories(['A heron', 'A crow'], { vectors: [[1, 0, 0, 0]] })
  await store.insert(home, [heron!, crow!], { now: NOW })
  const next = (state: 'retired' | 'current', version: number) => ({
    memory: { ...memoryOf(heron!), state, version }, fingerprint: heron!.fingerprint,
  })
  await store.revise(home, [next('retired', 2)], { now: NOW })
  await reembedding(schema).reembed(home, () => {})
  const moved = await storeIn(database, { schema, space: NEWER })
  await moved.revise(home, [next('current', 3)], { now: NOW })
  t.match(await moved.listUnembedded({ now: NOW, limit: 9 }), [{ memory: { text: 'A heron' } }])
  t.strictSame(
    await database.read(`select sum(s.embedded)::int as counted, (select count(*)::int from ${schema}.memories where ` +
      `embedded) as there from ${schema}.bank_statistics s`),
    [{ counted: 1, there: 1 }],
  )
  t.equal(await moved.attachVectors(home, [{ ...heron!, vectors: [Float32Array.of(1, 0, 0)] }], NOW), 1)
  t.same((await semantic(moved, [home], [1, 0, 0])).map(({ memory }) => memory.text).sort(), ['A crow', 'A heron'])
})

t.test('a memory that moves between the reads of a search is found once, in its later version', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const heron = await newMemory('A heron', { vectors: [[1, 0, 0, 0]] })
  await store.insert(home, [heron], { now: NOW })
  let come = 0
  let currentIsRead = () => {}
  const currentRead = new Promise<void>((resolve) => { currentIsRead = resolve })
  const read: Executor['read'] = async (text, params, options) => {
    // The words of what is past are looked up last.
    if (text.includes('postings_past') && come++ === 0) {
      await currentRead
      await store.revise(home, [{
        memory: { ...memoryOf(heron), state: 'retired', version: 2 }, fingerprint: heron.fingerprint,
      }], { now: NOW })
    }
    const rows = await database.read(text, params, options) as never
    if (text.includes('passage_ends') && !text.includes('_past')) currentIsRead()
    return rows
  }
  const watched = await storeIn({ ...before('', async () => {}), read }, { schema })
  const filters = { state: 'all' } as const
  const found = await lexical(watched, [home], 'heron', { filters })
  t.same(found.map(({ memory: { state, version } }) => `${state} ${version}`), ['retired 2'])
})

t.test('a memory that is restored while a removal reads is removed', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const heron = await newMemory('A heron', { tags: ['x'] })
  await store.insert(home, [heron, await newMemory('A crow')], { now: NOW })
  const next = (state: 'retired' | 'current', version: number) => ({
    memory: { ...memoryOf(heron), state, version }, fingerprint: heron.fingerprint,
  })
  await store.revise(home, [next('retired', 2)], { now: NOW })
  let come = 0
  const executor = before(/from \S+\.memories_past m where[^]*for update/, async () => {
    if (come++ === 0) await store.revise(home, [next('current', 3)], { now: NOW })
  })
  const removed = await (await storeIn(executor, { schema })).remove(home, withTags(['x']), REMOVE)
  t.same(removed, { count: 1, memoryIds: [heron.memoryId] })
  t.same(await store.versions(home, heron.memoryId, NOW), [])
  t.equal((await store.statistics(home, NOW)).memoryCount, 1)
})

t.test('concurrent imports that overwrite the same memories all succeed', POSTGRES, async (t) => {
  const store = await storeIn(database, { schema: schemaIn(t, database) })
  const memories = await newMemories(Array.from({ length: 50 }, (_, index) => `memory ${index}`))
  const results = await Promise.allSettled(Array.from({ length: 12 }, async () => (
    await store.import(home, memories, { now: NOW, onConflict: 'overwrite' })
  )))
  t.equal(results.filter(({ status }) => status === 'rejected').length, 0)
  t.equal((await store.statistics(home, NOW)).memoryCount, 50)
})

t.test('equal hits of several banks are in the order of the request, however long each search takes', async (t) => {
  const read: Executor['read'] = async (text, params, options) => {
    if (params?.[1] === 'slow') await setTimeout(50)
    return await database.read(text, params, options)
  }
  const store = await storeIn({ ...before('', async () => {}), read }, { schema: schemaIn(t, database) })
  const banks = [bank('slow'), bank('quick')]
  const memories = await newMemories(['otter'], { vectors: [[1, 0, 0, 0]] })
  for (const each of banks) await store.insert(each, memories, { now: NOW })
  for (const order of [banks, banks.toReversed()]) {
    t.strictSame((await lexical(store, order, 'otter')).map(({ bank }) => bank), order)
    t.strictSame((await semantic(store, order, [1, 0, 0, 0])).map(({ bank }) => bank), order)
  }
})

t.test('expired memories are not in the statistics from which scores are computed', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  await store.insert(home, await newMemories(['otter river', 'boat']), { now: NOW })
  const scores = async (now: number) => (await lexical(store, [home], 'otter boat', { now })).map(({ score }) => score)
  const expected = await scores(NOW)
  await store.insert(
    home, await newMemories(['otter', 'otter stone', 'otter lamp'], { expiresAt: NOW + 1 }), { now: NOW },
  )
  t.strictSame(await scores(NOW + 1), expected)
})

t.test('a filter that few memories of an indexed bank pass hides ' +
  'none of them', { ...POSTGRES, timeout: 120_000 }, async (t) => {
  const schema = schemaIn(t, database)
  await storeIn(database, { schema })
  const [size, few] = [24_000, 5]
  await database.query(`insert into ${schema}.embedding_spaces values (E'\\x1fhome', $1, $2::int)`, [
    CONTRACT_SPACE.model, CONTRACT_SPACE.dimensions,
  ])
  await database.query(`insert into ${schema}.memories
      (bank_key, memory_id, fingerprint, text, tags, metadata, retained_at, changed_at, tokens, trust, version, state,
        supersedes, kind, derived_from, passage_starts, passage_ends, terms, passages_length, embedded, question)
    select E'\\x1fhome', gen_random_uuid(), i::text, 'text',
      case when i <= ${few} then '{few}' else '{many}' end::text[],
      '{}', i, i, 1, 'trusted', 1, 'current', '{}', 'memory', '{}', '{0}', '{4}', '{}', 1, true, false
    from generate_series(1, ${size}) i`)
  await database.query(`insert into ${schema}.embeddings select E'\\x1fhome', $1, m.memory_id, 0, $2::int, null,
    format(case when m.tags = '{few}' then '[-1,0,0,%s]' else '[1,0,0,%s]' end, random())::halfvec
      from ${schema}.memories m`, [CONTRACT_SPACE.model, CONTRACT_SPACE.dimensions])
  await database.query(`insert into ${schema}.bank_statistics values (E'\\x1fhome', 0, ${size}, ${size}, 0, ` +
    `${size}, ${size})`)
  for (const table of ['memories', 'embeddings']) await database.maintain(`analyze ${schema}.${table}`)
  const options = { executor: database, schema, from: size, maxIndexes: 1, build: true, intervalMs: 0 }
  const indexes = new VectorIndexes(options)
  await indexes.update(CONTRACT_SPACE, () => {})
  t.ok(indexes.passagesPerMemory(home) !== undefined)
  const store = new SqlVectorStore({
    executor: before('', async () => {}), schema, bootstrapSchema: true, indexes, sweepIntervalMs: 0,
  })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  t.equal(
    (await semantic(store, [home], [1, 0, 0, 0], {
      limit: 10, filters: { tags: { values: ['few'], match: 'any' } },
    })).length,
    few,
  )
  await store.close()
})
