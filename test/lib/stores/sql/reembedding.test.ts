import t, { type Test } from 'tap'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { Reembedding, type ReembeddingOptions } from '../../../../lib/stores/sql/reembedding.js'
import type { EmbeddingSpace, NewMemory, VectorStore } from '../../../../lib/stores/vector-store.js'
import { bank, lexical, REMOVE, semantic, texts } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'

const database = await sqlDatabase(t)
const home = bank('home')
const NEW_SPACE: EmbeddingSpace = { model: 'newer', dimensions: 3 }
const COLOURS = ['red', 'green', 'blue']

/** The new model: a direction for each colour. */
function colours (text: string): Float32Array {
  return Float32Array.from(COLOURS.map((colour) => text.includes(colour) ? 1 : 0))
}

function memoriesOf (names: readonly string[]): Promise<NewMemory[]> {
  return Promise.all(names.map(async (text, index) => await newMemory(text, { vectors: [[1, index, 0, 0]] })))
}

function setUp (t: Test) {
  const schema = schemaIn(t, database)
  const embedded: string[] = []
  return {
    embedded,
    open: async (space: EmbeddingSpace = CONTRACT_SPACE, warn?: (message: string) => void): Promise<VectorStore> => (
      await storeIn(database, { schema, space, ...(warn !== undefined && { warn }) })
    ),
    reembedding: (options: Partial<ReembeddingOptions> = {}) => new Reembedding({
      executor: database,
      schema,
      space: NEW_SPACE,
      batch: 2,
      pause: async () => {},
      embed: async (list) => {
        embedded.push(...list)
        return list.map(colours)
      },
      ...options,
    }),
    models: async () => (
      await database.read<{ model: string, vectors: number }>('select model, count(*)::int as vectors from ' +
        `${schema}.embeddings group by model order by model`)
    ),
    statistics: async () => (
      (await database.read<object>('select sum(memories)::int as memories, sum(embedded)::int as embedded from ' +
        `${schema}.bank_statistics`))[0]
    ),
  }
}

t.test('a bank moves to another model: every memory has a vector of the new one, and none of the old ' +
  'one is left', async (t) => {
  const { open, reembedding, embedded, models, statistics } = setUp(t)
  const old = await open()
  await old.insert(
    home, await memoriesOf(['red one', 'green two', 'blue three', 'red four', 'green five']), { now: NOW },
  )
  await t.rejects(open(NEW_SPACE), new ProviderError('embedding_provider: the configured one makes vectors of newer ' +
    '(3 dimensions), but 1 bank has vectors of contract (4 dimensions). Vectors of two models cannot be compared: ' +
    'configure the provider that made them, or move the banks with `npm run reembed` (node dist/scripts/reembed.js)'))

  const progress: string[] = []
  t.match(
    await reembedding().reembed(home, ({ done, total }) => { progress.push(`${done}/${total}`) }),
    { embedded: 5, moved: true },
  )
  t.strictSame(progress.slice(0, 4), ['0/5', '2/5', '4/5', '5/5'])
  t.equal(embedded.length, 5)
  t.strictSame(await models(), [{ model: 'newer', vectors: 5 }])
  t.strictSame(await statistics(), { memories: 5, embedded: 5 })

  const store = await open(NEW_SPACE)
  t.strictSame(texts(await semantic(store, [home], [0, 1, 0], { limit: 2 })), ['green two', 'green five'])
  await t.rejects(open(CONTRACT_SPACE), ProviderError, 'a server of the old provider no longer starts')
  t.strictSame(
    await reembedding().reembed(home, () => {}), { embedded: 0, moved: false, settled: true },
    'a second run finds nothing to do',
  )
})

t.test('a bank is searched by its old vectors until the move, and concurrent writes are kept', async (t) => {
  const { open, reembedding, models, statistics } = setUp(t)
  const old = await open()
  const [first, , third] = await memoriesOf(['red one', 'green two', 'blue three']) as [NewMemory, NewMemory, NewMemory]
  await old.insert(home, [first, third], { now: NOW })
  let call = 0
  const { moved, embedded } = await reembedding({
    batch: 1,
    embed: async (list) => {
      call++
      if (call === 1) {
        t.strictSame(
          texts(await semantic(old, [home], [1, 0, 0, 0], { limit: 1 })), ['red one'], 'searched by the old model',
        )
        await old.insert(home, [await newMemory('green meanwhile', { vectors: [[0, 0, 1, 0]] })], { now: NOW })
        // Forgotten between the look at it and the insert of its vector.
        await old.remove(home, { kind: 'ids', memoryIds: [first.memoryId] }, REMOVE)
      }
      return list.map(colours)
    },
  }).reembed(home, () => {})
  t.ok(moved)
  t.equal(embedded, 3)
  t.strictSame(await models(), [{ model: 'newer', vectors: 2 }])
  t.strictSame(await statistics(), { memories: 2, embedded: 2 })
  t.strictSame(texts(await semantic(await open(NEW_SPACE), [home], [0, 1, 0], { limit: 1 })), ['green meanwhile'])
})

t.test('a text that is replaced while the vector of the old text is computed gets a vector of its own', async (t) => {
  const { open, reembedding, models, statistics } = setUp(t)
  const old = await open()
  const memories = await memoriesOf(['red one', 'blue two', 'blue three']) as [NewMemory, NewMemory, NewMemory]
  await old.insert(home, memories, { now: NOW })
  const { memoryId } = memories[0]
  const seen: string[] = []
  await reembedding({
    embed: async (list) => {
      if (seen.length === 0) {
        const green = await newMemory('green one', { memoryId, vectors: [[0, 0, 1, 0]] })
        await old.import(home, [green], { now: NOW, onConflict: 'overwrite' })
      }
      seen.push(...list)
      return list.map(colours)
    },
  }).reembed(home, () => {})
  t.ok(seen.includes('red one') && seen.includes('green one'))
  t.strictSame(await models(), [{ model: 'newer', vectors: 3 }])
  t.strictSame(await statistics(), { memories: 3, embedded: 3 })
  const store = await open(NEW_SPACE)
  t.strictSame((await semantic(store, [home], [1, 0, 0])).filter(({ score }) => score > 0), [])
  t.strictSame(texts(await semantic(store, [home], [0, 1, 0], { limit: 1 })), ['green one'])
})

