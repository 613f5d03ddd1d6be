import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bankKeyString, type BankKey } from '../../../../lib/access/context.js'
import { packageFile } from '../../../../lib/base/package-file.js'
import type { Executor, Param, Queries, Transaction } from '../../../../lib/stores/sql/executor.js'
import { migrate, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { Reembedding } from '../../../../lib/stores/sql/reembedding.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { bank, listAll, REMOVE, texts } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'

const PARTITIONS = 4
/** The tables of memories and all that belongs to one bank; the list of changes of configurations is of all banks. */
const GLOBAL = 'bank_configuration_changes'
/** Its key is one text, which begins with the bank's key. */
const RATES = 'rate_limits'

interface Sent {
  text: string
  params: readonly Param[]
}

/** An executor that notes each statement before it is run. */
function noting (executor: Executor, note: (queries: Queries, sent: Sent) => Promise<void>): Executor {
  const noted = (queries: Queries): Queries['query'] => async (text, params = []) => {
    await note(queries, { text, params })
    return await queries.query(text, params)
  }
  const plain: Queries = { query: async (text, params) => await executor.query(text, params) }
  return {
    query: noted(plain),
    read: noted(plain),
    transaction: async (work, options) => await executor.transaction(async (tx) => {
      const inside: Transaction = { query: noted(tx), script: async (text) => { await tx.script(text) } }
      return await work(inside)
    }, { ...options, snapshot: false }),
    maintain: async (text) => { await executor.maintain(text) },
    close: async () => {},
  }
}

/** The tables of the migration, those of banks divided among partitions by the hash of the bank's key. */
async function partitionedSchema (t: Test, database: Executor): Promise<string> {
  const schema = schemaIn(t, database)
  const [migration, ...more] = readMigrations()
  t.same(more, [])
  const tables: string[] = []
  const sql = migration!.sql.replaceAll(/(create table (\w+) \([^]*?\n\))( with \([^)]*\))?;/g, (
    whole, definition: string, name: string,
  ) => {
    if (name === GLOBAL) return whole
    tables.push(name)
    return `${definition} partition by hash (bank_key);\n${Array.from({ length: PARTITIONS }, (_, n) => (
      `create table ${name}_part${n} partition of ${name} for values with (modulus ${PARTITIONS}, remainder ${n});`
    )).join('\n')}`
  })
  t.ok(tables.length >= 9)
  await migrate(database, schema, [{ ...migration!, sql }])
  return schema
}

/** Memories of which some have documents, tags, speakers, times and an end. */
async function manyMemories (): Promise<NewMemory[]> {
  const vectors = [[1, 0, 0, 0]]
  return [
    ...await newMemories(['An otter swims.', 'Where does it sleep?', 'In the reeds.'], {
      documentId: 'diary', vectors,
    }),
    await newMemory('A heron waits.', { tags: ['bird'], occurredAt: NOW - 5, vectors }),
    await newMemory('A note that ends.', { expiresAt: NOW + 5, vectors }),
  ]
}

