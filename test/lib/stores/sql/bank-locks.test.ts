import t from 'tap'
import { ALL_BANKS } from '../../../../lib/stores/sql/bank-configs.js'
import { lockBank } from '../../../../lib/stores/sql/fragments.js'
import { bank, lexical } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { DATABASE_URL, openPostgres } from '../../../helpers/sql-stores.js'

const database = await sqlDatabase(t)
const home = bank('home')
const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }
const KEY = ['\u001fhome']

t.test('operations on a bank in one schema do not wait for those in another', POSTGRES, async (t) => {
  const [one, other] = [schemaIn(t, database), schemaIn(t, database)]
  const store = await storeIn(database, { schema: other })
  await storeIn(database, { schema: one })
  await database.transaction(async (tx) => {
    await tx.query(lockBank(one), KEY)
    // Each of these rejects when it waits for longer than a statement may take.
    const memory = await newMemory('one')
    t.strictSame(
      await store.import(home, [memory], { now: NOW, onConflict: 'skip' }), { imported: 1, skipped: 0, overwritten: 0 },
    )
    const { memoryId, fingerprint } = memory
    const vectors = [Float32Array.of(1, 0, 0, 0)]
    t.equal(await store.attachVectors(home, [{ memoryId, fingerprint, vectors }], NOW), 1)
    t.equal((await store.remove(home, { kind: 'all' }, { now: NOW, dryRun: false, idLimit: 0 })).count, 1)
    await store.import(home, await newMemories(['two', 'three']), { now: NOW, onConflict: 'skip' })
    t.equal((await store.removeBank(home, NOW)).memoryCount, 2)
  })
})

t.test('writes that wait for the right to import into one bank occupy one connection', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const executor = openPostgres(t, { poolSize: 3, poolWaitMs: 1000 })
  const store = await storeIn(executor, { schema })
  const other = bank('other')
  await store.insert(other, [await newMemory('otter')], { now: NOW })
  const memories = await newMemories(['one', 'two'], { documentId: 'letter' })
  const replacement = { documentIds: ['letter'], keep: [] }
  const leaving = new AbortController()
  const writes: Array<Promise<unknown>> = []
  await database.transaction(async (tx) => {
    await tx.query(lockBank(schema), KEY)
    for (let count = 0; count < 3; count++) {
      writes.push(store.removeBank(home, NOW))
      writes.push(store.replaceDocuments(home, replacement, memories, { now: NOW }))
      writes.push(store.import(home, memories, { now: NOW, onConflict: 'skip' }))
    }
    const left = t.rejects(
      store.import(home, memories, { now: NOW, onConflict: 'skip', signal: leaving.signal }), new Error('gone'),
    )
    t.equal((await lexical(store, [other], 'otter')).length, 1, 'others have a connection')
    t.equal(executor.status().inUse, 1)
    leaving.abort(new Error('gone'))
    await left
    const waiting = Array.from({ length: 101 - writes.length }, async () => await store.removeBank(home, NOW))
    await t.rejects(store.removeBank(home, NOW), { name: 'SqlError', kind: 'busy' })
    writes.push(...waiting)
  })
  await Promise.all(writes)
  t.equal((await store.statistics(home, NOW)).memoryCount, 0, 'the last of them removes the bank')
})

t.test('removals of all memories of one bank wait for one another without a connection', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const executor = openPostgres(t, { poolSize: 3, poolWaitMs: 1000 })
  const store = await storeIn(executor, { schema })
  const other = bank('other')
  await store.insert(home, await newMemories(['one', 'two']), { now: NOW })
  await store.insert(other, [await newMemory('otter')], { now: NOW })
  const removeAll = async (signal?: AbortSignal) => (
    (await store.remove(home, { kind: 'all' }, { now: NOW, dryRun: false, idLimit: 0, signal })).count
  )
  const leaving = new AbortController()
  const removals: Array<Promise<number>> = []
  await database.transaction(async (tx) => {
    await tx.query(lockBank(schema), KEY)
    for (let count = 0; count < 4; count++) removals.push(removeAll())
    const left = t.rejects(removeAll(leaving.signal), new Error('gone'))
    t.equal((await lexical(store, [other], 'otter')).length, 1, 'others have a connection')
    t.equal(executor.status().inUse, 1)
    leaving.abort(new Error('gone'))
    await left
    const { count } = await store.remove(home, { kind: 'all' }, { now: NOW, dryRun: true, idLimit: 0 })
    t.equal(count, 2, 'a dry run waits for none of them')
  })
  t.strictSame(await Promise.all(removals), [2, 0, 0, 0])
})

