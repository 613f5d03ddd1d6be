import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp } from '../helpers/app.js'
import { as, refused, refusedFields } from './support.js'

interface Answer {
  banks: Array<{ bank_id: string, permissions: Array<{ permission: string, granted_by: string }> }>
  next_cursor: string | null
}

const FILE: FileConfig = {
  access_control: { enabled: true, default_policy: 'owner_only' },
  access_grants: [
    { bank_id: 'team', principal: 'user:bob', permissions: ['read', 'write'] },
    { bank_id: 'drop', principal: 'user:bob', permissions: ['write'] },
  ],
}
const OPERATOR = { 'x-admin-token': 'operator' }
const BY_OWNER = 'default_policy owner_only'
const ALL = ['read', 'write', 'forget', 'admin']

async function gateway (t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t, { file: FILE, adminToken: 'operator' })
  for (const bank of ['drop', 'team', 'user-alice', 'user-bob']) await app.retain(bank, 'One.')
  return app
}

await t.test('a caller sees the banks that it may read, with every permission and its rule', async (t) => {
  const { get } = await gateway(t)
  const answer = (await get('/v1/access', as('user:bob'))).json<Answer>()
  t.match(answer, { principal: 'user:bob', tenant_id: null, on_behalf_of: null, next_cursor: null })
  t.same(answer.banks, [
    {
      bank_id: 'team',
      permissions: ['read', 'write'].map((permission) => ({ permission, granted_by: 'access_grants[0]' })),
    },
    { bank_id: 'user-bob', permissions: ALL.map((permission) => ({ permission, granted_by: BY_OWNER })) },
  ])
  const first = (await get('/v1/access?limit=1', as('user:bob'))).json<Answer>()
  t.same(first.banks.map(({ bank_id: id }) => id), ['team'])
  const second = (await get(`/v1/access?limit=1&cursor=${first.next_cursor}`, as('user:bob'))).json<Answer>()
  t.match(second, { banks: [{ bank_id: 'user-bob' }], next_cursor: null })
})

await t.test('an operator sees every bank of the tenant for any principal, page by page', async (t) => {
  const { get } = await gateway(t)
  const seen: Answer['banks'] = []
  for (let cursor = '', pages = 0; pages < 5; pages++) {
    const page = (await get(`/v1/admin/access?principal=user:bob&limit=3${cursor}`, OPERATOR)).json<Answer>()
    seen.push(...page.banks)
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  t.same(seen.map(({ bank_id: id, permissions }) => [id, permissions.map(({ permission }) => permission)]), [
    ['drop', ['write']], ['team', ['read', 'write']], ['user-alice', []], ['user-bob', ALL],
  ])
  t.same((await get('/v1/admin/access?principal=user:bob&tenant_id=acme', OPERATOR)).json<Answer>().banks, [])
  const narrowed = (await get('/v1/admin/access?principal=user:bob&on_behalf_of=user:alice', OPERATOR)).json<Answer>()
  t.same(narrowed.banks.flatMap(({ permissions }) => permissions), [])
  refusedFields(t, await get('/v1/admin/access?principal=a%20b', OPERATOR), 'principal')
  refusedFields(t, await get('/v1/admin/access?tenant_id=%00', OPERATOR), 'tenant_id')
  refused(t, await get('/v1/admin/access?principal=user:bob'), 401, 'unauthenticated')
})

await t.test('outside dev mode, where nobody is anonymous, permissions of nobody are not reported', async (t) => {
  const { post, get } = await testApp(t, {
    file: FILE, adminToken: 'operator', auth: { mode: 'api_key', apiKey: 'key' },
  })
  const check = { bank_id: 'team', permission: 'read' }
  refusedFields(t, await post('/v1/admin/access/check', check, OPERATOR), 'principal')
  refusedFields(t, await get('/v1/admin/access', OPERATOR), 'principal')
  const named = await post('/v1/admin/access/check', { ...check, principal: 'user:bob' }, OPERATOR)
  t.match(named.json(), { allowed: true })
})

await t.test('a check of access agrees with a request, and grants of the bank itself count', async (t) => {
  const { app, post, get, inject } = await gateway(t)
  const check = async (body: Record<string, unknown>) => (
    (await post('/v1/admin/access/check', body, OPERATOR)).json<Record<string, unknown>>()
  )
  const denied = await check({ principal: 'user:bob', bank_id: 'team', permission: 'forget' })
  const { detail } = (await post(
    '/v1/forget', { bank_id: 'team', tags: ['a'] }, as('user:bob'),
  )).json<{ detail: string }>()
  t.same(denied, { allowed: false, granted_by: null, reason: detail })
  t.same(await check({ principal: 'user:bob', bank_id: 'team', permission: 'read' }), {
    allowed: true, granted_by: 'access_grants[0]', reason: 'Allowed by access_grants[0]',
  })
  t.match(await check({ principal: 'user:bob', on_behalf_of: 'user:eve', bank_id: 'team', permission: 'read' }), {
    allowed: false, reason: "Principal 'user:bob' on behalf of 'user:eve' is denied 'read' on bank 'team'",
  })
  t.match(await check({ bank_id: 'team', permission: 'read' }), { allowed: true, granted_by: 'anonymous in dev mode' })
  const payload = { access: [{ principal: 'user:eve', permissions: ['read'] }] }
  t.equal(
    (await inject({ method: 'PUT', url: '/v1/banks/user-bob/config', headers: as('user:bob'), payload })).statusCode,
    200,
  )
  t.match(await check({ principal: 'user:eve', bank_id: 'user-bob', permission: 'read' }), {
    allowed: true, granted_by: /access\[0\]/,
  })
  t.match(
    await check({ principal: 'user:eve', tenant_id: 'acme', bank_id: 'user-bob', permission: 'read' }),
    { allowed: false },
  )
  refused(
    t, await post('/v1/admin/access/check', { bank_id: 'team', permission: 'own' }, OPERATOR), 400, 'invalid_request',
  )
  refusedFields(
    t, await post('/v1/admin/access/check', { on_behalf_of: 'a b', bank_id: 'team', permission: 'read' }, OPERATOR),
    'on_behalf_of',
  )
  for (const tenant of ['\u0000', '\ud800']) {
    refusedFields(
      t, await post('/v1/admin/access/check', { tenant_id: tenant, bank_id: 'team', permission: 'read' }, OPERATOR),
      'tenant_id',
    )
  }
  refused(t, await post('/v1/admin/access/check', { bank_id: 'team', permission: 'read' }), 401, 'unauthenticated')
  const denials = (metrics: string) => /^memory_gateway_access_denied_total (\d+)$/m.exec(metrics)?.[1]
  t.equal(denials(await app.metrics.render()), '1', 'only the forget was refused')
  t.match((await get('/v1/admin/access/rules', OPERATOR)).json(), {
    enabled: true,
    default_policy: 'owner_only',
    truncated: false,
    grants: [
      { bank_id: 'team', principal: 'user:bob', permissions: ['read', 'write'], origin: 'access_grants[0]' }, {},
    ],
  })
})

await t.test('of very many grants the first thousand are shown', async (t) => {
  const grants = Array.from(
    { length: 1001 }, (_, index) => ({ bank_id: `b${index}`, principal: 'user:bob', permissions: ['read' as const] }),
  )
  const { get } = await testApp(t, { file: { ...FILE, access_grants: grants } })
  const { grants: shown, truncated } = (await get('/v1/admin/access/rules')).json<{
    grants: unknown[], truncated: boolean
  }>()
  t.same([shown.length, truncated], [1000, true])
})
