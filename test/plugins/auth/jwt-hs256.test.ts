import { request as httpRequest } from 'node:http'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { hs256, secondsFromNow } from '../../helpers/tokens.js'
import { buildAuthApp, SECRET, whoami, whoamiWith } from './auth-app.js'

async function build (t: Test, auth: { jwtAudience?: string, jwtIssuer?: string } = {}): Promise<FastifyInstance> {
  const app = await buildAuthApp({ auth: { mode: 'jwt_hs256', jwtSecret: SECRET, ...auth } })
  t.teardown(() => app.close())
  return app
}

const full = { sub: 'user:alice', aud: 'memory', exp: secondsFromNow(60), iat: secondsFromNow(-60) }

await t.test('jwt_hs256 takes the principal from sub, and sets neither actor nor tenant', async (t) => {
  const app = await build(t)
  const response = await whoamiWith(app, hs256({ ...full, tid: 'acme', service_principal: 'user:root' }, SECRET))
  t.equal(response.statusCode, 200)
  t.same(response.json(), { principal: 'user:alice', tenantId: null })
})

await t.test('a token without exp and iat is accepted', async (t) => {
  const app = await build(t)
  t.equal((await whoamiWith(app, hs256({ sub: 'user:alice' }, SECRET))).statusCode, 200)
})

await t.test('a token expires at the second that exp names', async (t) => {
  const app = await build(t)
  t.equal((await whoamiWith(app, hs256({ ...full, exp: secondsFromNow(0.001) }, SECRET))).statusCode, 200)
  const response = await whoamiWith(app, hs256({ ...full, exp: secondsFromNow(0) }, SECRET))
  t.equal(response.statusCode, 401)
  t.equal(response.json().detail, 'Invalid token')
})

await t.test('a token begins at the second that nbf names', async (t) => {
  const app = await build(t)
  t.equal((await whoamiWith(app, hs256({ ...full, nbf: secondsFromNow(0) }, SECRET))).statusCode, 200)
  t.equal(
    (await whoamiWith(app, hs256({ ...full, nbf: secondsFromNow(0.001) }, SECRET))).json().detail, 'Invalid token',
  )
})

await t.test('Authorization must be Bearer and one token', async (t) => {
  const app = await build(t)
  const token = hs256(full, SECRET)
  const accepted = [`Bearer ${token}`, `bearer ${token}`, `BEARER ${token}`, ` Bearer   ${token} `, `Bearer\t${token}`]
  for (const authorization of accepted) {
    t.equal((await whoami(app, { authorization })).statusCode, 200, JSON.stringify(authorization.slice(0, 12)))
  }
  const refused = [
    undefined, '', ' ', 'Bearer', 'Bearer ', `Basic ${token}`, token, `Bearer${token}`, `Bearer ${token} ${token}`,
    `Bearer ${token}, Bearer ${token}`, `Token Bearer ${token}`,
  ]
  for (const authorization of refused) {
    const response = await whoami(app, authorization === undefined ? {} : { authorization })
    t.equal(response.statusCode, 401)
    t.match(
      response.json(), { detail: 'Bearer token required', code: 'unauthenticated' },
      JSON.stringify(authorization?.slice(0, 12)),
    )
    t.equal(response.headers['www-authenticate'], 'Bearer')
  }
})

await t.test('two Authorization headers are refused', async (t) => {
  const app = await build(t)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const status = await new Promise((resolve, reject) => {
    httpRequest(`${address}/whoami`, {
      headers: [
        'host', new URL(address).host, 'authorization', `Bearer ${hs256(full, SECRET)}`, 'authorization',
        'Bearer other',
      ],
    }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject).end()
  })
  t.equal(status, 401)
})

await t.test('WWW-Authenticate says that a token is invalid, and nothing more', async (t) => {
  const app = await build(t)
  const response = await whoamiWith(app, hs256(full, 'another secret'))
  t.equal(response.statusCode, 401)
  t.match(response.json(), { detail: 'Invalid token', code: 'unauthenticated' })
  t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"')
})

await t.test('with an audience set', async (t) => {
  const app = await build(t, { jwtAudience: 'memory' })
  const cases: [string, unknown, number][] = [
    ['the audience itself is accepted', 'memory', 200],
    ['an array with the audience is accepted', ['other', 'memory'], 200],
    ['another audience is refused', 'memory2', 401],
    ['an audience of another case is refused', 'Memory', 401],
    ['an array without it is refused', ['other'], 401],
    ['an empty array is refused', [], 401],
    ['an array with a number beside it is refused', ['memory', 1], 401],
    ['a nested array is refused', [['memory']], 401],
    ['a number is refused', 1, 401],
    ['null is refused', null, 401],
    ['an object is refused', { memory: true }, 401],
    ['a missing audience is refused', undefined, 401],
  ]
  for (const [what, aud, status] of cases) {
    await t.test(what, async (t) => {
      const response = await whoamiWith(app, hs256({ ...full, aud }, SECRET))
      t.equal(response.statusCode, status)
      if (status === 401) t.equal(response.json().detail, 'Invalid token')
    })
  }
})

await t.test('without an audience set, aud is ignored', async (t) => {
  const app = await build(t)
  for (const aud of ['anything', ['a'], undefined]) {
    t.equal((await whoamiWith(app, hs256({ ...full, aud }, SECRET))).statusCode, 200)
  }
})

await t.test('an issuer is enforced when it is set', async (t) => {
  const app = await build(t, { jwtIssuer: 'https://id.example.test' })
  t.equal((await whoamiWith(app, hs256({ ...full, iss: 'https://id.example.test' }, SECRET))).statusCode, 200)
  for (const iss of [undefined, null, '', 'https://id.example.test/', ['https://id.example.test']]) {
    t.equal((await whoamiWith(app, hs256({ ...full, iss }, SECRET))).json().detail, 'Invalid token')
  }
})

await t.test('a secret that looks like a public key is still only a secret', async (t) => {
  const secret = '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----'
  const app = await buildAuthApp({ auth: { mode: 'jwt_hs256', jwtSecret: secret } })
  t.teardown(() => app.close())
  t.equal((await whoamiWith(app, hs256(full, secret))).statusCode, 200)
})

await t.test('X-Service-On-Behalf-Of and a delegated token are refused, since they restrict nothing', async (t) => {
  const app = await build(t)
  const response = await whoamiWith(app, hs256(full, SECRET), { 'x-service-on-behalf-of': 'user:b' })
  t.equal(response.statusCode, 400)
  t.match(response.json(), { code: 'invalid_request', errors: [{ field: 'X-Service-On-Behalf-Of' }] })
  const delegated = await whoamiWith(app, hs256({ ...full, act: { sub: 'agent:a' } }, SECRET))
  t.equal(delegated.statusCode, 401)
  t.equal(delegated.json().detail, 'Invalid token')
})