t.test('an equal text that is split otherwise while its vectors are computed gets those of its ' +
  'new passages', async (t) => {
  const { open, reembedding, models, statistics } = setUp(t)
  const old = await open()
  const text = 'red one is the first part. green two is the second part.'
  const memory = await newMemory(text, { vectors: [[1, 0, 0, 0]] })
  await old.insert(home, [memory], { now: NOW })
  const { memoryId, fingerprint } = memory
  const seen: string[] = []
  await reembedding({
    embed: async (list) => {
      if (seen.length === 0) {
        const vectors = [[1, 0, 0, 0], [0, 1, 0, 0]]
        const split = await newMemory(text, { memoryId, fingerprint, chunkMaxCharacters: 30, vectors })
        await old.import(home, [split], { now: NOW, onConflict: 'overwrite' })
      }
      seen.push(...list)
      return list.map(colours)
    },
  }).reembed(home, () => {})
  t.strictSame(seen.length, 3)
  t.strictSame(await models(), [{ model: 'newer', vectors: 2 }])
  t.strictSame(await statistics(), { memories: 1, embedded: 1 })
})

t.test('an interrupted run continues where it was', async (t) => {
  const { open, reembedding, embedded, models } = setUp(t)
  const old = await open()
  await old.insert(home, await memoriesOf(['red one', 'green two', 'blue three', 'red four']), { now: NOW })
  let calls = 0
  const broken = reembedding({
    embed: async (list) => {
      if (++calls === 2) throw new Error('the model went away')
      embedded.push(...list)
      return list.map(colours)
    },
  })
  await t.rejects(broken.reembed(home, () => {}), new Error('the model went away'))
  t.strictSame(await models(), [{ model: 'contract', vectors: 4 }, { model: 'newer', vectors: 2 }])
  t.equal((await semantic(old, [home], [1, 0, 0, 0])).length, 4, 'the bank is still the old model\'s')
  await reembedding().reembed(home, () => {})
  t.strictSame([...embedded].sort(), ['blue three', 'green two', 'red four', 'red one'], 'no text was embedded twice')
  t.strictSame(await models(), [{ model: 'newer', vectors: 4 }])
})

t.test('after the move a server of the old model searches by words, and the next run adds vectors', async (t) => {
  const { open, reembedding, statistics } = setUp(t)
  const warnings: string[] = []
  const old = await open(
    CONTRACT_SPACE, (message) => { if (message.startsWith('embedding_provider')) warnings.push(message) },
  )
  await old.insert(home, await memoriesOf(['red one', 'green two']), { now: NOW })
  await reembedding().reembed(home, () => {})
  const answer = await old.search({
    banks: [home],
    now: NOW,
    filters: {},
    limit: 10,
    lexical: { terms: ['red'], k1: 0.9, length: { pivot: 25 }, context: true },
    semantic: { vector: Float32Array.of(1, 0, 0, 0) },
  })
  t.strictSame([texts(answer.lexical!), texts(answer.semantic!), answer.total], [['red one'], [], 1])

  await old.insert(home, [await newMemory('blue late', { vectors: [[1, 0, 0, 0]] })], { now: NOW })
  await old.insert(home, [await newMemory('blue later', { vectors: [[1, 0, 0, 0]] })], { now: NOW })
  t.match(warnings, [/^embedding_provider: the bank home was moved to another model/], 'said once')
  t.strictSame(await statistics(), { memories: 4, embedded: 2 })
  const newer: string[] = []
  const store = await open(NEW_SPACE, (message) => { newer.push(message) })
  t.match(newer, [/^embedding_provider: 2 memories have no vector/])
  t.strictSame(texts(await lexical(store, [home], 'late')), ['blue late'], 'found by its words')
  t.strictSame(await reembedding().reembed(home, () => {}), { embedded: 2, moved: false, settled: true })
  t.strictSame(await statistics(), { memories: 4, embedded: 4 })
  t.strictSame(texts(await semantic(store, [home], [0, 0, 1], { limit: 2 })), ['blue late', 'blue later'])
})

t.test('a bank without vectors gets them', async (t) => {
  const { open, reembedding, statistics } = setUp(t)
  const store = await open(NEW_SPACE)
  await store.insert(home, await newMemories(['red one', 'green two']), { now: NOW })
  t.strictSame(await reembedding().banks(), [{ bank: home, memories: 2 }])
  t.strictSame(await reembedding().reembed(home, () => {}), { embedded: 2, moved: false, settled: true })
  t.strictSame(await statistics(), { memories: 2, embedded: 2 })
  t.strictSame(texts(await semantic(store, [home], [1, 0, 0], { limit: 1 })), ['red one'])
})

t.test('an emptied bank is free for another model', async (t) => {
  const { open, models } = setUp(t)
  await (await open()).insert(home, await memoriesOf(['red one']), { now: NOW })
  await (await open()).remove(home, { kind: 'all' }, REMOVE)
  const store = await open(NEW_SPACE)
  await store.insert(home, [await newMemory('green two', { vectors: [[0, 1, 0]] })], { now: NOW })
  t.strictSame(await models(), [{ model: 'newer', vectors: 1 }])
})
