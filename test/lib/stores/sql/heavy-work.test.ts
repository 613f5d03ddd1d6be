import t from 'tap'
import type { BankKey } from '../../../../lib/identity/context.js'
import { SqlError, type Executor } from '../../../../lib/stores/sql/executor.js'
import { HeavyWork, shareOf } from '../../../../lib/stores/sql/heavy-work.js'
import { listStatement } from '../../../../lib/stores/sql/reading-statements.js'
import type { ListFilters } from '../../../../lib/stores/vector-store.js'
import { DAY_MS } from '../../../../lib/time/days.js'
import { bank, searchFor } from '../../../contract/vector-store/setup.js'
import { barrierExecutor } from '../../../helpers/barrier-executor.js'
import { newMemories, newMemory, NOW, withTags } from '../../../helpers/memories.js'
import { rejection } from '../../../helpers/rejection.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { gate, until } from '../../../helpers/waiting.js'

const home = bank('home')
const away = bank('away')
const LARGE = 'x'.repeat(9000)

await t.test('heavy statements run a few at a time, and short ones do not wait for them', async (t) => {
  const database = await sqlDatabase(t)
  const { executor: watched, arrived, close } = barrierExecutor(database)
  const store = await storeIn(watched, { schema: schemaIn(t, database) })
  await store.insert(home, await newMemories(['ferry one', 'ferry two']), { now: NOW })

  /** Runs heavy work several times; while `permitted` of them are under way, something short is done. */
  const runBeside = async <T>(kind: string, permitted: number, heavy: () => Promise<T>, short: () => Promise<void>) => {
    const open = close(kind)
    const all = Array.from({ length: permitted + 2 }, heavy)
    await until(() => arrived() >= permitted)
    await short()
    const underWay = arrived()
    open()
    return { underWay, results: await Promise.all(all) }
  }

  await t.test('a search for many memories', async (t) => {
    const { underWay, results } = await runBeside(
      ',777', 1, async () => await searchFor(store, [home], 'ferry', { limit: 777 }), async () => {
        t.equal((await searchFor(store, [home], 'ferry', { limit: 300 })).total, 2)
      },
    )
    t.equal(underWay, 1)
    t.strictSame(results.map(({ total }) => total), [2, 2, 2])
  })

  await t.test('a search for many words', async (t) => {
    const letters = [...'bcdfghjklmnp']
    const words = letters.flatMap((first) => letters.map((second) => `qu${first}a${second}o`))
    const { underWay, results } = await runBeside(
      words[0]!, 2, async () => await searchFor(store, [home], `ferry ${words.join(' ')}`, { limit: 10 }), async () => {
        const fewer = `ferry ${words.slice(1, 101).join(' ')}`
        t.equal((await searchFor(store, [home], fewer, { limit: 10 })).total, 2)
      },
    )
    t.equal(underWay, 2)
    t.strictSame(results.map(({ total }) => total), [2, 2, 2, 2])
  })

  await t.test('statistics of a bank', async (t) => {
    const { underWay, results } = await runBeside(
      'with live as', 2, async () => await store.statistics(home, NOW), async () => {
        t.equal((await store.list(home, { now: NOW, limit: 10, filters: {} })).length, 2)
      },
    )
    t.equal(underWay, 2)
    t.strictSame(results.map(({ memoryCount }) => memoryCount), [2, 2, 2, 2])
  })

  await t.test('large writes, and one whose caller leaves stores nothing', async (t) => {
    let written = 0
    const write = async () => (
      await store.insert(away, await newMemories([`a ${++written} ${LARGE}`, `b ${LARGE}`]), { now: NOW })
    )
    const leaving = new AbortController()
    const left = await newMemories([`left ${LARGE}`, LARGE])
    const { underWay, results } = await runBeside('transaction', 2, write, async () => {
      const waiting = store.insert(away, left, { now: NOW, signal: leaving.signal })
      leaving.abort(new Error('gone'))
      await t.rejects(waiting, { message: 'gone' })
      await store.insert(away, [await newMemory('short')], { now: NOW })
    })
    t.equal(underWay, 2)
    t.equal(results.length, 4)
    // The four first texts, the second one once, and the short one.
    t.equal((await store.statistics(away, NOW)).memoryCount, 6)
  })

  await t.test('exports, imports and removals, each in a bank of its own', async (t) => {
    const banks = Array.from({ length: 16 }, (_, index) => bank(`bulk ${index}`))
    for (const key of banks) await store.insert(key, [await newMemory('kept', { tags: ['old'] })], { now: NOW })
    const imported = await newMemories([`a ${LARGE}`, `b ${LARGE}`])
    const options = { now: NOW, dryRun: false, idLimit: 0 }
    const kinds: Array<(key: BankKey) => Promise<number>> = [
      async (key) => (await store.scan(key, NOW)).count,
      async (key) => (await store.import(key, imported, { now: NOW, onConflict: 'skip' })).imported,
      async (key) => (await store.remove(key, withTags(['old']), options)).count,
      async (key) => (await store.remove(key, { kind: 'all' }, options)).count,
      async (key) => (await store.remove(key, { kind: 'all' }, { ...options, dryRun: true })).count,
      async (key) => (await store.removeBank(key, NOW)).memoryCount,
    ]
    let next = 0
    const counts = [1, 2, 1, 1, 1, 1]
    // Four pieces run in each round, so the rounds begin with different kinds.
    for (let round = 0; round < 4; round++) {
      const first = next
      const { underWay, results } = await runBeside('transaction', 2, async () => {
        const index = next++
        return await kinds[index % kinds.length]!(banks[index]!)
      }, async () => {
        t.equal((await store.list(home, { now: NOW, limit: 10, filters: {} })).length, 2)
        await store.insert(home, [await newMemory('ferry one')], { now: NOW })
      })
      t.equal(underWay, 2)
      t.strictSame(results, results.map((_, index) => counts[(first + index) % counts.length]))
    }
  })

  await t.test('an export whose caller leaves while it waits', async (t) => {
    const leaving = new AbortController()
    const { underWay } = await runBeside('transaction', 2, async () => await store.scan(home, NOW), async () => {
      const waiting = store.scan(away, NOW, leaving.signal)
      leaving.abort(new Error('gone'))
      await t.rejects(waiting, { message: 'gone' })
    })
    t.equal(underWay, 2)
  })

  await t.test('a small import does not wait for large ones', async (t) => {
    const imported = await newMemories([`a ${LARGE}`, `b ${LARGE}`])
    let imports = 0
    const large = async () => (
      await store.import(bank(`import ${imports++}`), imported, { now: NOW, onConflict: 'skip' })
    )
    const started: Array<Promise<unknown>> = []
    const { underWay } = await runBeside('transaction', 2, large, async () => {
      started.push(store.import(home, await newMemories(['small']), { now: NOW, onConflict: 'skip' }))
      await until(() => arrived() > 2)
    })
    t.equal(underWay, 3)
    await Promise.all(started)
  })
})

