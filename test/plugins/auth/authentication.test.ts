import Fastify from 'fastify'
import t from 'tap'
import { guardWith } from '../../../plugins/auth/authentication.js'
import errors from '../../../plugins/errors.js'
import { buildAuthApp } from './auth-app.js'

await t.test('reading the context before authentication is a fault, and gives no anonymous caller', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(async (ring) => {
    ring.addHook('onRequest', async (request) => {
      t.equal(request.hasContext, false)
      t.throws(() => request.context, /before authentication/)
    })
    guardWith(ring, () => ({ tenantId: null }))
    ring.get('/', async (request) => ({ has: request.hasContext, context: request.context }))
  })
  t.same((await app.inject('/')).json(), { has: true, context: { tenantId: null } })
})

await t.test('one request never sees the context of another', async (t) => {
  const app = await buildAuthApp({ auth: { mode: 'dev' } })
  t.teardown(() => app.close())
  const callers = Array.from({ length: 20 }, (_, index) => `user:${index}`)
  const responses = await Promise.all(callers.map((principal) => app.inject({
    url: '/whoami', headers: { 'x-service-principal': principal },
  })))
  t.same(responses.map((response) => response.json().principal), callers)
})

await t.test('credentials are checked before the body is read', async (t) => {
  const app = await buildAuthApp({ auth: { mode: 'api_key', apiKey: 'key' } })
  t.teardown(() => app.close())
  const response = await app.inject({
    method: 'POST', url: '/echo', headers: { 'content-type': 'application/json' }, payload: '{not json',
  })
  t.equal(response.statusCode, 401)
  t.equal(response.json().detail, 'Invalid or missing API key')
})

const misconfigured = [
  { auth: { mode: 'api_key' }, detail: 'SERVICE_API_KEY is not set' },
  { auth: { mode: 'jwt_hs256' }, detail: 'SERVICE_JWT_SECRET is not set' },
  { auth: { mode: 'jwt_oidc' }, detail: 'SERVICE_OIDC_JWKS_URL is not set' },
  { auth: { mode: 'jwt_oidc', oidcIssuer: 'i' }, detail: 'SERVICE_OIDC_JWKS_URL is not set' },
  {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: 'http://127.0.0.1:9/' },
    detail: 'SERVICE_OIDC_ISSUER and SERVICE_OIDC_AUDIENCE are required',
  },
  {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: 'http://127.0.0.1:9/', oidcIssuer: 'i' },
    detail: 'SERVICE_OIDC_ISSUER and SERVICE_OIDC_AUDIENCE are required',
  },
  {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: 'http://127.0.0.1:9/', oidcAudience: 'a' },
    detail: 'SERVICE_OIDC_ISSUER and SERVICE_OIDC_AUDIENCE are required',
  },
] as const

for (const { auth, detail } of misconfigured) {
  await t.test(`${JSON.stringify(auth)} answers 500 "${detail}" whatever is sent`, async (t) => {
    const app = await buildAuthApp({ auth })
    t.teardown(() => app.close())
    const everything = {
      'x-api-key': 'k', 'x-service-principal': 'a b', authorization: 'Bearer x.y.z', 'x-service-on-behalf-of': 'user:b',
    }
    for (const headers of [{}, everything]) {
      const response = await app.inject({ url: '/whoami', headers })
      t.equal(response.statusCode, 500)
      t.match(response.json(), { detail, code: 'misconfigured' })
    }
  })
}
