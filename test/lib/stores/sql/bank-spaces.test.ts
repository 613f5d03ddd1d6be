import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { bankKeyString } from '../../../../lib/access/context.js'
import type { Queries } from '../../../../lib/stores/sql/executor.js'
import { makeSpaceStatements } from '../../../../lib/stores/sql/vectors.js'
import type { EmbeddingSpace } from '../../../../lib/stores/vector-store.js'
import { bank, REMOVE, semantic, texts } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { DATABASE_URL } from '../../../helpers/sql-stores.js'

const database = await sqlDatabase(t)
const home = bank('home')
const KEY = [bankKeyString({ tenantId: null, bankId: 'home' })]
const OTHER_SPACE: EmbeddingSpace = { model: 'other', dimensions: 3 }
const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }

/** Two stores of different models on one schema, which start while there are no vectors. */
async function setUp (t: Test) {
  const schema = schemaIn(t, database)
  const [one, other] = [await storeIn(database, { schema }), await storeIn(database, { schema, space: OTHER_SPACE })]
  return {
    schema,
    one,
    other,
    ofOne: await newMemory('red one', { vectors: [[1, 0, 0, 0]] }),
    ofOther: await newMemory('green other', { vectors: [[0, 1, 0]] }),
    models: async () => (
      (await database.read<{ model: string }>(`select model from ${schema}.embeddings`)).map(({ model }) => model)
    ),
    spaces: async () => (
      (await database.read<{ model: string }>(`select model from ${schema}.embedding_spaces`)).map(({ model }) => model)
    ),
    embedded: async () => (
      (await database.read<{ text: string }>(`select text from ${schema}.memories ` +
        'where embedded')).map(({ text }) => text)
    ),
  }
}

/** Waits until so many sessions wait for the transaction, or for those that wait for it. */
async function waitersOf (tx: Queries, count: number): Promise<void> {
  const [own] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
  for (;;) {
    const [found] = await database.read<{ count: number }>(`with direct as (
  select a.pid from pg_stat_activity a where $1::int = any(pg_blocking_pids(a.pid))
)
select count(distinct a.pid)::int as count from pg_stat_activity a
where pg_blocking_pids(a.pid) && (select array_agg(d.pid) || $1::int from direct d)`, [own!.pid])
    if (found!.count === count) return
    await setTimeout(10)
  }
}

t.test('of two models whose first vectors come at once a bank has those of one', POSTGRES, async (t) => {
  const { schema, one, other, ofOne, ofOther, models, spaces, embedded } = await setUp(t)
  // The row that every insert updates last, so that both of them can be held before their commit.
  const rows = `insert into ${schema}.bank_statistics select E'\\x1fhome', shard, 0, 0, 0, 0, 0
    from generate_series(0, 7) shard`
  await database.query(rows)
  let writes: Array<Promise<unknown>> = []
  await database.transaction(async (tx) => {
    await tx.query(`select from ${schema}.bank_statistics where bank_key = $1 for update`, KEY)
    writes = [one.insert(home, [ofOne], { now: NOW })]
    await waitersOf(tx, 1)
    writes.push(other.insert(home, [ofOther], { now: NOW }))
    await waitersOf(tx, 2)
  })
  await Promise.all(writes)
  t.strictSame(await models(), ['contract'])
  t.strictSame(await spaces(), ['contract'])
  t.strictSame(await embedded(), ['red one'])
  t.strictSame(texts(await semantic(one, [home], [1, 0, 0, 0])), ['red one'])
})

t.test('vectors of the model that a bank has just lost are not stored', POSTGRES, async (t) => {
  const { schema, one, ofOne, models, spaces, embedded } = await setUp(t)
  await one.insert(home, [await newMemory('first', { vectors: [[1, 0, 0, 0]] })], { now: NOW })
  await one.remove(home, { kind: 'all' }, REMOVE)
  const statements = makeSpaceStatements(schema)
  const { model, dimensions } = OTHER_SPACE
  let write: Promise<unknown> | undefined
  await database.transaction(async (tx) => {
    await tx.query(statements.lock, KEY)
    write = one.insert(home, [ofOne], { now: NOW })
    await waitersOf(tx, 1)
    await tx.query(statements.free, [...KEY, model, dimensions])
    await tx.query(statements.adopt, [...KEY, model, dimensions])
  })
  await write
  t.strictSame(await models(), [])
  t.strictSame(await spaces(), ['other'])
  t.strictSame(await embedded(), [])
})

t.test('a bank without vectors is given to the model that writes first, one with vectors to none', async (t) => {
  const { one, other, ofOne, ofOther, models, spaces } = await setUp(t)
  await one.insert(home, [ofOne], { now: NOW })
  await other.insert(home, [ofOther], { now: NOW })
  t.strictSame(await models(), ['contract'])
  await one.remove(home, { kind: 'all' }, REMOVE)
  await other.insert(home, [ofOther], { now: NOW })
  t.strictSame(await models(), ['other'])
  t.strictSame(await spaces(), ['other'])
  await one.insert(home, [ofOne], { now: NOW })
  t.strictSame(await models(), ['other'])
})

t.test('a deleted bank has no space, and any store gives it one again with its next vectors', async (t) => {
  const { schema, one, models, spaces, embedded } = await setUp(t)
  const replica = await storeIn(database, { schema })
  const named = async (text: string) => await newMemory(text, { vectors: [[1, 0, 0, 0]] })
  const late = await newMemory('late')
  const { memoryId, fingerprint } = late
  const writes: Array<[string[], () => Promise<unknown>]> = [
    [['alone'], async () => await one.insert(home, [await named('alone')], { now: NOW })],
    [['batch 1', 'batch 2'], async () => (
      await one.insert(home, [await named('batch 1'), await named('batch 2')], { now: NOW })
    )],
    [['pair 1', 'pair 2'], async () => (
      await Promise.all(
        ['pair 1', 'pair 2'].map(async (text) => await one.insert(home, [await named(text)], { now: NOW })),
      )
    )],
    [['imported'], async () => await one.import(home, [await named('imported')], { now: NOW, onConflict: 'skip' })],
    [['late'], async () => {
      await one.insert(home, [late], { now: NOW })
      const vectors = [new Float32Array([1, 0, 0, 0])]
      t.equal(await one.attachVectors(home, [{ memoryId, fingerprint, vectors }], NOW), 1)
    }],
  ]
  await one.insert(home, [await named('first')], { now: NOW })
  for (const [written, write] of writes) {
    t.equal((await replica.removeBank(home, NOW)).memoryCount > 0, true)
    t.strictSame([await spaces(), await models()], [[], []])
    await write()
    t.strictSame(await spaces(), ['contract'])
    t.strictSame((await embedded()).sort(), written)
    t.strictSame(texts(await semantic(one, [home], [1, 0, 0, 0])).sort(), written)
  }
})

t.test('a bank that gets a vector while it is deleted keeps its space', POSTGRES, async (t) => {
  const { schema, one, ofOne, spaces, models } = await setUp(t)
  await one.insert(home, [ofOne], { now: NOW })
  const replica = await storeIn(database, { schema })
  await database.transaction(async (tx) => {
    // As a write of vectors holds it until its commit.
    await tx.query(`select from ${schema}.embedding_spaces where bank_key = $1 for key share`, KEY)
    t.same(await replica.removeBank(home, NOW), { memoryCount: 1, configRemoved: false })
  })
  t.strictSame([await spaces(), await models()], [['contract'], []])
})