await t.test('heavy work does not wait forever, and callers take turns', async (t) => {
  const impatient = new HeavyWork({ name: 'tests', permits: 1, waitMs: 20 })
  const { opened, open } = gate()
  const first = impatient.run(home, async () => { await opened })
  const error = await rejection(SqlError, impatient.run(home, async () => {}))
  t.equal(error.kind, 'busy')
  t.equal(error.message, '1 tests run already, and none ended within 20 ms')
  open()
  await first

  const share = (size: number) => shareOf({ status: () => ({ size, inUse: 0, waiting: 0 }) })
  t.strictSame([1, 2, 3, 10, 15, 50].map(share), [1, 1, 2, 2, 3, 10], 'it leaves connections to short statements')
  const wide = new HeavyWork({ name: 'tests', permits: share(25) })
  let started = 0
  const ended = gate()
  const all = Array.from({ length: 9 }, async () => {
    await wide.run(home, async () => { started++; await ended.opened })
  })
  await new Promise(setImmediate)
  t.equal(started, 5, 'a fifth of the connections')
  ended.open()
  await Promise.all(all)
  t.equal(started, 9)

  const work = new HeavyWork({ name: 'tests', permits: 1 })
  const order: string[] = []
  await Promise.all(['a1', 'a2', 'a3', 'b1'].map(async (name) => {
    await work.run(name.startsWith('a') ? home : away, async () => { order.push(name) })
  }))
  t.strictSame(order, ['a1', 'a2', 'b1', 'a3'])
  await t.rejects(work.run(home, async () => { throw new Error('failed') }), { message: 'failed' })
  t.equal(await work.run(away, async () => 'free again'), 'free again')
})

await t.test('a page of a list reads only its own memories, even if all have the same time', async (t) => {
  const database = await sqlDatabase(t)
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const texts = Array.from({ length: 300 }, (_, index) => `memory ${index}`)
  await store.insert(home, await newMemories(texts), { now: NOW })
  const plan = await planOfList(database, schema, {})
  t.match(plan, /memories_in_order/)
  t.notMatch(plan, /Sort/)
})

await t.test('the memories of a period are read without the others of the bank', async (t) => {
  const database = await sqlDatabase(t)
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const memories = Array.from({ length: 600 }, async (_, index) => (
    await newMemory(`memory ${index}`, { retainedAt: NOW + index, occurredAt: index % 2 === 0 ? null : index * DAY_MS })
  ))
  await store.insert(home, await Promise.all(memories), { now: NOW })
  await database.maintain(`analyze ${schema}.memories`)
  const dated = await planOfList(database, schema, { occurredAfter: 40 * DAY_MS, occurredBefore: 47 * DAY_MS })
  t.match(dated, /memories_dated[^]*Index Cond: [^\n]*occurred_at >=/)
  const retained = { retainedAfter: NOW + 100, retainedBefore: NOW + 200 }
  const undated = await planOfList(database, schema, { undated: true, ...retained })
  t.match(undated, /memories_undated[^]*Index Cond: [^\n]*retained_at >=/)
})

async function planOfList (database: Executor, schema: string, filters: ListFilters): Promise<string> {
  const { text, values } = listStatement(schema, home, { now: NOW, limit: 3, filters })!
  const rows = await database.query(`explain ${text}`, values)
  return rows.map((row) => Object.values(row).join('')).join('\n')
}
