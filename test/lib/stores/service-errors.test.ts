import t from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { storeWithServiceErrors } from '../../../lib/stores/service-errors.js'
import { SqlError } from '../../../lib/stores/sql/executor.js'
import {
  IdempotencyKeyTaken, LowerTrustError, MemoryChangedError, type VectorStore,
} from '../../../lib/stores/vector-store.js'
import { rejection } from '../../helpers/rejection.js'

const OPTIONAL = [
  'countByDay', 'listConversations', 'countMemories', 'neighbours', 'findIdempotencyRecord', 'attachVectors',
  'listUnembedded', 'removeBank',
  'reserveUsage', 'adjustUsage',
] as const
const NAMES = [
  'insert', 'import', 'remove', 'search', 'get', 'list', 'listBanks', 'statistics', 'scan', ...OPTIONAL,
] as const
const CONFIGS = ['read', 'write', 'history', 'changedSince'] as const

/** Calls a method by its name, as no caller does: what it is given does not matter here. */
async function call (target: object, name: string): Promise<unknown> {
  const method: unknown = Reflect.get(target, name)
  if (typeof method !== 'function') throw new TypeError(`${name} is no method`)
  return await Reflect.apply(method, target, [])
}

/** A store every method of which fails, at once or by its promise. */
function failing (error: unknown, how: 'throws' | 'rejects'): VectorStore {
  const fail = how === 'throws' ? () => { throw error } : async () => { throw error }
  const members = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, fail]))
  return Object.assign(new InMemoryVectorStore(), members(NAMES), {
    bankConfigs: { isShared: true, ...members(CONFIGS) },
  })
}

for (const how of ['throws', 'rejects'] as const) {
  t.test(`a fault of a store that ${how} becomes the same error for a client, whatever the operation`, async (t) => {
    const cause = new Error('connect ECONNREFUSED db.internal:5432')
    const store = storeWithServiceErrors(failing(cause, how))
    const expected = {
      name: 'ServiceError', code: 'dependency_unavailable', detail: 'The vector store is unavailable', cause,
    }
    for (const name of NAMES) await t.rejects(call(store, name), expected, name)
    for (const name of CONFIGS) await t.rejects(call(store.bankConfigs!, name), expected, name)
  })
}

for (const isCustom of [false, true]) {
  t.test(`a client learns that a database is busy or unavailable, and the log why (custom: ${isCustom})`, async (t) => {
    const refused = async (error: unknown) => (
      await rejection(ServiceError, call(storeWithServiceErrors(failing(error, 'rejects'), isCustom), 'get'))
    )
    const none = new SqlError('busy', 'All 10 connections are in use')
    const busy = await refused(none)
    t.match(busy, { code: 'dependency_unavailable', message: 'The vector store is busy', retryAfterSeconds: 1 })
    t.equal(busy.cause, none)
    for (const kind of ['connection', 'timeout', 'full', 'statement'] as const) {
      const cause = new SqlError(kind, 'connect ECONNREFUSED 10.0.0.7:5432')
      const error = await refused(cause)
      t.equal(error.code, 'dependency_unavailable')
      t.equal(error.message, 'The vector store is unavailable')
      t.equal(error.retryAfterSeconds, undefined)
      t.equal(error.cause, cause)
    }
  })
}

t.test('causes of a custom store have no message; refusals and what the gateway finds have theirs', async (t) => {
  const store = storeWithServiceErrors(failing(new RangeError('green tea'), 'rejects'), true)
  const cause = { name: 'RangeError', message: /^RangeError \(its message/ }
  for (const name of NAMES) await t.rejects(call(store, name), { code: 'dependency_unavailable', cause }, name)
  for (const name of CONFIGS) await t.rejects(call(store.bankConfigs!, name), { cause }, name)
  const refusal = new ServiceError('server_busy', 'The store is busy')
  await t.rejects(call(storeWithServiceErrors(failing(refusal, 'throws'), true), 'insert'), refusal)
  const wrong = Object.assign(new InMemoryVectorStore(), {
    search: async () => ({ total: -1 }), close: async () => { throw new Error('green tea') },
  })
  const checked = storeWithServiceErrors(wrong, true)
  await t.rejects(call(checked, 'search'), { cause: { message: /unusable search result: total is -1/ } })
  await t.rejects(checked.close(), { message: /^Error \(its message/ })
})

t.test('the refusal of a write by a store is passed on unchanged', async (t) => {
  for (const error of [
    new ServiceError('server_busy', 'The store is busy'), new IdempotencyKeyTaken(), new LowerTrustError(),
    new MemoryChangedError(),
  ]) {
    await t.rejects(call(storeWithServiceErrors(failing(error, 'rejects')), 'insert'), error)
  }
})

t.test('a method that the store does not have is absent', async (t) => {
  const plain = Object.assign(new InMemoryVectorStore(), Object.fromEntries(
    [...OPTIONAL, 'bankConfigs', 'poolStatus'].map((name) => [name, undefined]),
  ))
  const store = storeWithServiceErrors(plain)
  for (const name of [...OPTIONAL, 'bankConfigs', 'poolStatus']) t.notOk(name in store, name)
  t.same(await store.health(), { healthy: true })
  t.same(await store.listBanks({ now: 0, limit: 1 }), [])
})
