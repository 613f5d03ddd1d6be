import t from 'tap'
import type { BankConfigAnswer } from '../../lib/operations/schemas.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { getConfig, historyOf, putConfig } from './bank-configs.js'
import { tenants } from './reflecting.js'
import { as, refused, refusedFields } from './support.js'

const TOKEN = { 'x-admin-token': 'the admin token' }
const FILE = {
  access_control: { enabled: true, default_policy: 'deny' as const },
  access_grants: [{ bank_id: '*', principal: 'user:admin', permissions: ['admin' as const] }],
}
const ADMIN = as('user:admin')
const BOB = { access: [{ principal: 'user:bob', permissions: ['read'] }] }

const path = (bankId: string, query = '') => `/v1/admin/banks/${bankId}/config${query}`

async function operate (
  { inject }: TestApp, method: 'GET' | 'DELETE', bankId: string, query = '', headers: Record<string, string> = TOKEN,
) {
  return await inject({ method, url: path(bankId, query), headers })
}

await t.test('only the admin token opens a bank\'s configuration to operators, whatever rights ' +
  'a caller has', async (t) => {
  const app = await testApp(t, { adminToken: TOKEN['x-admin-token'], file: FILE })
  await putConfig(app, 'home', BOB, ADMIN)
  for (const method of ['GET', 'DELETE'] as const) {
    for (const headers of [
      {}, { 'x-admin-token': 'another' }, ADMIN, { ...ADMIN, authorization: 'Bearer the admin token' },
    ]) {
      refused(t, await operate(app, method, 'home', '', headers), 401, 'unauthenticated')
    }
  }
  t.same((await getConfig(app, 'home', ADMIN)).config, BOB)
})

await t.test('an operator sees what the admins of a bank see', async (t) => {
  const app = await testApp(t, { adminToken: TOKEN['x-admin-token'], file: FILE })
  await putConfig(app, 'home', { ...BOB, homeostasis: { recall_max_tokens: 500 } }, ADMIN)
  t.same((await operate(app, 'GET', 'home')).json(), await getConfig(app, 'home', ADMIN))
  t.match((await operate(app, 'GET', 'home')).json(), {
    updated_by: 'user:admin', effective: { homeostasis: { recall_max_tokens: 500 } },
  })
  t.match((await operate(app, 'GET', 'never-seen')).json(), { config: {}, updated_at: null, updated_by: null })
})

await t.test('a grant of a bank ends at once when an operator removes it, and the history keeps it', async (t) => {
  const app = await testApp(t, { adminToken: TOKEN['x-admin-token'], file: FILE })
  const read = async () => (await app.post('/v1/recall', { bank_id: 'home', query: 'x' }, as('user:bob'))).statusCode
  const mallory = { access: [...BOB.access, { principal: 'user:mallory', permissions: ['*'] }] }
  await putConfig(app, 'home', mallory, ADMIN)
  t.equal(await read(), 200)
  t.equal((await app.get('/v1/banks/home/config', as('user:mallory'))).statusCode, 200)
  app.clock.advance(1000)
  const response = await operate(app, 'DELETE', 'home')
  t.match(
    { status: response.statusCode, ...response.json<BankConfigAnswer>() },
    {
      status: 200, config: {}, effective: { access: [{ principal: 'user:admin' }] }, updated_at: null, updated_by: null,
    },
  )
  t.equal(await read(), 403)
  refused(t, await app.get('/v1/banks/home/config', as('user:mallory')), 403, 'access_denied')
  t.match(await historyOf(app, 'home', ADMIN), [
    { config: null, updated_at: '2026-01-15T10:00:01.000Z', updated_by: null },
    { config: mallory, updated_at: '2026-01-15T10:00:00.000Z', updated_by: 'user:admin' },
  ])
  t.same((await getConfig(app, 'home', ADMIN)).config, {})
})

await t.test('memories stay when an operator removes a configuration; a second removal changes nothing', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'The otter sleeps.')
  await putConfig(app, 'home', { mission: 'Help.' })
  for (let count = 0; count < 2; count++) t.equal((await operate(app, 'DELETE', 'home')).statusCode, 200)
  t.equal((await historyOf(app, 'home')).length, 2)
  t.match((await app.get('/v1/banks/home')).json(), { memory_count: 1 })
})

await t.test('tenant_id names the tenant of the bank, and without it the bank has no tenant', async (t) => {
  const { auth, of } = await tenants(t)
  const app = await testApp(t, { auth, adminToken: TOKEN['x-admin-token'] })
  const configOf = async (query: string) => (await operate(app, 'GET', 'home', query)).json<BankConfigAnswer>().config
  for (const tenantId of ['acme', 'zeta']) await putConfig(app, 'home', { mission: `For ${tenantId}.` }, of(tenantId))
  t.same(await configOf('?tenant_id=acme'), { mission: 'For acme.' })
  t.same(await configOf('?tenant_id=zeta'), { mission: 'For zeta.' })
  t.same(await configOf(''), {})
  for (const query of ['', '?tenant_id=nobody', '?tenant_id=acme']) {
    t.equal((await operate(app, 'DELETE', 'home', query)).statusCode, 200)
  }
  t.same((await getConfig(app, 'home', of('acme'))).config, {})
  t.same((await getConfig(app, 'home', of('zeta'))).config, { mission: 'For zeta.' })
})

await t.test('a malformed name or an unknown parameter is 400', async (t) => {
  const app = await testApp(t)
  for (const method of ['GET', 'DELETE'] as const) {
    refusedFields(t, await operate(app, method, 'home*'), 'bank_id')
    refusedFields(t, await operate(app, method, 'home', '?tenant=acme'), 'tenant')
    refusedFields(t, await operate(app, method, 'home', '?tenant_id='), 'tenant_id')
    refusedFields(t, await operate(app, method, 'home', '?tenant_id=%00'), 'tenant_id')
  }
})

await t.test('a store that fails is 503, and a removal in one that keeps no configurations is 501', async (t) => {
  const failing = new InMemoryVectorStore()
  failing.bankConfigs.read = async () => { throw new Error('connect ECONNREFUSED db.internal:5432') }
  failing.bankConfigs.write = async () => { throw new Error('connect ECONNREFUSED db.internal:5432') }
  const app = await testApp(t, {}, { store: failing })
  for (const method of ['GET', 'DELETE'] as const) {
    const response = await operate(app, method, 'home')
    refused(t, response, 503, 'dependency_unavailable')
    t.notMatch(response.body, /ECONN|internal/)
  }
  const without = await testApp(t, {}, {
    store: Object.assign(new InMemoryVectorStore(), { bankConfigs: undefined, close: async () => {} }),
  })
  t.match((await operate(without, 'GET', 'home')).json(), { config: {} })
  refused(t, await operate(without, 'DELETE', 'home'), 501, 'not_supported')
})
