import t from 'tap'
import { buildAuthApp, whoami } from './auth-app.js'

await t.test('dev mode', async (t) => {
  const app = await buildAuthApp({ auth: { mode: 'dev' } })
  t.teardown(() => app.close())

  await t.test('trusts the principal header and trims it', async (t) => {
    const response = await whoami(app, { 'x-service-principal': '  user:alice ' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { principal: 'user:alice', tenantId: null })
  })

  await t.test('treats a caller without the header, or with a blank one, as anonymous', async (t) => {
    t.same((await whoami(app, {})).json(), { tenantId: null })
    t.same((await whoami(app, { 'x-service-principal': '   ' })).json(), { tenantId: null })
  })

  for (const principal of [
    'user:a b', `user:${'x'.repeat(252)}`, 'user:\u00a0x', 'user:\u00a0', '\u00a0user:a', '\u00a0', 'a\u0085b',
  ]) {
    await t.test(`refuses the principal ${JSON.stringify(principal.slice(0, 12))} of ` +
      `${principal.length} characters`, async (t) => {
      const response = await whoami(app, { 'x-service-principal': principal })
      t.equal(response.statusCode, 400)
      t.match(response.json(), { code: 'invalid_request', errors: [{ field: 'X-Service-Principal' }] })
    })
  }

  await t.test('accepts a principal of 256 characters', async (t) => {
    t.equal((await whoami(app, { 'x-service-principal': 'x'.repeat(256) })).statusCode, 200)
  })

  // Node gives the bytes of a header as characters: `bytes` are what curl sends for the principal, in UTF-8.
  for (const principal of ['user:\u00e9', 'user:\u00e0', 'user:\u0141ukasz', 'user:\u65e5\u672c', 'user:\u{1f600}']) {
    await t.test(`reads ${principal} as UTF-8`, async (t) => {
      const bytes = Buffer.from(principal).toString('latin1')
      const response = await whoami(app, { 'x-service-principal': bytes })
      t.same([response.statusCode, response.json().principal], [200, principal])
    })
  }

  await t.test('reads bytes that are not UTF-8 as Latin-1, which fetch sends', async (t) => {
    const response = await whoami(app, { 'x-service-principal': 'user:zo\u00eb' })
    t.same(response.json(), { principal: 'user:zo\u00eb', tenantId: null })
  })

  await t.test('refuses invisible characters and too many of them also in UTF-8', async (t) => {
    for (const principal of ['user:\u00a0', 'user:a\u200bb', '\ufeffuser:a', `user:${'\u00e9'.repeat(252)}`]) {
      const bytes = Buffer.from(principal).toString('latin1')
      t.equal((await whoami(app, { 'x-service-principal': bytes })).statusCode, 400)
    }
    const longest = Buffer.from('\u00e9'.repeat(256)).toString('latin1')
    t.equal((await whoami(app, { 'x-service-principal': longest })).statusCode, 200)
  })

  await t.test('refuses two principal headers', async (t) => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    // Sent as a list, each value becomes a header line of its own.
    const { request } = await import('node:http')
    const status = await new Promise((resolve, reject) => {
      request(`${address}/whoami`, { headers: { 'X-Service-Principal': ['user:a', ''] } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject).end()
    })
    t.equal(status, 400)
  })

  await t.test('refuses X-Service-On-Behalf-Of, which would have no effect', async (t) => {
    const response = await whoami(app, { 'x-service-principal': 'agent:a', 'x-service-on-behalf-of': 'user:b' })
    t.equal(response.statusCode, 400)
    t.match(response.json(), {
      code: 'invalid_request',
      errors: [{ field: 'X-Service-On-Behalf-Of', message: 'is accepted only in auth mode jwt_oidc' }],
    })
  })

  await t.test('treats a blank X-Service-On-Behalf-Of as absent', async (t) => {
    t.equal((await whoami(app, { 'x-service-on-behalf-of': ' ' })).statusCode, 200)
  })
})

await t.test('a route outside the guarded scope has no context', async (t) => {
  const app = await buildAuthApp({ auth: { mode: 'dev' } })
  t.teardown(() => app.close())
  t.same((await app.inject('/open')).json(), { hasContext: null })
})
