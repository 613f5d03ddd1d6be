import t from 'tap'
import { testApp } from '../helpers/app.js'
import { getConfig, historyOf, putConfig, resetConfig } from './bank-configs.js'
import { tenants } from './reflecting.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

await t.test('every request on the configuration requires admin, and reveals nothing to others', async (t) => {
  const app = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' }, file: ONE_PERMISSION_EACH })
  const of = (principal: string) => ({ 'x-api-key': 'key', ...as(principal) })
  await app.retain('team', 'The otter sleeps.', {}, of('user:all'))
  const before = await putConfig(app, 'team', { mission: 'A secret mission.' }, of('user:admin'))
  const requests = [
    ['GET', '/config'], ['PUT', '/config', { mission: 'Mine.' }], ['PATCH', '/config', { mission: 'Mine.' }],
    ['DELETE', '/config'], ['GET', '/config/history'], ['DELETE', ''],
    // It is refused before the body or the stored configuration is checked.
    ['PUT', '/config', { barriers: { validation: { max_content_length: 1_000_000 } } }],
  ] as const
  for (const [method, path, payload] of requests) {
    for (const principal of ['user:read', 'user:write', 'user:forget', 'user:nobody']) {
      const response = await app.inject({
        method, url: `/v1/banks/team${path}`, headers: of(principal), ...(payload !== undefined && { payload }),
      })
      refused(t, response, 403, 'access_denied', {
        detail: `Principal '${principal}' is denied 'admin' on bank 'team'`,
      })
      t.notMatch(response.body, /secret|1000000/)
      t.equal(response.headers['etag'], undefined)
    }
    refused(
      t, await app.inject({ method, url: `/v1/banks/team${path}`, ...(payload !== undefined && { payload }) }), 401,
      'unauthenticated',
    )
  }
  t.same(await getConfig(app, 'team', of('user:admin')), before)
  t.equal((await app.get('/v1/banks/team/stats', of('user:read'))).json().memory_count, 1)
})

await t.test('banks with the same name in two tenants have separate configurations', async (t) => {
  const { auth, of } = await tenants(t)
  const app = await testApp(t, { auth })
  const acme = await putConfig(
    app, 'home', { mission: 'Of Acme.', barriers: { validation: { max_content_length: 5 } } }, of('acme'),
  )
  t.match(await getConfig(app, 'home', of('zeta')), { config: {}, etag: '"r0"' })
  t.same(await historyOf(app, 'home', of('zeta')), [])
  await app.retain('home', 'longer than five', {}, of('zeta'))
  refusedFields(
    t, await app.post('/v1/retain', { bank_id: 'home', content: 'longer than five' }, of('acme')), 'content',
  )
  await resetConfig(app, 'home', of('zeta'))
  await app.inject({ method: 'DELETE', url: '/v1/banks/home', headers: of('zeta') })
  t.same(await getConfig(app, 'home', of('acme')), acme)
})

await t.test('entity tags are the same whatever other tenants change meanwhile', async (t) => {
  const tagsOfAcme = async (changesOfZeta: number) => {
    const { auth, of } = await tenants(t)
    const app = await testApp(t, { auth })
    const other = async () => {
      for (let i = 0; i < changesOfZeta; i++) await putConfig(app, 'home', { mission: `${i}` }, of('zeta'))
    }
    await other()
    const { etag: first } = await putConfig(app, 'home', { mission: 'One.' }, of('acme'))
    await other()
    const { etag: second } = await putConfig(app, 'home', { mission: 'Two.' }, of('acme'))
    await other()
    await resetConfig(app, 'home', of('acme'))
    return [first, second, ...(await historyOf(app, 'home', of('acme'))).map(({ etag }) => etag)]
  }
  const tags = await tagsOfAcme(3)
  t.equal(new Set(tags).size, 3, 'each change has a tag of its own')
  t.same(tags, await tagsOfAcme(0))
})
