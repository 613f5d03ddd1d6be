import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

const TOKEN = { 'x-admin-token': 'the admin token' }
const PATHS = ['/v1/admin/sources', '/v1/admin/banks', '/v1/admin/banks/a']
const RETAINED = '2026-01-15T10:00:00.000Z'

await t.test('the admin token', async (t) => {
  const { get, app } = await testApp(t, {
    adminToken: TOKEN['x-admin-token'], auth: { mode: 'api_key', apiKey: 'key' }, file: ONE_PERMISSION_EACH,
  })
  await app.memory.retain({ bank_id: 'a', content: 'x' }, { principal: 'user:all', tenantId: null })

  for (const path of PATHS) {
    await t.test(`alone opens ${path}, whatever the auth mode and the grants say`, async (t) => {
      t.equal((await get(path, TOKEN)).statusCode, 200)
      t.equal((await get(path, { 'x-admin-token': ` ${TOKEN['x-admin-token']} ` })).statusCode, 200)
    })

    for (const [what, headers] of Object.entries({
      missing: {},
      empty: { 'x-admin-token': '' },
      wrong: { 'x-admin-token': 'the admin tokem' },
      'a part of it': { 'x-admin-token': 'the admin' },
      'of another case': { 'x-admin-token': 'THE ADMIN TOKEN' },
      'in another header': { authorization: 'Bearer the admin token', 'x-api-key': 'the admin token' },
      'missing beside good credentials of a caller': { 'x-api-key': 'key', ...as('user:all') },
    })) {
      await t.test(`${path} answers 401 when it is ${what}`, async (t) => {
        refused(t, await get(path, headers), 401, 'unauthenticated', { detail: 'Invalid or missing X-Admin-Token' })
      })
    }
  }

  await t.test('gives no access to memory routes', async (t) => {
    refused(t, await get('/v1/banks', TOKEN), 401, 'unauthenticated', { detail: 'Invalid or missing API key' })
  })
})

await t.test('without an admin token the admin routes are open', async (t) => {
  const { get, retain } = await testApp(t)
  await retain('a', 'x')
  for (const path of PATHS) {
    t.equal((await get(path)).statusCode, 200)
    t.equal((await get(path, TOKEN)).statusCode, 200)
  }
})

await t.test('banks over all tenants', async (t) => {
  const { get, app, clock } = await testApp(t)
  const put = async (tenantId: string | null, bankId: string, content: string) => {
    await app.memory.retain({ bank_id: bankId, content }, { tenantId })
  }
  t.same((await get('/v1/admin/banks')).json(), { banks: [] })
  await put(null, 'a', 'one')
  await put('acme', 'a', 'two')
  await put('acme', 'a', 'three')
  await put('acme', 'b', 'four')
  await put('zeta', 'b', 'five')
  const entry = (tenantId: string | null, bankId: string, count: number) => ({
    tenant_id: tenantId, bank_id: bankId, memory_count: count, last_retained_at: RETAINED,
  })

  await t.test('are listed, those without a tenant first', async (t) => {
    t.same((await get('/v1/admin/banks')).json(), {
      banks: [entry(null, 'a', 1), entry('acme', 'a', 2), entry('acme', 'b', 1), entry('zeta', 'b', 1)],
    })
  })

  await t.test('are narrowed to one tenant', async (t) => {
    t.same((await get('/v1/admin/banks?tenant_id=acme')).json(), {
      banks: [entry('acme', 'a', 2), entry('acme', 'b', 1)],
    })
    t.same((await get('/v1/admin/banks?tenant_id=nobody')).json(), { banks: [] })
  })

  await t.test('of the same name are one entry per tenant', async (t) => {
    t.same((await get('/v1/admin/banks/a')).json(), { banks: [entry(null, 'a', 1), entry('acme', 'a', 2)] })
    t.same((await get('/v1/admin/banks/a?tenant_id=acme')).json(), { banks: [entry('acme', 'a', 2)] })
  })

  await t.test('of an unknown name are 404', async (t) => {
    refused(t, await get('/v1/admin/banks/nowhere'), 404, 'not_found')
    refused(t, await get('/v1/admin/banks/a?tenant_id=zeta'), 404, 'not_found')
  })

  await t.test('of one tenant are all that a caller of this tenant sees', async (t) => {
    t.match((await get('/v1/banks')).json(), { banks: [{ bank_id: 'a', memory_count: 1 }], next_cursor: null })
    t.equal((await get('/v1/banks')).json().banks.length, 1)
  })

  await t.test('are refused with a malformed name or an unknown parameter', async (t) => {
    refusedFields(t, await get('/v1/admin/banks?tenant=acme'), 'tenant')
    refusedFields(t, await get('/v1/admin/banks?tenant_id='), 'tenant_id')
    for (const path of ['/v1/admin/banks', '/v1/admin/banks/a']) {
      refusedFields(t, await get(`${path}?tenant_id=a%00`), 'tenant_id')
    }
    t.same((await get(`/v1/admin/banks?tenant_id=${encodeURIComponent('a 😀')}`)).json(), { banks: [] })
    refusedFields(t, await get('/v1/admin/banks/a*'), 'bank_id')
  })

  await t.test('do not include expired memories', async (t) => {
    await app.memory.retain(
      { bank_id: 'brief', content: 'x', expires_at: '2026-01-15T10:00:01Z' }, { tenantId: 'acme' },
    )
    t.equal((await get('/v1/admin/banks/brief')).statusCode, 200)
    clock.advance(1000)
    refused(t, await get('/v1/admin/banks/brief'), 404, 'not_found')
  })
})

await t.test('more banks than a page of callers holds are all listed', async (t) => {
  const { get, app } = await testApp(t)
  for (let index = 0; index < 210; index++) {
    await app.memory.retain({ bank_id: `b${index}`, content: 'x' }, { tenantId: 'acme' })
  }
  t.equal((await get('/v1/admin/banks')).json().banks.length, 210)
})

await t.test('a failing store gives 503', async (t) => {
  const store = new InMemoryVectorStore()
  store.listBanks = async () => { throw new Error('connect ECONNREFUSED db.internal:5432') }
  const { get } = await testApp(t, {}, { store })
  const response = await get('/v1/admin/banks')
  refused(t, response, 503, 'dependency_unavailable')
  t.notMatch(response.body, /ECONN|internal/)
})

await t.test('without sources the list of sources is empty', async (t) => {
  const { get } = await testApp(t)
  t.same((await get('/v1/admin/sources')).json(), { sources: [] })
})