/** Does every operation on a bank, writes and reads, once; afterwards it has no memory and no configuration. */
async function everyOperation (store: SqlVectorStore, key: BankKey): Promise<void> {
  const filters = {}
  const keyed = { key: 'k'.repeat(64), requestFingerprint: 'f', context: 'null' }
  const [late, ...memories] = await manyMemories()
  await store.insert(key, memories, { now: NOW, idempotency: keyed })
  await store.findIdempotencyRecord(key, keyed.key, NOW)
  const bare = { ...late!, passages: late!.passages.map(({ vector: _, ...passage }) => passage) }
  await store.insert(key, [bare], { now: NOW })
  await store.insert(key, [{ ...await newMemory('higher'), fingerprint: 'same', trust: 'suspect' }], { now: NOW })
  await store.insert(key, [{ ...await newMemory('higher'), fingerprint: 'same', trust: 'trusted' }], { now: NOW })
  await store.attachVectors(key, [{
    memoryId: bare.memoryId, fingerprint: bare.fingerprint, vectors: late!.passages.map(({ vector }) => vector!),
  }], NOW)
  const lexical = { terms: ['otter', 'heron'], k1: 0.9, length: { pivot: 25 }, context: true }
  const semantic = { vector: Float32Array.of(1, 0, 0, 0) }
  for (const strategies of [{ lexical }, { semantic }, { lexical, semantic }]) {
    for (const some of [filters, { tags: { values: ['bird'], match: 'any' as const } }, { documentIds: ['diary'] }]) {
      await store.search({ banks: [key], now: NOW, limit: 5, filters: some, ...strategies })
    }
  }
  await store.get(key, bare.memoryId, NOW)
  await store.findRepeated(key, bare.fingerprint, NOW)
  await store.list(key, { now: NOW, limit: 2, filters })
  await store.countMemories(key, { now: NOW, filters, limit: 5 })
  await store.neighbours(key, bare.memoryId, { now: NOW, before: 2, after: 2 })
  await store.statistics(key, NOW)
  await store.countByDay(key, { now: NOW, from: 0, until: 30_000 })
  let scanned = 0
  for await (const { memoryId } of (await store.scan(key, NOW)).memories) scanned += memoryId.length > 0 ? 1 : 0
  if (scanned === 0) throw new Error('The scan is empty')
  await store.import(key, memories, { now: NOW, onConflict: 'overwrite' })
  await store.replaceDocuments(
    key, { documentIds: ['diary'], keep: [] },
    await newMemories(['New.'], { documentId: 'diary' }), { now: NOW },
  )
  const change = { updatedAt: NOW, updatedBy: null }
  await store.bankConfigs.write(key, { document: '{}', ...change })
  await store.bankConfigs.write(key, { document: null, ...change })
  await store.bankConfigs.write(key, { document: '{}', ...change })
  await store.bankConfigs.read([key])
  await store.bankConfigs.history(key, { limit: 9 })
  const usage = { bank: key, day: 1, counter: 'c', amount: 1 }
  await store.reserveUsage([{ ...usage, limit: 9 }, { ...usage, counter: 'd', limit: 9 }])
  await store.adjustUsage([usage])
  await store.countRate?.(`${bankKeyString(key)} recall`, 1)
  await store.countRate?.(`${bankKeyString(key)} recall`, -1)
  await store.remove(key, { kind: 'ids', memoryIds: [bare.memoryId] }, REMOVE)
  await store.remove(key, { kind: 'filters', filters: { documentIds: ['diary'] } }, REMOVE)
  await store.remove(key, { kind: 'all' }, { ...REMOVE, dryRun: true })
  await store.remove(key, { kind: 'all' }, REMOVE)
  await store.removeBank(key, NOW)
}

/** Partitions of the plan of a statement: the numbers of those that it names. */
function partitionsOf (plan: string): string[] {
  return [...new Set([...plan.matchAll(/"\w+_part(\d+)"/g)].map(([, number]) => number!))]
}

const database = await sqlDatabase(t)

async function openStore (t: Test, schema: string, executor: Executor): Promise<SqlVectorStore> {
  const store = new SqlVectorStore({ executor, schema, bootstrapSchema: false, sweepIntervalMs: 0 })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: (message) => { t.comment(message) } })
  return store
}

t.test('every statement of an operation on one bank has its key first, and reaches one partition', async (t) => {
  const schema = await partitionedSchema(t, database)
  const key = bank('home', 'acme')
  let isNoting = false
  const seen = new Map<string, string[]>()
  const store = await openStore(t, schema, noting(database, async (queries, { text, params }) => {
    if (!isNoting || seen.has(text)) return
    const tables = [...text.matchAll(/"\."?(\w+)/g)].map(([, name]) => name!)
    if (tables.length > 0 && tables.every((name) => name === GLOBAL)) return
    seen.set(text, [])
    // A statement without a table is of the transaction, or a lock, whose name has the bank or the schema.
    if (tables.length === 0) return
    const own = params[0]
    if (tables.includes(RATES)) t.equal(own, `${bankKeyString(key)} recall`, text)
    else t.same(Array.isArray(own) ? own : [own], [bankKeyString(key)], text)
    const rows = await queries.query(`explain (format json) ${text}`, params)
    seen.set(text, partitionsOf(JSON.stringify(rows)))
  }))
  isNoting = true
  await everyOperation(store, key)
  isNoting = false
  t.ok(seen.size > 40, `${seen.size} statements`)
  t.ok([...seen.values()].filter((partitions) => partitions.length === 1).length > 30)
  for (const [text, partitions] of seen) if (partitions.length > 1) t.fail(`reaches ${partitions.join(', ')}: ${text}`)
  t.equal(new Set([...seen.values()].flat()).size, 1, 'all tables have the bank in the same partition')
})