t.test('a bank is not removed for a client that left before its turn', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  await store.insert(home, await newMemories(['one', 'two']), { now: NOW })
  const leaving = new AbortController()
  const removals: Array<Promise<unknown>> = []
  await database.transaction(async (tx) => {
    await tx.query(lockBank(schema), KEY)
    const [first, second] = [store.removeBank(home, NOW, leaving.signal), store.removeBank(home, NOW, leaving.signal)]
    const left = t.rejects(second, new Error('gone'))
    leaving.abort(new Error('gone'))
    await left
    // The first waits for the lock in the database, and finds that its client has left once it has it.
    removals.push(t.rejects(first, new Error('gone')))
  })
  await Promise.all(removals)
  t.equal((await store.statistics(home, NOW)).memoryCount, 2)
})

t.test('within a schema a lock of a bank is exclusive, and no other bank waits for it', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const isFree = async (key: string) => await database.transaction(async (tx) => {
    await tx.query('set local lock_timeout = 50')
    await tx.query(lockBank(schema), [key])
    return true
  }).catch((error: unknown) => {
    // lock_not_available
    if (error instanceof Error && Reflect.get(error, 'code') === '55P03') return false
    throw error
  })
  const locked = async () => (
    await database.read<{ bank_key: string }>(
      `select bank_key from ${schema}.bank_locks where bank_key <> $1 order by 1`, [ALL_BANKS],
    )
  ).map(({ bank_key: key }) => key)
  const whileHeld = async () => await database.transaction(async (tx) => {
    await tx.query(lockBank(schema), KEY)
    return [await isFree('\u001fhome'), await isFree('\u001fother'), await isFree('acme\u001fhome')]
  })
  t.strictSame(await whileHeld(), [false, true, true], 'its row does not exist yet')
  t.strictSame(await whileHeld(), [false, true, true])
  t.strictSame(await isFree('\u001fhome'), true)
  t.strictSame(await locked(), ['\u001fhome', '\u001fother', 'acme\u001fhome'])
  await store.removeBank(home, NOW)
  t.strictSame(await locked(), ['\u001fother', 'acme\u001fhome'], 'a bank that is deleted leaves no lock')
})

t.test('vectors that come while all memories are removed stay with none of them', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const memory = await newMemory('one')
  const { memoryId, fingerprint } = memory
  await store.insert(home, [memory], { now: NOW })
  const late = [{ memoryId, fingerprint, vectors: [Float32Array.of(1, 0, 0, 0)] }]
  // The row that an addition of vectors updates last, so that it is held before its commit.
  await database.query(`insert into ${schema}.bank_statistics select E'\\x1fhome', shard, 0, 0, 0, 0, 0
    from generate_series(0, 7) shard on conflict do nothing`)
  const untilWaiting = async (count: number) => {
    for (;;) {
      const [found] = await database.read<{ count: number }>(`select count(*)::int as count from pg_stat_activity a
        where a.datname = current_database() and cardinality(pg_blocking_pids(a.pid)) > 0
          and a.query like '%' || $1 || '%'`, [schema])
      if (found!.count >= count) return
    }
  }
  const writes: Array<Promise<unknown>> = []
  await database.transaction(async (tx) => {
    await tx.query(`select from ${schema}.bank_statistics where bank_key = $1 for update`, KEY)
    writes.push(store.attachVectors(home, late, NOW))
    await untilWaiting(1)
    writes.push(store.remove(home, { kind: 'all' }, { now: NOW, dryRun: false, idLimit: 0 }))
    await untilWaiting(2)
  })
  t.match(await Promise.all(writes), [1, { count: 1 }])
  t.strictSame(await database.read(`select (select count(*)::int from ${schema}.embeddings) as vectors,
    (select sum(s.embedded)::int from ${schema}.bank_statistics s) as embedded`), [{ vectors: 0, embedded: 0 }])
})
