import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ServiceError } from '../../../../lib/errors/service-error.js'
import type { BankKey } from '../../../../lib/identity/context.js'
import { InMemoryVectorStore } from '../../../../lib/stores/in-memory/store.js'
import { testApp } from '../../../helpers/app.js'
import { newMemories, NOW } from '../../../helpers/memories.js'
import { rejection } from '../../../helpers/rejection.js'
import { until } from '../../../helpers/waiting.js'
import { SteppedTurns } from './stepped-turns.js'

/** A bank with more memories than this is large. */
const LARGE = 300

function bankOf (caller: string, bankId: string): BankKey {
  return { tenantId: null, bankId, caller }
}

/** A store whose reads go on by steps, with banks of so many memories. */
async function storeWith (banks: ReadonlyArray<[bank: BankKey, memories: number]>) {
  const turns = new SteppedTurns()
  const store = new InMemoryVectorStore({ turns, maxSyncPostings: Infinity })
  for (const [bank, count] of banks) {
    const memories = await newMemories(Array.from({ length: count }, (_, index) => `memory ${index}`))
    await turns.atOnce(async () => await store.import(bank, memories, { now: NOW, onConflict: 'skip' }))
  }
  return { turns, store }
}

/** How many statistics have begun. Those that wait in the queue have no turn to wait for. */
async function begun (turns: SteppedTurns): Promise<number> {
  await nextTurn()
  return turns.waiting
}

t.test('the statistics of one large bank are collected at a time, and those of small banks beside them', async (t) => {
  const [one, two, small] = [bankOf('ada', 'one'), bankOf('bob', 'two'), bankOf('ada', 'small')]
  const { turns, store } = await storeWith([[one, LARGE + 1], [two, LARGE + 1], [small, LARGE]])
  const ended: string[] = []
  const statistics = async (bank: BankKey) => {
    const { memoryCount } = await store.statistics(bank, NOW)
    ended.push(bank.bankId)
    return memoryCount
  }
  const first = statistics(one)
  t.equal(await begun(turns), 1)
  const second = statistics(two)
  t.equal(await begun(turns), 1, 'the second large one waits')
  const beside = [statistics(small), statistics(small)]
  t.equal(await begun(turns), 3, 'two small ones do not')
  const none = store.statistics(bankOf('ada', 'none'), NOW)
  t.equal((await none).memoryCount, 0)
  t.equal(await turns.finish(first), LARGE + 1)
  t.equal(await turns.finish(second), LARGE + 1)
  t.same(await Promise.all(beside), [LARGE, LARGE])
  t.same(ended.filter((name) => name !== 'small'), ['one', 'two'])
})

t.test('callers take turns with their statistics', async (t) => {
  const ada = bankOf('ada', 'one')
  const bob = bankOf('bob', 'two')
  const { turns, store } = await storeWith([[ada, LARGE + 1], [bob, LARGE + 1]])
  const ended: string[] = []
  const all = [ada, ada, ada, bob].map(async (bank) => {
    await store.statistics(bank, NOW)
    ended.push(bank.caller!)
  })
  await turns.finish(Promise.all(all))
  t.same(ended, ['ada', 'ada', 'bob', 'ada'])
})

t.test('statistics that fail let the next ones begin', async (t) => {
  const bank = bankOf('ada', 'one')
  const { turns, store } = await storeWith([[bank, LARGE + 1]])
  const { next } = turns
  turns.next = async () => { throw new Error('failed') }
  await t.rejects(store.statistics(bank, NOW), { message: 'failed' })
  turns.next = next
  t.equal((await turns.finish(store.statistics(bank, NOW))).memoryCount, LARGE + 1)
})

function mockTimers (t: Test): void {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => { mock.timers.reset() })
}

t.test('statistics wait for 10 seconds at most', async (t) => {
  const bank = bankOf('ada', 'one')
  const { turns, store } = await storeWith([[bank, LARGE + 1]])
  mockTimers(t)
  const first = store.statistics(bank, NOW)
  let isRefused = false
  const second = rejection(ServiceError, store.statistics(bank, NOW))
  void second.then(() => { isRefused = true })
  mock.timers.tick(9999)
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  t.equal(isRefused, false)
  mock.timers.tick(1)
  t.match(await second, { code: 'dependency_unavailable', retryAfterSeconds: 1 })
  mock.timers.reset()
  t.equal((await turns.finish(first)).memoryCount, LARGE + 1)
  t.equal((await turns.finish(store.statistics(bank, NOW))).memoryCount, LARGE + 1, 'the refused one has no place')
})

t.test('a client whose statistics wait too long is told when to try again', async (t) => {
  const turns = new SteppedTurns()
  turns.isExhausted = false
  const { get, post } = await testApp(t, {}, { store: new InMemoryVectorStore({ turns }) })
  for (let batch = 0; batch * 100 <= LARGE; batch++) {
    const items = Array.from({ length: 100 }, (_, index) => ({ content: `Memory ${index} of ${batch}.` }))
    t.equal((await post('/v1/retain/batch', { bank_id: 'team', items })).statusCode, 200)
  }
  turns.isExhausted = true
  const first = get('/v1/banks/team/stats')
  await until(() => turns.waiting > 0)
  mockTimers(t)
  let isAnswered = false
  const second = get('/v1/banks/team/stats').finally(() => { isAnswered = true })
  await until(() => {
    mock.timers.tick(1000)
    return isAnswered
  })
  const { statusCode, headers, body } = await second
  t.same([statusCode, headers['retry-after']], [503, '1'])
  t.match(JSON.parse(body), { code: 'dependency_unavailable' })
  mock.timers.reset()
  t.equal((await turns.finish(first)).statusCode, 200)
})
