import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { BankConfigChanges } from '../../../lib/stores/bank-configs.js'
import { held, key, setUp } from './directory-support.js'

t.test('concurrent requests on a bank share one read, and later requests need none', async (t) => {
  const { store, tokens } = setUp()
  store.set('home', 5)
  const answers = await Promise.all(Array.from({ length: 20 }, async () => await tokens('home')))
  t.same(answers, Array.from({ length: 20 }, () => [5]))
  t.same(await tokens('home'), [5])
  t.same(store.reads, [['home']])
})

t.test('the banks of one request are one read, of only those that are not cached', async (t) => {
  const { store, tokens } = setUp()
  store.set('b', 5)
  t.same(await tokens('a', 'b', 'c'), [undefined, 5, undefined])
  t.same(await tokens('d', 'b', 'a', 'e'), [undefined, 5, undefined, undefined])
  t.same(store.reads, [['a', 'b', 'c'], ['d', 'e']])
})

t.test('a bank without its own configuration is cached as such', async (t) => {
  const { store, tokens } = setUp()
  await tokens('home')
  await tokens('home')
  t.equal(store.reads.length, 1)
})

t.test('banks with the same name in two tenants are different banks', async (t) => {
  const { store, directory } = setUp()
  await directory.resolve([
    { tenantId: 'acme', bankId: 'home' }, { tenantId: 'zeta', bankId: 'home' }, { tenantId: null, bankId: 'home' },
  ])
  t.same(store.reads, [['home', 'home', 'home']])
})

t.test('a read that a change overtakes is not cached', async (t) => {
  const { store, directory, tokens } = setUp()
  const gate = held<void>()
  await tokens('other')
  store.gate = gate.promise
  store.set('home', 5)
  const early = tokens('home')
  await setImmediate()
  store.set('home', 6)
  directory.invalidate(key('home'))
  const late = tokens('home')
  gate.settle()
  t.same([await early, await late, await tokens('home')], [[5], [6], [6]])
  t.equal(store.reads.length, 3, 'the second read is cached')
})

t.test('a document that something has damaged is 503, until it is repaired', async (t) => {
  const { store, tokens } = setUp()
  store.documents.set('home', '{"homeostasis":')
  await t.rejects(tokens('home'), {
    code: 'dependency_unavailable', detail: 'The vector store is unavailable', cause: { name: 'SyntaxError' },
  })
  store.set('home', 5)
  t.same(await tokens('home'), [5])
})

t.test('a failed read is 503 for all requests that wait for it, and the next request tries again', async (t) => {
  const { store, tokens } = setUp()
  const gate = held<void>()
  store.gate = gate.promise
  const waiting = [tokens('home'), tokens('home')]
  await setImmediate()
  gate.fail(new Error('connect ECONNREFUSED db.internal:5432'))
  for (const request of waiting) await t.rejects(request, { code: 'dependency_unavailable' })
  store.gate = Promise.resolve()
  store.set('home', 5)
  t.same(await tokens('home'), [5])
})

t.test('cached configurations are not refreshed within a second', async (t) => {
  const { store, tokens, advance } = setUp()
  await tokens('home')
  advance(999)
  await tokens('home')
  t.same(store.asked, [-1])
})

t.test('between 1 and 1.8 seconds they are refreshed in the background, once', async (t) => {
  for (const age of [1000, 1799]) {
    const { store, tokens, advance } = setUp()
    store.set('home', 5)
    await tokens('home')
    store.changes = async () => await new Promise(() => {})
    advance(age)
    t.same(await Promise.all([tokens('home'), tokens('home')]), [[5], [5]], 'nobody waits')
    t.same(store.asked, [-1, 1])
  }
})

t.test('only changed configurations are read again', async (t) => {
  const { store, tokens, advance } = setUp()
  store.set('home', 5)
  store.set('other', 7)
  t.same(await tokens('home', 'other'), [5, 7])
  store.set('home', 6)
  store.changes = async () => ({ revision: 9, banks: [key('home')] })
  advance(1000)
  t.same(await tokens('home'), [5])
  await setImmediate()
  t.same(await tokens('home', 'other'), [6, 7])
  t.same(store.reads, [['home', 'other'], ['home']])
  advance(1000)
  await tokens('home')
  t.same(store.asked, [-1, 1, 9], 'each query continues where the last one ended')
})

