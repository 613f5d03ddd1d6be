import { request as httpRequest } from 'node:http'
import t from 'tap'
import { buildAuthApp, whoami } from './auth-app.js'

const KEY = 'correct horse battery staple'

await t.test('api_key mode', async (t) => {
  const app = await buildAuthApp({ auth: { mode: 'api_key', apiKey: KEY } })
  t.teardown(() => app.close())

  await t.test('accepts the principal of its header when the key is right', async (t) => {
    const response = await whoami(app, { 'x-api-key': ` ${KEY} `, 'x-service-principal': ' service:billing ' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { principal: 'service:billing', tenantId: null })
  })

  const wrong: Record<string, string | undefined> = {
    absent: undefined,
    empty: '',
    blank: '  ',
    wrong: 'correct horse battery stapler',
    shorter: KEY.slice(0, -1),
    'of another case': KEY.toUpperCase(),
    'sent twice in one value': `${KEY}, ${KEY}`,
    'beyond ASCII': 'k\u00e9y',
    'beyond Latin-1': 'k\u0119y \u{1f511}',
    'with a line end': `${KEY}\n${KEY}`,
    'very long': 'x'.repeat(20_000),
  }
  for (const [what, key] of Object.entries(wrong)) {
    await t.test(`refuses a key that is ${what}`, async (t) => {
      // The principal is bad too: the key is judged first.
      const response = await whoami(app, {
        ...(key !== undefined && { 'x-api-key': key }), 'x-service-principal': 'a b',
      })
      t.equal(response.statusCode, 401)
      t.match(response.json(), { detail: 'Invalid or missing API key', code: 'unauthenticated' })
    })
  }

  await t.test('refuses two key headers', async (t) => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const status = await new Promise((resolve, reject) => {
      httpRequest(`${address}/whoami`, {
        headers: { 'x-api-key': [KEY, ''], 'x-service-principal': 'user:a' },
      }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject).end()
    })
    t.equal(status, 401)
  })

  for (const [what, headers] of Object.entries({
    missing: {}, empty: { 'x-service-principal': '' }, blank: { 'x-service-principal': ' \t ' },
  })) {
    await t.test(`requires the principal when it is ${what}`, async (t) => {
      const response = await whoami(app, { 'x-api-key': KEY, ...headers })
      t.equal(response.statusCode, 401)
      t.match(response.json(), { detail: 'X-Service-Principal required', code: 'unauthenticated' })
    })
  }

  await t.test('refuses an invalid principal', async (t) => {
    const response = await whoami(app, { 'x-api-key': KEY, 'x-service-principal': 'user:a user:b' })
    t.equal(response.statusCode, 400)
    t.match(response.json(), { code: 'invalid_request', errors: [{ field: 'X-Service-Principal' }] })
  })

  await t.test('refuses X-Service-On-Behalf-Of, and only to a caller who has the key', async (t) => {
    const headers = { 'x-service-principal': 'service:a', 'x-service-on-behalf-of': 'user:b' }
    const response = await whoami(app, { ...headers, 'x-api-key': KEY })
    t.equal(response.statusCode, 400)
    t.match(response.json(), { errors: [{ field: 'X-Service-On-Behalf-Of' }] })
    t.equal((await whoami(app, headers)).statusCode, 401)
  })
})
