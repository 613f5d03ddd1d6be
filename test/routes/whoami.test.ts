import t from 'tap'
import { startJwksServer } from '../helpers/jwks-server.js'
import { rs256, rsaKey } from '../helpers/tokens.js'
import { testApp } from '../helpers/app.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

const NOBODY = { principal: null, actor: null, tenant_id: null, on_behalf_of: null }
const EVERYTHING = ['read', 'write', 'forget', 'admin']

await t.test('an anonymous caller of dev mode has no principal', async (t) => {
  const { get } = await testApp(t)
  t.same((await get('/v1/whoami')).json(), NOBODY)
})

await t.test('a caller learns the principal that the service assigns to it', async (t) => {
  const { get } = await testApp(t)
  t.same((await get('/v1/whoami', as(' agent:writer '))).json(), { ...NOBODY, principal: 'agent:writer' })
})

await t.test('a caller with a token learns its actor, its tenant and the principal that it acts for', async (t) => {
  const key = rsaKey('one')
  const provider = await startJwksServer(key)
  t.teardown(async () => { await provider.close() })
  const { get } = await testApp(t, {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: provider.url, oidcIssuer: 'https://id.test', oidcAudience: 'memory' },
    file: { identity: { obo_enabled: true } },
  })
  const claims = { iss: 'https://id.test', aud: 'memory', sub: 'ada', tid: 'acme', exp: 4_000_000_000, role: 'editor' }
  const whoami = async (more: Record<string, unknown>) => (
    (await get('/v1/whoami', { authorization: `Bearer ${rs256({ ...claims, ...more }, key)}` })).json()
  )
  t.same(await whoami({}), {
    principal: 'user:ada',
    actor: {
      type: 'user', id: 'ada', claims: { iss: 'https://id.test', aud: 'memory', exp: '4000000000', role: 'editor' },
    },
    tenant_id: 'acme',
    on_behalf_of: null,
  })
  t.match(await whoami({ act: { sub: 'agent:helper' } }), {
    principal: 'agent:helper', on_behalf_of: 'user:ada', tenant_id: 'acme',
  })
})

await t.test('without ?bank_id= the answer contains no permissions', async (t) => {
  const { get } = await testApp(t, { file: ONE_PERMISSION_EACH })
  t.notOk('permissions' in (await get('/v1/whoami', as('user:all'))).json())
})

await t.test('with access control off every permission is granted', async (t) => {
  const { get } = await testApp(t)
  t.same((await get('/v1/whoami?bank_id=any', as('user:ada'))).json().permissions, EVERYTHING.map(
    (permission) => ({ permission, granted_by: 'access_control disabled' }),
  ))
})

await t.test('permissions name the grant or the policy that grants them', async (t) => {
  const { get } = await testApp(t, {
    file: {
      access_control: { enabled: true, default_policy: 'owner_only' },
      access_grants: [
        { bank_id: 'other', principal: '*', permissions: ['*'] },
        { bank_id: 'team-*', principal: 'user:*', permissions: ['read'] },
      ],
      banks: {
        'team-a': {
          access: [
            { principal: 'user:bob', permissions: ['admin'] },
            { principal: 'user:ada', permissions: ['write', 'forget'] },
          ],
        },
      },
    },
  })
  const permissions = async (bank: string, principal: string) => (
    (await get(`/v1/whoami?bank_id=${bank}`, as(principal))).json().permissions
  )
  t.same(await permissions('team-a', 'user:ada'), [
    { permission: 'read', granted_by: 'access_grants[1]' },
    { permission: 'write', granted_by: 'banks.team-a.access[1]' },
    { permission: 'forget', granted_by: 'banks.team-a.access[1]' },
  ])
  t.same(await permissions('user-ada', 'user:ada'), EVERYTHING.map(
    (permission) => ({ permission, granted_by: 'default_policy owner_only' }),
  ))
  t.same(await permissions('other', 'agent:x'), EVERYTHING.map(
    (permission) => ({ permission, granted_by: 'access_grants[0]' }),
  ))
  t.same(await permissions('user-bob', 'user:ada'), [])
})

await t.test('the answer of whoami agrees with the decisions of the service', async (t) => {
  const { get, post } = await testApp(t, { file: ONE_PERMISSION_EACH })
  const does = {
    read: async (principal: string) => await post('/v1/recall', { bank_id: 'team', query: 'x' }, as(principal)),
    write: async (principal: string) => await post('/v1/retain', { bank_id: 'team', content: 'x' }, as(principal)),
    forget: async (principal: string) => await post('/v1/forget', { bank_id: 'team', tags: ['x'] }, as(principal)),
    admin: async (principal: string) => await get('/v1/banks/team/export', as(principal)),
  }
  for (const principal of ['user:read', 'user:write', 'user:forget', 'user:admin', 'user:all', 'user:none']) {
    const { permissions } = (await get('/v1/whoami?bank_id=team', as(principal))).json()
    for (const [permission, act] of Object.entries(does)) {
      const said = permissions.some((entry: { permission: string }) => entry.permission === permission)
      t.equal((await act(principal)).statusCode, said ? 200 : 403, `${principal} ${permission}`)
    }
  }
})

await t.test('a malformed bank, an unknown parameter and a caller without credentials are refused', async (t) => {
  const { get } = await testApp(t, { auth: { mode: 'api_key', apiKey: 'k' } })
  const headers = { 'x-api-key': 'k', ...as('user:ada') }
  refusedFields(t, await get('/v1/whoami?bank_id=a*', headers), 'bank_id')
  refusedFields(t, await get('/v1/whoami?bank_id=', headers), 'bank_id')
  refusedFields(t, await get('/v1/whoami?bank=a', headers), 'bank')
  refused(t, await get('/v1/whoami'), 401, 'unauthenticated')
})
