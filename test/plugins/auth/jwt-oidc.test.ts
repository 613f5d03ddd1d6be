import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startJwksServer } from '../../helpers/jwks-server.js'
import { NOW, rs256, rsaKey, secondsFromNow } from '../../helpers/tokens.js'
import { AUDIENCE, buildOidcApp, ISSUER, whoami, whoamiWith } from './auth-app.js'

const key = rsaKey('k1')
const base = { iss: ISSUER, aud: AUDIENCE, exp: secondsFromNow(60), sub: 'alice' }
/** What is left of these when the subject is mapped. */
const BASE_CLAIMS = { iss: ISSUER, aud: AUDIENCE, exp: String(secondsFromNow(60)) }

await t.test('jwt_oidc', async (t) => {
  const server = await startJwksServer(key)
  const app = await buildOidcApp(server.url)
  t.teardown(async () => {
    await app.close()
    await server.close()
  })
  const ask = (claims: Record<string, unknown>, on: FastifyInstance = app) =>
    whoamiWith(on, rs256({ ...base, ...claims }, key))

  await t.test('maps a plain token to a user', async (t) => {
    const response = await ask({})
    t.equal(response.statusCode, 200)
    t.same(response.json(), {
      principal: 'user:alice', actor: { type: 'user', id: 'alice', claims: BASE_CLAIMS }, tenantId: null,
    })
  })

  await t.test('requires a bearer token', async (t) => {
    const response = await whoami(app, {})
    t.equal(response.statusCode, 401)
    t.match(response.json(), { detail: 'Bearer token required', code: 'unauthenticated' })
    t.equal(response.headers['www-authenticate'], 'Bearer')
  })

  await t.test('fetches the keys once for many tokens', async (t) => {
    await Promise.all(Array.from({ length: 20 }, () => ask({})))
    t.equal(server.requests, 1)
  })

  await t.test('takes the actor type from its claim, trimmed and lower-cased', async (t) => {
    t.match((await ask({ service_actor_type: ' Agent ' })).json(), {
      principal: 'agent:alice', actor: { type: 'agent', id: 'alice' },
    })
  })

  for (const [claimed, type] of [
    ['Service-Account', 'service-account'], ['build.bot', 'build.bot'], ['1st', '1st'], ['\tÄgent\n', 'ägent'],
    ['a/b#c', 'a/b#c'],
  ] as const) {
    await t.test(`takes the actor type ${JSON.stringify(claimed)}, whatever visible characters it has`, async (t) => {
      t.match((await ask({ service_actor_type: claimed })).json(), {
        principal: `${type}:alice`, actor: { type, id: 'alice' },
      })
    })
  }

  for (const type of ['a:b', ':', 'agent:', 'build bot', 'a\u0000b', 'a\u200bb']) {
    await t.test(`refuses the actor type ${JSON.stringify(type)}, which could move the separator ` +
      'before the id', async (t) => {
      for (const more of [{}, { service_principal: 'user:alice' }]) {
        const response = await ask({ service_actor_type: type, ...more })
        t.equal(response.statusCode, 401)
        t.equal(response.json().detail, 'Invalid OIDC token: invalid actor type')
      }
    })
  }

  for (const type of ['', '  ', 7, null, ['agent'], { a: 1 }, true]) {
    await t.test(`takes the default actor type when the claim is ${JSON.stringify(type)}`, async (t) => {
      t.match((await ask({ service_actor_type: type })).json(), { principal: 'user:alice', actor: { type: 'user' } })
    })
  }

  await t.test('takes the default actor type from the configuration', async (t) => {
    const other = await buildOidcApp(server.url, { auth: { oidcActorType: 'service' } })
    t.teardown(() => other.close())
    t.match((await ask({}, other)).json(), { principal: 'service:alice', actor: { type: 'service' } })
  })

  await t.test('takes service_principal as the principal and keeps the actor', async (t) => {
    t.match((await ask({ service_principal: 'team:blue' })).json(), {
      principal: 'team:blue', actor: { type: 'user', id: 'alice' },
    })
  })

  await t.test('keeps a sub that is not a valid principal when service_principal is one', async (t) => {
    t.match((await ask({ sub: 'Alice Liddell', service_principal: 'user:al' })).json(), {
      principal: 'user:al', actor: { id: 'Alice Liddell' },
    })
  })

  for (const principal of ['', ' ', null]) {
    await t.test(`treats service_principal ${JSON.stringify(principal)} as absent`, async (t) => {
      t.equal((await ask({ service_principal: principal })).json().principal, 'user:alice')
    })
  }

  for (const principal of [
    7, true, ['user:root'], { id: 'user:root' }, 'user:a b', ' user:a', 'x'.repeat(257), 'user:a\u0000',
  ]) {
    await t.test(`refuses service_principal ${JSON.stringify(principal).slice(0, 20)}`, async (t) => {
      const response = await ask({ service_principal: principal })
      t.equal(response.statusCode, 401)
      t.equal(response.json().detail, 'Invalid OIDC token: invalid principal')
    })
  }

  const tenants: [Record<string, unknown>, string | null][] = [
    [{ tid: 'acme' }, 'acme'],
    [{ tenant_id: 'acme' }, 'acme'],
    [{ tid: 'acme', tenant_id: 'other' }, 'acme'],
    [{ tid: ' ', tenant_id: 'other' }, 'other'],
    [{ tid: null, tenant_id: 'other' }, 'other'],
    [{ tid: '', tenant_id: '' }, null],
    [{ tid: 42 }, '42'],
    [{ tid: 0 }, '0'],
    [{ tid: 'Acme Corp' }, 'Acme Corp'],
  ]
  for (const [claims, tenantId] of tenants) {
    await t.test(`reads the tenant of ${JSON.stringify(claims)} as ${tenantId}`, async (t) => {
      const body = (await ask(claims)).json()
      t.equal(body.tenantId, tenantId)
      t.same(body.actor.claims, BASE_CLAIMS)
    })
  }

  for (const tid of [true, ['acme'], { id: 'acme' }, 1.5, 2 ** 53, 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(257)]) {
    await t.test(`refuses the tenant ${JSON.stringify(tid).slice(0, 20)} instead of treating it as none`, async (t) => {
      const response = await ask({ tid })
      t.equal(response.statusCode, 401)
      t.equal(response.json().detail, 'Invalid OIDC token: invalid tenant')
    })
  }

  await t.test('passes on every claim that is not mapped as text, including registered ones and null', async (t) => {
    const response = await ask({
      nbf: secondsFromNow(-1),
      iat: secondsFromNow(-1),
      jti: 'id',
      tid: 'acme',
      tenant_id: 'b',
      service_actor_type: 'agent',
      service_principal: 'agent:x',
      email: 'a@b.test',
      empty: '',
      admin: true,
      guest: false,
      level: 7,
      ratio: 1.5,
      groups: ['a', 'b'],
      address: { city: 'Köln', zip: [1, null] },
      nothing: null,
    })
    t.same(response.json().actor.claims, {
      ...BASE_CLAIMS,
      nbf: String(secondsFromNow(-1)),
      iat: String(secondsFromNow(-1)),
      jti: 'id',
      nothing: 'null',
      email: 'a@b.test',
      empty: '',
      admin: 'true',
      guest: 'false',
      level: '7',
      ratio: '1.5',
      groups: '["a","b"]',
      address: '{"city":"Köln","zip":[1,null]}',
    })
  })

  await t.test('takes claims with the names of object members as claims', async (t) => {
    const payload = JSON.stringify(base).replace(
      '}', ',"__proto__":{"polluted":true},"constructor":"c","toString":"t"}',
    )
    const response = await whoamiWith(app, rs256(payload, key))
    t.equal(response.statusCode, 200)
    t.match(response.body, '"__proto__":"{\\"polluted\\":true}"')
    t.match(response.body, '"constructor":"c"')
    t.equal(Reflect.get({}, 'polluted'), undefined)
  })

  await t.test('accepts an array that contains the audience', async (t) => {
    t.equal((await ask({ aud: ['x', AUDIENCE] })).statusCode, 200)
  })

  await t.test('accepts a token without exp, which the specification does not require', async (t) => {
    t.equal((await ask({ exp: undefined })).statusCode, 200)
  })
})

