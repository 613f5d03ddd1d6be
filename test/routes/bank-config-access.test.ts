import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { rs256, rsaKey, NOW, secondsFromNow } from '../helpers/tokens.js'
import { patchConfig, putConfig, resetConfig } from './bank-configs.js'
import { as, refused } from './support.js'
import { openSource, sendJson } from './webhooks.js'

const FILE: FileConfig = {
  access_control: { enabled: true, default_policy: 'deny' },
  access_grants: [{ bank_id: '*', principal: 'user:admin', permissions: ['*'] }],
}
const ADMIN = as('user:admin')
const PERMISSIONS = ['read', 'write', 'forget', 'admin'] as const
type Permission = typeof PERMISSIONS[number]

const grant = (principal: string, ...permissions: Array<Permission | '*'>) => ({ access: [{ principal, permissions }] })

async function permissionsOf (
  app: TestApp, bankId: string, headers: Record<string, string>,
): Promise<Array<{ permission: string, granted_by: string }>> {
  return (await app.get(
    `/v1/whoami?bank_id=${bankId}`, headers,
  )).json<{ permissions: Array<{ permission: string, granted_by: string }> }>().permissions
}

/** What the routes let a caller do on a bank. */
async function allowed (app: TestApp, bankId: string, headers: Record<string, string>): Promise<Permission[]> {
  const answers = {
    read: await app.post('/v1/recall', { bank_id: bankId, query: 'otter' }, headers),
    write: await app.post('/v1/retain', { bank_id: bankId, content: 'The otter sleeps.' }, headers),
    forget: await app.post('/v1/forget', { bank_id: bankId, tags: ['none'] }, headers),
    admin: await app.get(`/v1/banks/${bankId}/config`, headers),
  }
  return PERMISSIONS.filter((permission) => answers[permission].statusCode === 200)
}

for (const permission of [...PERMISSIONS, '*'] as const) {
  await t.test(`a bank's grant of ${permission} gives only that, on this bank, from the next request on`, async (t) => {
    const app = await testApp(t, { file: FILE })
    const bob = as('user:bob')
    t.same(await allowed(app, 'home', bob), [])
    await putConfig(app, 'home', grant('user:bob', permission), ADMIN)
    const expected = permission === '*' ? [...PERMISSIONS] : [permission]
    t.same(await allowed(app, 'home', bob), expected)
    t.same((await permissionsOf(app, 'home', bob)).map((entry) => entry.permission), expected)
    for (const other of ['home2', 'hom', 'Home']) t.same(await allowed(app, other, bob), [])
    for (const other of ['user:bobby', 'agent:bob', 'bob']) t.same(await allowed(app, 'home', as(other)), [])
    await resetConfig(app, 'home', ADMIN)
    t.same(await allowed(app, 'home', bob), [])
  })
}

await t.test('whoami names the grant of the bank, or that of the file where both give the same', async (t) => {
  const app = await testApp(t, {
    file: {
      ...FILE,
      access_grants: [...FILE.access_grants!, { bank_id: 'home', principal: 'user:bob', permissions: ['read'] }],
    },
  })
  await putConfig(
    app, 'home',
    {
      access: [
        { principal: 'user:eve', permissions: ['read'] }, { principal: 'user:*', permissions: ['read', 'write'] },
      ],
    },
    ADMIN,
  )
  t.same(await permissionsOf(app, 'home', as('user:bob')), [
    { permission: 'read', granted_by: 'access_grants[1]' },
    { permission: 'write', granted_by: 'configuration of the bank, access[1]' },
  ])
})

await t.test('the list contains the banks that grant read themselves', async (t) => {
  const app = await testApp(t, { file: FILE })
  for (const bankId of ['a', 'b', 'c']) await app.retain(bankId, 'The otter sleeps.', {}, ADMIN)
  await putConfig(app, 'b', grant('user:bob', 'read'), ADMIN)
  await putConfig(app, 'c', grant('user:bob', 'write', 'admin'), ADMIN)
  const listed = async () => (
    (await app.get('/v1/banks', as('user:bob'))).json().banks.map(({ bank_id: bankId }: { bank_id: string }) => bankId)
  )
  t.same(await listed(), ['b'])
  await patchConfig(app, 'b', { access: null }, ADMIN)
  t.same(await listed(), [])
})

await t.test('a recall of several banks needs read on each of them, by either kind of grant', async (t) => {
  const app = await testApp(t, { file: FILE })
  await putConfig(app, 'a', grant('user:bob', 'read'), ADMIN)
  const recall = async () => await app.post('/v1/recall', { banks: ['a', 'b'], query: 'otter' }, as('user:bob'))
  refused(t, await recall(), 403, 'access_denied', { detail: /on bank 'b'/ })
  await putConfig(app, 'b', grant('user:bob', 'read'), ADMIN)
  t.equal((await recall()).statusCode, 200)
})

await t.test('a principal with a grant of admin by the bank may pass the right on, and lose it', async (t) => {
  const app = await testApp(t, { file: FILE })
  await putConfig(app, 'home', grant('user:bob', 'admin'), ADMIN)
  await putConfig(app, 'home', grant('user:eve', 'admin'), as('user:bob'))
  t.same(await allowed(app, 'home', as('user:bob')), [])
  t.same(await allowed(app, 'home', as('user:eve')), ['admin'])
  t.same(await allowed(app, 'home', ADMIN), [...PERMISSIONS], 'a bank does not revoke grants of the file')
})

await t.test('an on-behalf-of identity restricts what a bank grants', async (t) => {
  const key = rsaKey('k1')
  const server = await startJwksServer(key)
  t.teardown(async () => { await server.close() })
  const auth = {
    mode: 'jwt_oidc' as const, oidcJwksUrl: server.url, oidcIssuer: 'https://id.test', oidcAudience: 'memory',
  }
  const app = await testApp(t, { auth, file: { ...FILE, identity: { obo_enabled: true } } }, { clock: () => NOW })
  const of = (principal: string, onBehalfOf?: string) => ({
    authorization: `Bearer ${rs256(
      { sub: 'x', service_principal: principal, iss: 'https://id.test', aud: 'memory', exp: secondsFromNow(600) }, key,
    )}`,
    ...(onBehalfOf !== undefined && { 'x-service-on-behalf-of': onBehalfOf }),
  })
  await putConfig(
    app, 'home',
    {
      access: [
        { principal: 'agent:a', permissions: ['read', 'write'] },
        { principal: 'user:b', permissions: ['read', 'forget'] },
      ],
    },
    of('user:admin'),
  )
  t.same(await allowed(app, 'home', of('agent:a')), ['read', 'write'])
  t.same(await allowed(app, 'home', of('agent:a', 'user:b')), ['read'])
  t.same(await allowed(app, 'home', of('agent:a', 'user:c')), [])
  t.same(await permissionsOf(app, 'home', of('agent:a', 'user:b')), [
    { permission: 'read', granted_by: 'configuration of the bank, access[0] and configuration of the bank, access[1]' },
  ])
})

await t.test('the principal of a webhook has the grants of its bank', async (t) => {
  const app = await testApp(t, { file: { ...FILE, sources: { crm: openSource() } } })
  refused(t, await sendJson(app, 'crm', { content: 'One.' }), 403, 'access_denied')
  await putConfig(app, 'inbox', grant('service:crm', 'write'), ADMIN)
  t.equal((await sendJson(app, 'crm', { content: 'One.' })).statusCode, 200)
  await resetConfig(app, 'inbox', ADMIN)
  refused(t, await sendJson(app, 'crm', { content: 'Two.' }), 403, 'access_denied')
})
