import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bankKeyString } from '../../../../lib/access/context.js'
import { packageFile } from '../../../../lib/base/package-file.js'
import { ALL_BANKS } from '../../../../lib/stores/sql/bank-configs.js'
import { partitionTables } from '../../../../lib/stores/sql/distribution.js'
import type { Executor } from '../../../../lib/stores/sql/executor.js'
import { lockBank } from '../../../../lib/stores/sql/fragments.js'
import { migrate, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { VectorIndexes } from '../../../../lib/stores/sql/vectors.js'
import { bank, listAll, REMOVE, texts } from '../../../contract/vector-store/setup.js'
import { NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'
import { everyOperation, GLOBAL, manyMemories, nextModel, noting } from './every-operation.js'

const PARTITIONS = 4
/** Its key is one text, which begins with the bank's key. */
const RATES = 'rate_limits'

/** The tables of the migration, those of banks divided among partitions by the hash of the bank's key. */
async function partitionedSchema (t: Test, database: Executor): Promise<string> {
  const schema = schemaIn(t, database)
  await migrate(database, schema, readMigrations())
  await partitionTables({ executor: database, schema, info: () => {} }, PARTITIONS)
  return schema
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
    if (tables.length === 0 || (text === lockBank(schema) && params[0] === ALL_BANKS)) return
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
  t.match(await nextModel(executor, schema).reembed(key, () => {}), { moved: true, embedded: 5 })
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

t.test('tables that have rows are divided without a change, and once', async (t) => {
  const schema = schemaIn(t, database)
  await migrate(database, schema, readMigrations())
  const store = await openStore(t, schema, noting(database, async () => {}))
  const banks = Array.from({ length: 8 }, (_, number) => bank(`bank-${number}`))
  for (const key of banks) await store.insert(key, await manyMemories(), { now: NOW })
  await store.bankConfigs.write(banks[0]!, { document: '{}', updatedAt: NOW, updatedBy: null })
  const rows = async (table: string) => await database.query(
    `select to_jsonb(x) as row from ${schema}.${table} x order by to_jsonb(x)::text`,
  )
  const shape = async () => await database.query(`select c.relname as table, i.relname as index,
  replace(pg_get_indexdef(x.indexrelid), ' ON ONLY ', ' ON ') as definition, x.indisprimary as primary
from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
where c.relnamespace = to_regnamespace($1) and not c.relispartition order by 1, 2`, [schema])
  const tables = ['memories', 'postings', 'embeddings', 'bank_statistics', 'bank_configurations']
  const before = [await shape(), ...await Promise.all(tables.map(rows))]
  const said: string[] = []
  const divide = async (count: number) => (
    await partitionTables({ executor: database, schema, info: (line) => { said.push(line) } }, count)
  )
  await divide(3)
  t.same([await shape(), ...await Promise.all(tables.map(rows))], before)
  t.same(await database.query(`select c.relname as name, c.reloptions::text as options from pg_class c
where c.oid in (select inhrelid from pg_inherits where inhparent = $1::regclass) order by 1`, [
    `${schema}.bank_statistics`,
  ]), [0, 1, 2].map((number) => ({ name: `bank_statistics_part${number}`, options: '{fillfactor=50}' })))
  t.equal((await listAll(store, banks[3]!)).length, 5)
  t.equal((await store.remove(banks[3]!, { kind: 'all' }, REMOVE)).count, 5)
  await divide(3)
  t.match(said, [/^divided into 3 partitions: memories, bank_conf/, 'all tables of banks have 3 partitions'])
  await t.rejects(divide(4), { name: 'ProviderError', message: /has 3 partitions, and that number cannot be changed/ })
})

t.test('a vector index is built on the partition that has its bank', async (t) => {
  const schema = await partitionedSchema(t, database)
  const store = await openStore(t, schema, noting(database, async () => {}))
  const banks = [bank('one'), bank('two')]
  for (const key of banks) await store.insert(key, await manyMemories(), { now: NOW })
  const make = (from: number) => new VectorIndexes({ executor: database, schema, from, maxIndexes: 9, build: true })
  const indexes = make(3)
  const told: string[] = []
  for (let round = 0; round < 2; round++) await indexes.update(CONTRACT_SPACE, (message) => { told.push(message) })
  t.equal(told.length, 2, 'each is built once')
  for (const key of banks) t.type(indexes.passagesPerMemory(key), 'number')
  const places = async () => await database.query<{ table: string }>(`select tablename as table from pg_indexes
where schemaname = $1 and indexname like 'embeddings\\_hnsw\\_%' order by 1`, [schema.slice(1, -1)])
  const homes = await database.query(`select distinct e.bank_key, e.tableoid::regclass::text as name
from ${schema}.embeddings e`)
  t.equal((await places()).length, homes.length)
  t.match(await places(), [{ table: /^embeddings_part\d$/ }, { table: /^embeddings_part\d$/ }])
  await make(0).update(CONTRACT_SPACE, () => {})
  t.same(await places(), [])
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