t.test('moving a bank to another model reaches one partition', async (t) => {
  const schema = await partitionedSchema(t, database)
  const key = bank('home', 'acme')
  const store = await openStore(t, schema, noting(database, async () => {}))
  await store.insert(key, await manyMemories(), { now: NOW })
  const found: string[][] = []
  const executor = noting(database, async (queries, { text, params }) => {
    if (params[0] !== bankKeyString(key) || !text.includes(schema)) return
    found.push(partitionsOf(JSON.stringify(await queries.query(`explain (format json) ${text}`, params))))
  })
  const reembedding = new Reembedding({
    executor,
    schema,
    space: { model: 'next', dimensions: 2 },
    embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
    batch: 2,
    pause: async () => {},
  })
  t.match(await reembedding.reembed(key, () => {}), { moved: true, embedded: 5 })
  t.ok(found.length > 5)
  t.same(found.filter(({ length }) => length > 1), [])
})

t.test('a forget in one bank leaves all others whole, whatever partition they are in', async (t) => {
  const schema = await partitionedSchema(t, database)
  const store = await openStore(t, schema, noting(database, async () => {}))
  const banks = Array.from({ length: 12 }, (_, number) => bank(`bank-${number}`, number % 2 === 0 ? null : 'acme'))
  for (const key of banks) await store.insert(key, await manyMemories(), { now: NOW })
  const rows = async () => new Map((await database.query<{ bank_key: string, rows: string }>(`
select m.bank_key, concat_ws(' ', count(*), (select count(*) from ${schema}.postings p where p.bank_key = m.bank_key),
  (select count(*) from ${schema}.embeddings e where e.bank_key = m.bank_key)) as rows
from ${schema}.memories m group by m.bank_key`)).map((row) => [row.bank_key, row.rows]))
  const before = await rows()
  t.equal(new Set(before.values()).size, 1, 'all have the same')
  for (const [number, key] of banks.entries()) {
    const memories = await listAll(store, key)
    if (number % 3 === 0) await store.remove(key, { kind: 'all' }, REMOVE)
    else if (number % 3 === 1) {
      await store.remove(key, { kind: 'ids', memoryIds: memories.map(({ memoryId }) => memoryId) }, REMOVE)
    } else await store.remove(key, { kind: 'filters', filters: { retainedAfter: 0 } }, REMOVE)
    before.delete(bankKeyString(key))
    t.same(await rows(), before, `after a forget in ${key.bankId}`)
    for (const other of banks.slice(number + 1, number + 3)) {
      t.equal(texts(await listAll(store, other)).length, 5)
    }
  }
})

/** Keys, constraints and indexes of a script that do not begin with the bank's key, and tables that lack one. */
function looseKeys (sql: string): string[] {
  const code = sql.replaceAll(/--.*$/gm, '')
  const tables = [...code.matchAll(/create (?:unlogged )?table (\w+) \(([^]*?)\n\)/g)]
    .map(([, name = '', body = '']) => ({ name, body }))
    .filter(({ name, body }) => name !== RATES || !body.endsWith('\n  primary key (key)'))
  const keys = tables.filter(({ name }) => name !== GLOBAL)
    .flatMap(({ body }) => [...body.matchAll(/(?:primary key|unique)(?: \(([^)]*)\))?/g)].map(([, columns]) => columns))
  const indexes = [...code.matchAll(/create (?:unique )?index \w+ on \w+ (?:using \w+ )?\(([^)]*)/g)]
    .map(([, columns]) => columns)
  return [
    ...[...keys, ...indexes].filter((columns) => columns === undefined || !/^bank_key\b/.test(columns)).map(String),
    ...tables.filter(({ name, body }) => name !== GLOBAL && !/\n {2}primary key \(bank_key\b/.test(body))
      .map(({ name }) => name),
  ]
}

t.test('every key and index of the schema begins with the key of the bank', (t) => {
  t.same(looseKeys(readFileSync(join(packageFile('migrations'), '0001_memories.sql'), 'utf8')), [])
  for (const bad of [
    'create index a on memories (memory_id);',
    'create index a on embeddings using hnsw (embedding halfvec_cosine_ops);',
    'create table a (\n  bank_key text not null,\n  primary key (memory_id)\n);',
    'create table a (\n  id int primary key\n);',
    'create table a (\n  bank_key text not null\n);',
    'create unlogged table a (\n  key text not null,\n  primary key (key)\n);',
  ]) t.not(looseKeys(bad).length, 0, bad)
  t.end()
})