await t.test('an identity provider that cannot be reached is 503 and not 401', async (t) => {
  const server = await startJwksServer(key)
  await server.close()
  const app = await buildOidcApp(server.url)
  t.teardown(() => app.close())
  const response = await whoamiWith(app, rs256(base, key))
  t.equal(response.statusCode, 503)
  t.match(response.json(), {
    code: 'identity_provider_unavailable',
    detail: 'No signing key of the identity provider is available',
    retry_after_seconds: 30,
  })
  t.equal(response.headers['retry-after'], '30')
  t.notMatch(response.body, '127.0.0.1')
  t.equal((await whoami(app, {})).statusCode, 401, 'without a token there is nothing to look up')
})

await t.test('keys are fetched again after ten minutes, and a withdrawn one is refused then', async (t) => {
  let now = NOW
  const server = await startJwksServer(key)
  const app = await buildOidcApp(server.url, { clock: () => now })
  t.teardown(async () => {
    await app.close()
    await server.close()
  })
  const token = rs256({ ...base, exp: secondsFromNow(86_400) }, key)
  t.equal((await whoamiWith(app, token)).statusCode, 200)
  server.publish(rsaKey('k2'))
  now += 599_000
  t.equal((await whoamiWith(app, token)).statusCode, 200)
  now += 1000
  const response = await whoamiWith(app, token)
  t.equal(response.statusCode, 401)
  t.equal(response.json().detail, 'Invalid OIDC token: unknown signing key')
})