t.test('from 1.8 seconds on a request waits for the refresh', async (t) => {
  const { store, tokens, advance } = setUp()
  store.set('home', 5)
  await tokens('home')
  const sync = held<BankConfigChanges>()
  store.changes = async () => await sync.promise
  store.set('home', 6)
  advance(1800)
  let isAnswered = false
  const request = tokens('home').finally(() => { isAnswered = true })
  await setImmediate()
  t.notOk(isAnswered)
  sync.settle({ revision: 2, banks: [key('home')] })
  t.same(await request, [6])
})

t.test('a request that comes too late for the background refresh waits for the one in progress', async (t) => {
  const { store, tokens, advance } = setUp()
  store.set('home', 5)
  await tokens('home')
  const sync = held<BankConfigChanges>()
  store.changes = async () => await sync.promise
  advance(1500)
  await tokens('home')
  advance(300)
  store.set('home', 6)
  const request = tokens('home')
  sync.settle({ revision: 2, banks: [key('home')] })
  t.same(await request, [6])
  t.equal(store.asked.length, 2)
})

t.test('the age of cached configurations counts from the time of the query', async (t) => {
  const { store, tokens, advance } = setUp()
  await tokens('home')
  const sync = held<BankConfigChanges>()
  store.changes = async () => await sync.promise
  advance(1000)
  await tokens('home')
  advance(900)
  sync.settle({ revision: 2, banks: [] })
  await setImmediate()
  advance(100)
  await tokens('home')
  t.equal(store.asked.length, 3)
})

t.test('a store that cannot report changes', async (t) => {
  const down = async () => { throw new Error('the database is away') }

  await t.test('causes one warning, and no refusal, while no caller has to wait for it', async (t) => {
    const { store, tokens, advance, warnings } = setUp()
    store.set('home', 5)
    await tokens('home')
    const sync = held<BankConfigChanges>()
    store.changes = async () => await sync.promise
    advance(1000)
    for (let count = 0; count < 5; count++) t.same(await tokens('home'), [5])
    sync.fail(new Error('the database is away'))
    await setImmediate()
    t.match(warnings, [/could not be brought up to date/])
    t.equal(warnings.length, 1)
  })

  await t.test('is 503 for callers that have to wait, until it recovers', async (t) => {
    const { store, tokens, advance } = setUp()
    store.set('home', 5)
    await tokens('home')
    store.changes = down
    advance(1800)
    await t.rejects(tokens('home'), { code: 'dependency_unavailable' })
    await t.rejects(tokens('home'), { code: 'dependency_unavailable' })
    store.changes = async () => ({ revision: 2, banks: [] })
    t.same(await tokens('home'), [5])
  })
})

t.test('everything is read again when the store no longer knows the changes', async (t) => {
  const { store, tokens, advance } = setUp()
  await tokens('a', 'b')
  store.set('a', 5)
  store.set('b', 6)
  store.changes = async () => ({ revision: 0, banks: undefined })
  advance(1800)
  t.same(await tokens('a', 'b'), [5, 6])
  t.same(store.reads, [['a', 'b'], ['a', 'b']])
})

t.test('a store that only this process uses is never asked for changes', async (t) => {
  const { store, tokens, advance } = setUp({ isShared: false })
  await tokens('home')
  advance(1_000_000)
  await tokens('home')
  t.same(store.asked, [])
  t.equal(store.reads.length, 1)
})

t.test('another file is in force for cached banks, without another read', async (t) => {
  const { store, tokens, live, settingsOf } = setUp()
  store.set('home', 5)
  t.same(await tokens('home', 'other'), [5, undefined])
  live.replace(settingsOf({ homeostasis: { recall_max_tokens: 3 } }))
  t.same(await tokens('home', 'other'), [3, 3])
  live.replace(settingsOf({}))
  t.same(await tokens('home', 'other'), [5, undefined])
  t.equal(store.reads.length, 1)
})
