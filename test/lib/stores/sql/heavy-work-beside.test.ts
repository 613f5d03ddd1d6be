import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { RecentCallers } from '../../../../lib/concurrency/recent-callers.js'
import { flowOf, type BankKey } from '../../../../lib/identity/context.js'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { HeavyWork } from '../../../../lib/stores/sql/heavy-work.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { searchFor } from '../../../contract/vector-store/setup.js'
import { barrierExecutor } from '../../../helpers/barrier-executor.js'
import { newMemories, NOW, withTags } from '../../../helpers/memories.js'
import { rejection } from '../../../helpers/rejection.js'
import { schemaIn, sqlDatabase } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'
import { gate, until } from '../../../helpers/waiting.js'

const LARGE = 'x'.repeat(9000)

function bankOf (caller: string, bankId = caller): BankKey {
  return { tenantId: null, bankId, caller }
}

const ada = bankOf('ada')
const bob = bankOf('bob')

/** Heavy work on a clock that stands still, with rests that the test ends. */
function heavyWork ({ permits = 2, waitMs = 60_000 } = {}) {
  let now = 1_000_000
  const rests: Array<{ ms: number, end: () => void }> = []
  const callers = new RecentCallers()
  const work = new HeavyWork({
    name: 'tests',
    executor: { callers },
    permits,
    waitMs,
    timer: () => now,
    schedule: (end, ms) => {
      rests.push({ ms, end })
      return () => {}
    },
  })
  const begun: string[] = []
  return {
    work,
    rests,
    begun,
    /** A statement of this caller begins. */
    note: (bank: BankKey) => { callers.note(flowOf(bank), now) },
    advance: (ms: number) => { now += ms },
    /** Begins a piece that takes until `end` is called. */
    piece: async (name: string, bank: BankKey, signal?: AbortSignal) => {
      const { opened, open } = gate()
      const result = work.run(bank, async () => { begun.push(name); await opened }, signal)
      await nextTurn()
      return { result, end: async (ms: number) => { now += ms; open(); await result; await nextTurn() } }
    },
    /** Ends the one rest that is under way. @returns how long it is */
    endRest: async () => {
      if (rests.length !== 1) throw new Error(`${rests.length} rests are under way`)
      const { ms, end } = rests.pop()!
      end()
      await nextTurn()
      return ms
    },
  }
}

t.test('a caller that is alone has all places, and no rests', async (t) => {
  const { note, piece, begun, rests } = heavyWork()
  note(ada)
  note(bankOf('ada', 'another bank'))
  const pieces = [await piece('one', ada), await piece('two', ada), await piece('three', ada)]
  t.same(begun, ['one', 'two'])
  for (const { end } of pieces) await end(10)
  t.same(begun, ['one', 'two', 'three'])
  t.same(rests, [])
})

t.test('beside other callers one piece runs at a time, followed by a rest of twice its time', async (t) => {
  const { note, piece, begun, rests, endRest } = heavyWork()
  note(bob)
  const [one, two] = [await piece('one', ada), await piece('two', ada)]
  t.same(begun, ['one'], 'the second place is not used')
  await one.end(30)
  t.same(begun, ['one'], 'the rest has not ended')
  t.equal(await endRest(), 60)
  t.same(begun, ['one', 'two'])
  await two.end(250)
  t.equal(await endRest(), 500)
  const three = await piece('three', ada)
  await three.end(251)
  t.equal(await endRest(), 500, 'a rest is never longer')
  t.same(rests, [])
})

t.test('others count as beside a caller for a second after their last statement began', async (t) => {
  const { note, advance, piece, begun, rests, endRest } = heavyWork()
  note(bob)
  advance(1000)
  note(ada)
  const [one, two] = [await piece('one', ada), await piece('two', ada)]
  t.same(begun, ['one'])
  // The second piece was beside others when it got its place; what begins later is not.
  await one.end(1)
  await endRest()
  await two.end(0)
  await endRest()
  begun.length = 0
  const alone = [await piece('three', ada), await piece('four', ada)]
  t.same(begun, ['three', 'four'])
  for (const { end } of alone) await end(1)
  t.same(rests, [])
})

