import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { BankConfigChanges } from '../../../lib/stores/bank-configs.js'
import { held, key, setUp } from './directory-support.js'

type Directory = ReturnType<typeof setUp>

/** Makes the store answer each query for changes when the test says so. @returns the queries, in their order */
function controlledQueries ({ store }: Directory): Array<ReturnType<typeof held<BankConfigChanges>>> {
  const queries: Array<ReturnType<typeof held<BankConfigChanges>>> = []
  store.changes = async () => {
    const query = held<BankConfigChanges>()
    queries.push(query)
    return await query.promise
  }
  return queries
}

const NOTHING: BankConfigChanges = { revision: 1, banks: [] }
const CHANGED: BankConfigChanges = { revision: 2, banks: [key('home')] }
const down = new Error('the database is away')

t.test('a request waits for another query when the one in progress is too old', async (t) => {
  const directory = setUp()
  const { store, tokens, advance } = directory
  store.set('home', 5)
  await tokens('home')
  const queries = controlledQueries(directory)
  advance(1000)
  t.same(await tokens('home'), [5])
  advance(1800)
  store.set('home', 6)
  let isAnswered = false
  const late = Promise.all([tokens('home'), tokens('home'), tokens('home')]).finally(() => { isAnswered = true })
  await setImmediate()
  t.equal(queries.length, 1, 'the query in progress is awaited first')
  queries[0]!.settle(NOTHING)
  await setImmediate()
  t.notOk(isAnswered, 'the cached state before the change is not used')
  t.equal(queries.length, 2, 'one query for all that wait')
  queries[1]!.settle(CHANGED)
  t.same(await late, [[6], [6], [6]])
  t.equal(queries.length, 2)
})

t.test('a request does not wait for another query when the one in progress is less than 1.8 seconds old', async (t) => {
  const directory = setUp()
  const { store, tokens, advance } = directory
  store.set('home', 5)
  await tokens('home')
  const queries = controlledQueries(directory)
  advance(1000)
  await tokens('home')
  advance(1799)
  const request = tokens('home')
  await setImmediate()
  queries[0]!.settle(NOTHING)
  t.same(await request, [5])
  t.equal(queries.length, 1)
})

t.test('a request that makes the query itself accepts its answer, however long the store takes', async (t) => {
  const directory = setUp()
  const { store, tokens, advance } = directory
  store.set('home', 5)
  await tokens('home')
  const queries = controlledQueries(directory)
  store.set('home', 6)
  advance(5000)
  const request = tokens('home')
  await setImmediate()
  advance(5000)
  queries[0]!.settle(CHANGED)
  t.same(await request, [6])
  t.equal(queries.length, 1)
})

t.test('a request whose own read fails is 503, and one that shared the read of another tries again', async (t) => {
  const directory = setUp()
  const { store, tokens, advance } = directory
  store.set('home', 5)
  await tokens('home')
  const queries = controlledQueries(directory)
  advance(5000)
  const asking = tokens('home')
  await setImmediate()
  const joining = tokens('home')
  queries[0]!.fail(down)
  await t.rejects(asking, { code: 'dependency_unavailable' })
  await setImmediate()
  t.equal(queries.length, 2)
  queries[1]!.settle(NOTHING)
  t.same(await joining, [5])
})

t.test('a store that fails in the background causes one warning, and another one after it has recovered', async (t) => {
  const directory = setUp()
  const { store, tokens, advance, warnings } = directory
  store.set('home', 5)
  await tokens('home')
  const outage = async () => {
    store.changes = async () => { throw down }
    advance(1000)
    for (let count = 0; count < 20; count++) {
      t.same(await tokens('home'), [5])
      await setImmediate()
    }
  }
  await outage()
  t.equal(warnings.length, 1)
  t.match(warnings[0], /^The configuration of banks could not be brought up to date/)
  advance(1000)
  for (let count = 0; count < 5; count++) await t.rejects(tokens('home'), { code: 'dependency_unavailable' })
  t.equal(warnings.length, 1, 'the wait for it does not log it again')
  store.changes = async () => NOTHING
  t.same(await tokens('home'), [5])
  await outage()
  t.equal(warnings.length, 2)
})
