import { execFile } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { bankKeyString, type BankKey } from '../../../../lib/access/context.js'
import { ALL_BANKS } from '../../../../lib/stores/sql/bank-configs.js'
import { distributeTables, partitionTables } from '../../../../lib/stores/sql/distribution.js'
import type { Executor } from '../../../../lib/stores/sql/executor.js'
import { lockBank } from '../../../../lib/stores/sql/fragments.js'
import { migrate, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import { VectorIndexes } from '../../../../lib/stores/sql/vectors.js'
import { bank, listAll, REMOVE } from '../../../contract/vector-store/setup.js'
import { CITUS_URL, citusStore, distributedSchema, NEEDS_CITUS, openCitus } from '../../../helpers/citus.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'
import { everyOperation, GLOBAL, manyMemories, nextModel, noting } from './every-operation.js'

/** A command that takes `stop HOST:PORT`, which kills the server at once, and `start HOST:PORT`, which waits for it. */
const FAULTS = process.env['TEST_CITUS_FAULTS']
const NEEDS_FAULTS = FAULTS === undefined ? { skip: 'TEST_CITUS_FAULTS is not set' } : NEEDS_CITUS
const run = promisify(execFile)
const fault = async (verb: 'stop' | 'start', place: string) => { await run(FAULTS ?? '', [verb, place]) }

interface Node {
  /** Host and port. */
  place: string
  coordinator: boolean
  url: string
}

async function nodesOf (coordinator: Executor): Promise<Node[]> {
  const rows = await coordinator.query<{ place: string, coordinator: boolean }>(`select
  n.nodename || ':' || n.nodeport as place, n.groupid = 0 as coordinator from pg_dist_node n order by n.groupid`)
  return rows.map((row) => {
    const url = new URL(CITUS_URL ?? '')
    url.host = row.place
    return { ...row, url: url.href }
  })
}

/** Where a bank is. */
async function homeOf (coordinator: Executor, schema: string, key: BankKey): Promise<{ shard: string, place: string }> {
  const [row] = await coordinator.query<{ shard: string, place: string }>(`select s.shardid::text as shard,
  s.nodename || ':' || s.nodeport as place from citus_shards s
where s.shardid = get_shard_id_for_distribution_column($1::regclass, $2::text)`, [
    `${schema}.memories`, bankKeyString(key),
  ])
  return row!
}

/** The cluster, a schema in it, and a store through each of its nodes. */
async function setUp (t: Test) {
  const coordinator = openCitus(t)
  const schema = await distributedSchema(t, coordinator)
  const nodes = await nodesOf(coordinator)
  const executors = nodes.map(({ url }) => openCitus(t, url))
  const stores = await Promise.all(executors.map(async (executor) => await citusStore(executor, schema)))
  return { coordinator, schema, nodes, executors, stores }
}

/** Asserts that statistics, postings and vectors are those of the memories. */
async function isWhole (t: Test, executor: Executor, schema: string): Promise<void> {
  const counted = `select m.bank_key, count(*)::int as memories, sum(cardinality(m.passage_starts))::int as passages,
  (count(*) filter (where m.embedded))::int as embedded from ${schema}.memories m group by m.bank_key order by 1`
  const summed = `select s.bank_key, sum(s.memories)::int as memories, sum(s.passages)::int as passages,
  sum(s.embedded)::int as embedded from ${schema}.bank_statistics s group by s.bank_key having sum(s.memories) <> 0
order by 1`
  t.same(await executor.query(summed), await executor.query(counted), 'statistics')
  for (const table of ['postings', 'embeddings']) {
    t.same(await executor.query(`select count(*)::int as stray from ${schema}.${table} p where not exists (
  select 1 from ${schema}.memories m where m.bank_key = p.bank_key and m.memory_id = p.memory_id)`),
    [{ stray: 0 }], table)
  }
  t.same(await executor.query(`select count(*)::int as bare from ${schema}.memories m where not exists (
  select 1 from ${schema}.postings p where p.bank_key = m.bank_key and p.memory_id = m.memory_id)`), [{ bare: 0 }])
}

t.test('every statement of an operation on one bank reaches one node', NEEDS_CITUS, async (t) => {
  const { coordinator, schema } = await setUp(t)
  const key = bank('home', 'acme')
  let isNoting = false
  const seen = new Map<string, { tasks: number[], nodes: string[], global: boolean }>()
  const executor = noting(coordinator, async (queries, { text, params }) => {
    const tables = [...text.matchAll(/"\."?(\w+)/g)].map(([, name]) => name!)
    if (!isNoting || seen.has(text) || tables.length === 0) return
    const plan = JSON.stringify(await queries.query(`explain (format json) ${text}`, params))
    t.notMatch(plan, /Citus INSERT|"Subplans"/, text)
    seen.set(text, {
      tasks: [...plan.matchAll(/"Task Count":(\d+)/g)].map(([, count]) => Number(count)),
      nodes: [...new Set([...plan.matchAll(/"Node":"([^"]+)"/g)].map(([, node]) => node!))],
      global: tables.includes(GLOBAL),
    })
  })
  const store = new SqlVectorStore({
    executor, schema, distribution: 'citus', bootstrapSchema: false, sweepIntervalMs: 0,
  })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  isNoting = true
  await everyOperation(store, key)
  await store.insert(key, await manyMemories(), { now: NOW })
  t.match(await nextModel(executor, schema).reembed(key, () => {}), { moved: true, settled: true, embedded: 5 })
  isNoting = false
  for (const [text, { tasks, nodes, global }] of seen) {
    const about = text.replaceAll(/\s+/g, ' ').replaceAll(schema, '').slice(0, 90)
    t.comment(`tasks ${tasks.join('+')} on ${nodes.length} node: ${about}`)
    // The list of changes is on every node, and is read where the gateway is connected.
    if (!global) t.same([tasks, nodes.length], [[1], 1], text)
  }
  t.ok(seen.size > 60, `${seen.size} statements`)
  t.equal(new Set([...seen.values()].flatMap(({ nodes, global }) => global ? [] : nodes)).size <= 2, true,
    'that of the bank, and that of the lock of all banks')
})

t.test('tables that have rows are distributed once, and a gateway tells when they are not', NEEDS_CITUS, async (t) => {
  const coordinator = openCitus(t)
  const schema = schemaIn(t, coordinator)
  await migrate(coordinator, schema, readMigrations())
  const open = async (distribution: 'none' | 'citus') => {
    const store = new SqlVectorStore({
      executor: coordinator, schema, distribution, bootstrapSchema: false, sweepIntervalMs: 0,
    })
    await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
    return store
  }
  const plain = await open('none')
  const banks = Array.from({ length: 6 }, (_, number) => bank(`bank-${number}`))
  for (const key of banks) await plain.insert(key, await manyMemories(), { now: NOW })
  await plain.bankConfigs.write(banks[0]!, { document: '{}', updatedAt: NOW, updatedBy: null })
  await t.rejects(open('citus'), { message: /distribution: it is citus, but the tables are not distributed: run/ })
  const worker = openCitus(t, (await nodesOf(coordinator)).find((node) => !node.coordinator)!.url)
  const said: string[] = []
  const info = (line: string) => { said.push(line) }
  await t.rejects(distributeTables({ executor: worker, schema, info }), { message: /this node is a worker/ })
  await distributeTables({ executor: coordinator, schema, info }, 8)
  await distributeTables({ executor: coordinator, schema, info }, 8)
  t.match(said, [/^distributed memories, bank_conf/, 'all tables are distributed'])
  const shards = 'select count(*)::int as shards from pg_dist_shard where logicalrelid = $1::regclass'
  t.same(await coordinator.query(shards, [`${schema}.postings`]), [{ shards: 8 }])
  await t.rejects(open('none'), { message: /distribution: it is none, but the tables are distributed by Citus/ })
  await t.rejects(
    partitionTables({ executor: coordinator, schema, info }, 4), { message: /are distributed by Citus/ },
  )
  const store = await open('citus')
  for (const key of banks) t.equal((await listAll(store, key)).length, 5)
  t.match(await store.bankConfigs.read(banks), [{ config: { document: '{}' } }])
  await isWhole(t, coordinator, schema)
})

t.test('writes through different nodes exclude and see each other', NEEDS_CITUS, async (t) => {
  const { schema, executors, stores } = await setUp(t)
  const key = bank('home')
  let isFree = false
  await executors[0]!.transaction(async (tx) => {
    await tx.query(lockBank(schema), [bankKeyString(key)])
    const other = executors.at(-1)!.transaction(async (tx) => {
      await tx.query(lockBank(schema), [bankKeyString(key)])
      t.ok(isFree, 'the lock of one node is seen by another')
    })
    await setTimeout(300)
    isFree = true
    // It is awaited after the commit.
    void other.catch((error: unknown) => { t.error(error) })
  })
  await executors.at(-1)!.transaction(async (tx) => { await tx.query(lockBank(schema), [ALL_BANKS]) })
  const written = await Promise.all(Array.from({ length: 30 }, async (_, number) => (
    await stores[number % stores.length]!.bankConfigs.write(bank(`bank-${number % 7}`), {
      document: '{}', updatedAt: NOW, updatedBy: null,
    })
  )))
  t.same(written.map(({ revision }) => revision).sort((a, b) => a - b), Array.from({ length: 30 }, (_, at) => at + 1))
})

t.test('simultaneous operations through all nodes leave every bank whole', NEEDS_CITUS, async (t) => {
  const { coordinator, schema, stores } = await setUp(t)
  const banks = [bank('one'), bank('two', 'acme')]
  const sweeper = new Sweeper({ executor: coordinator, schema, intervalMs: 0, vacuum: false })
  const counts = { insert: 0, batch: 0, import: 0, replace: 0, remove: 0, all: 0, bank: 0, attach: 0 }
  const until = Date.now() + 15_000
  let number = 0
  const act = async (store: SqlVectorStore): Promise<void> => {
    const n = number++
    const key = banks[n % 2]!
    const memory = async (name: number) => await newMemory(`word${name} again ${name % 9}`, {
      fingerprint: `f${name % 40}`, documentId: `d${name % 3}`, ...(n % 3 > 0 && { vectors: [[1, n, 0, 0]] }),
    })
    const memories = await Promise.all([n, n + 7, n + 13].map(memory))
    switch (Math.floor(n / 2) % 16) {
      case 0: counts.all++; await store.remove(key, { kind: 'all' }, REMOVE); return
      case 1: counts.import++; await store.import(key, memories, { now: NOW, onConflict: 'overwrite' }); return
      case 2:
        counts.replace++
        await store.replaceDocuments(key, { documentIds: ['d1'], keep: [] }, memories, { now: NOW })
        return
      case 3:
        counts.remove++
        await store.remove(key, { kind: 'filters', filters: { documentIds: ['d2'] } }, REMOVE)
        return
      case 4: if (n % 5 === 0) { counts.bank++; await store.removeBank(key, NOW) } else await sweeper.sweep(NOW); return
      case 5: {
        counts.attach++
        const found = await store.listUnembedded({ now: NOW, limit: 5 })
        for (const { bank: of, memory, fingerprint, passages } of found) {
          const vectors = passages.map(() => Float32Array.of(0, 1, 0, 0))
          await store.attachVectors(of, [{ memoryId: memory.memoryId, fingerprint, vectors }], NOW)
        }
        return
      }
      case 6: case 7: counts.batch++; await store.insert(key, memories, { now: NOW }); return
      default: counts.insert++; await store.insert(key, [memories[0]!], { now: NOW })
    }
  }
  await Promise.all(Array.from({ length: 8 }, async (_, caller) => {
    while (Date.now() < until) await act(stores[caller % stores.length]!)
  }))
  t.comment(JSON.stringify(counts))
  await isWhole(t, coordinator, schema)
})

t.test('a big bank has an index, which every node uses', NEEDS_CITUS, async (t) => {
  const { coordinator, schema, executors, stores } = await setUp(t)
  const key = bank('big')
  await stores[1]!.insert(key, await newMemories(
    Array.from({ length: 40 }, (_, number) => `memory ${number}`), { vectors: [[1, 0, 0, 0]] },
  ), { now: NOW })
  const make = (executor: Executor, build: boolean) => (
    new VectorIndexes({ executor, schema, distribution: 'citus', from: 20, maxIndexes: 2, build })
  )
  const told: string[] = []
  const [builder, user] = [make(coordinator, true), make(executors.at(-1)!, false)]
  for (let round = 0; round < 2; round++) await builder.update(CONTRACT_SPACE, (message) => { told.push(message) })
  t.equal(told.length, 1)
  t.equal(builder.passagesPerMemory(key), 1)
  await user.update(CONTRACT_SPACE, () => {})
  t.equal(user.passagesPerMemory(key), 1)
  const store = new SqlVectorStore({
    executor: executors.at(-1)!,
    schema,
    distribution: 'citus',
    indexes: user,
    bootstrapSchema: false,
    sweepIntervalMs: 0,
  })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  const found = await store.search({
    banks: [key], now: NOW, limit: 5, filters: {}, semantic: { vector: Float32Array.of(1, 0, 0, 0) },
  })
  t.equal(found.semantic?.length, 5)
})

t.test('a bank moves to another node while it is written', NEEDS_CITUS, async (t) => {
  const { coordinator, schema, nodes, stores } = await setUp(t)
  const key = bank('moving')
  await stores[0]!.insert(key, [await newMemory('first')], { now: NOW })
  const { shard, place } = await homeOf(coordinator, schema, key)
  const target = nodes.find((node) => !node.coordinator && node.place !== place)!.place
  let [stored, slowest] = [1, 0]
  const move = { over: false }
  const failures: string[] = []
  const writing = Promise.all(Array.from({ length: 4 }, async (_, writer) => {
    for (let number = 0; !move.over || number < 20; number++) {
      const from = Date.now()
      await stores[writer % stores.length]!.insert(
        key, [await newMemory(`memory ${writer} ${number}`, { vectors: [[1, 0, 0, 0]] })], { now: NOW },
      ).then(() => { stored++ }, (error: unknown) => { failures.push(String(error)) })
      slowest = Math.max(slowest, Date.now() - from)
    }
  }))
  const began = Date.now()
  const [fromNode, toNode] = [place.split(':'), target.split(':')]
  await coordinator.maintain(`select citus_move_shard_placement(${shard}, '${fromNode[0]}', ${fromNode[1]}, ` +
    `'${toNode[0]}', ${toNode[1]}, 'force_logical')`)
  const took = Date.now() - began
  move.over = true
  await writing
  t.equal((await homeOf(coordinator, schema, key)).place, target)
  t.comment(`moved in ${took} ms; ${stored} stored, ${failures.length} failed, slowest ${slowest} ms`)
  t.same(failures, [])
  t.equal((await stores.at(-1)!.scan(key, NOW)).count, stored)
  await isWhole(t, coordinator, schema)
})

/** Names of banks that are on each worker. */
async function banksByPlace (coordinator: Executor, schema: string, nodes: Node[]): Promise<Map<string, BankKey[]>> {
  const byPlace = new Map<string, BankKey[]>(nodes.map(({ place }) => [place, []]))
  for (let number = 0; number < 24; number++) {
    const key = bank(`bank-${number}`)
    byPlace.get((await homeOf(coordinator, schema, key)).place)?.push(key)
  }
  return byPlace
}

/** Writes one memory after the other to a bank until `over`, and counts. */
async function writeUntil (store: SqlVectorStore, key: BankKey, over: () => boolean) {
  const ids: string[] = []
  const failures: string[] = []
  for (let number = 0; !over(); number++) {
    const memory = await newMemory(`memory ${number}`, { vectors: [[1, 0, 0, 0]] })
    await store.insert(key, [memory], { now: NOW })
      .then(() => { ids.push(memory.memoryId) }, async (error: unknown) => {
        failures.push(String(error))
        await setTimeout(50)
      })
  }
  return { ids, failures }
}

for (const victim of ['a worker', 'the coordinator'] as const) {
  t.test(`when ${victim} is killed, the banks of others go on, and nothing is lost`, NEEDS_FAULTS, async (t) => {
    const { coordinator, schema, nodes, stores } = await setUp(t)
    const workers = nodes.filter((node) => !node.coordinator)
    const byPlace = await banksByPlace(coordinator, schema, nodes)
    const killed = victim === 'a worker' ? workers[0]! : nodes.find((node) => node.coordinator)!
    const through = nodes.findIndex((node) => node === workers.at(-1))
    const state = { over: false, down: false }
    const during = { others: 0, failed: 0 }
    const store = stores[through]!
    const banks = workers.flatMap(({ place }) => byPlace.get(place)!.slice(0, 2).map((key) => ({ place, key })))
    const writing = Promise.all(banks.map(async ({ place, key }) => (
      { place, key, ...await writeUntil(store, key, () => state.over) }
    )))
    const counting = (async () => {
      const others = banks.filter(({ place }) => place !== killed.place)
      while (!state.over) {
        await setTimeout(50)
        if (!state.down) continue
        const { key } = others[0]!
        await store.insert(key, [await newMemory('while one is down')], { now: NOW })
          .then(() => { during.others++ }, () => { during.failed++ })
      }
    })()
    await setTimeout(1000)
    await fault('stop', killed.place)
    state.down = true
    try {
      await setTimeout(3000)
    } finally {
      state.down = false
      await fault('start', killed.place)
    }
    await setTimeout(3000)
    state.over = true
    const results = await writing
    await counting
    for (const { place, key, ids, failures } of results) {
      const stored = new Set<string>()
      for await (const { memoryId } of (await store.scan(key, NOW)).memories) stored.add(memoryId)
      const lost = ids.filter((id) => !stored.has(id))
      t.comment(`${key.bankId} on ${place}${place === killed.place ? ' (killed)' : ''}: ${ids.length} acknowledged, ` +
        `${failures.length} failed, ${lost.length} lost ${failures[0] ?? ''}`)
      t.same(lost, [])
      t.ok(ids.length > 10)
      if (place !== killed.place) t.same(failures, [], 'a bank of another node')
    }
    t.comment(`while it was down: ${during.others} writes to others, ${during.failed} failed`)
    t.ok(during.others > 5)
    t.equal(during.failed, 0)
    await isWhole(t, store === undefined ? coordinator : openCitus(t, workers.at(-1)!.url), schema)
  })
}