t.test('work that fails is followed by a rest too, and then others go on', async (t) => {
  const { work, note, advance, begun, rests, endRest } = heavyWork()
  note(bob)
  await t.rejects(work.run(ada, async () => { advance(20); throw new Error('failed') }), { message: 'failed' })
  const next = work.run(ada, async () => { begun.push('next') })
  await nextTurn()
  t.same(begun, [])
  t.equal(await endRest(), 40)
  await next
  t.same(begun, ['next'])
  t.equal(await endRest(), 0)
  t.same(rests, [])
})

t.test('a caller that leaves during a piece of others or a rest begins nothing and keeps no place', async (t) => {
  const { note, piece, begun, endRest } = heavyWork()
  note(bob)
  const reason = new Error('gone')
  const one = await piece('one', ada)
  for (const when of ['during a piece', 'during a rest']) {
    if (when === 'during a rest') await one.end(10)
    const leaving = new AbortController()
    const { result } = await piece(when, ada, leaving.signal)
    leaving.abort(reason)
    await t.rejects(result, reason, when)
  }
  const two = await piece('two', ada)
  await endRest()
  t.same(begun, ['one', 'two'])
  await two.end(1)
  await endRest()
})

t.test('callers take turns beside each other', async (t) => {
  const { note, piece, begun, endRest } = heavyWork({ permits: 4 })
  note(ada)
  note(bob)
  const pieces = [await piece('a1', ada), await piece('a2', ada), await piece('a3', ada), await piece('b1', bob)]
  for (const place of [0, 1, 3, 2]) {
    await pieces[place]!.end(1)
    await endRest()
  }
  t.same(begun, ['a1', 'a2', 'b1', 'a3'])
})

t.test('the bound of the wait includes both waits, for one of the places and for the others to end', async (t) => {
  const { work, note, advance, piece, begun, endRest } = heavyWork({ waitMs: 60_000 })
  note(bob)
  const leaving = new AbortController()
  const one = await piece('one', ada)
  const second = await piece('two', ada, leaving.signal)
  const third = rejection(SqlError, work.run(ada, async () => { begun.push('three') }))
  advance(60_000)
  note(bob)
  leaving.abort(new Error('gone'))
  await t.rejects(second.result, { message: 'gone' })
  t.match(await third, { kind: 'busy' })
  await one.end(1)
  await endRest()
  t.same(begun, ['one'])
})

t.test('every kind of heavy work of a store takes notice of the other callers of its database', async (t) => {
  const database = await sqlDatabase(t)
  const callers = new RecentCallers()
  // Enough for five pieces of each kind.
  const status = () => ({ size: 25, inUse: 0, waiting: 0 })
  const { executor, arrived, close } = barrierExecutor(database, { callers, status })
  const schema = schemaIn(t, database)
  const store = new SqlVectorStore({ executor, schema, bootstrapSchema: true, sweepIntervalMs: 0 })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  await store.insert(ada, await newMemories(['ferry one', 'ferry two']), { now: NOW })
  const words = Array.from({ length: 150 }, (_, index) => `word${index}`).join(' ')
  let count = 0
  const large = async () => await newMemories([`a ${++count} ${LARGE}`, `b ${count} ${LARGE}`])
  const kinds: Array<[name: string, statement: string, heavy: (bank: BankKey) => Promise<unknown>]> = [
    ['searches for many words', 'word0', async (bank) => await searchFor(store, [bank], words, { limit: 10 })],
    ['statistics', 'with live as', async (bank) => await store.statistics(bank, NOW)],
    ['large writes', 'transaction', async (bank) => await store.insert(bank, await large(), { now: NOW })],
    ['large imports', 'transaction', async (bank) => (
      await store.import(bank, await large(), { now: NOW, onConflict: 'skip' })
    )],
    ['exports', 'transaction', async (bank) => {
      const { memories } = await store.scan(bank, NOW)
      await memories.return?.()
    }],
    ['removals by tags', 'transaction', async (bank) => (
      await store.remove(bank, withTags(['none']), { now: NOW, dryRun: false, idLimit: 0 })
    )],
  ]
  for (const [name, kind, heavy] of kinds) {
    for (const expected of [1, 3]) {
      // Statements of someone else begin all the time, or never: then all pieces run at once.
      callers.note(['someone else'], expected === 1 ? Infinity : -Infinity)
      const open = close(kind)
      const all = [0, 1, 2].map(async (index) => await heavy(bankOf('ada', `bank ${index}`)))
      await until(() => arrived() >= expected)
      for (let turn = 0; turn < 100; turn++) await nextTurn()
      t.equal(arrived(), expected, name)
      open()
      await Promise.all(all)
    }
  }
})
