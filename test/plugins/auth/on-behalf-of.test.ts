import t from 'tap'
import { startJwksServer } from '../../helpers/jwks-server.js'
import { rs256, rsaKey, secondsFromNow } from '../../helpers/tokens.js'
import { AUDIENCE, buildOidcApp, ISSUER, whoamiWith } from './auth-app.js'

const key = rsaKey('k1')
const HEADER = 'x-service-on-behalf-of'
/** What every token here has beside its subject. */
const CLAIMS = { iss: ISSUER, aud: AUDIENCE, exp: String(secondsFromNow(60)) }
const token = (claims: Record<string, unknown> = {}) =>
  rs256({ iss: ISSUER, aud: AUDIENCE, exp: secondsFromNow(60), sub: 'bob', ...claims }, key)

await t.test('on behalf of', async (t) => {
  const server = await startJwksServer(key)
  const on = await buildOidcApp(server.url, { oboEnabled: true })
  const off = await buildOidcApp(server.url)
  t.teardown(async () => {
    await on.close()
    await off.close()
    await server.close()
  })

  await t.test('the header names the identity that the caller acts for', async (t) => {
    const response = await whoamiWith(on, token({ service_actor_type: 'agent', sub: 'a' }), { [HEADER]: ' user:b ' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), {
      principal: 'agent:a', actor: { type: 'agent', id: 'a', claims: CLAIMS }, tenantId: null, onBehalfOf: 'user:b',
    })
  })

  for (const value of ['bob', ':b', 'user:', 'user:a b', `user:${'x'.repeat(252)}`, '*\u00a0', 'user:b\u00a0']) {
    await t.test(`the header must be <type>:<id>, which ${JSON.stringify(value.slice(0, 10))} is not`, async (t) => {
      const response = await whoamiWith(on, token(), { [HEADER]: value })
      t.equal(response.statusCode, 400)
      t.match(response.json(), {
        code: 'invalid_request', errors: [{ field: 'X-Service-On-Behalf-Of', message: 'must be <type>:<id>' }],
      })
    })
  }

  await t.test('the header is read as UTF-8, so it names the same identity as a token', async (t) => {
    const bytes = Buffer.from('user:\u00e0').toString('latin1')
    t.match((await whoamiWith(on, token(), { [HEADER]: bytes })).json(), { onBehalfOf: 'user:\u00e0' })
  })

  await t.test('a blank header counts as absent', async (t) => {
    t.notHas((await whoamiWith(on, token(), { [HEADER]: '  ' })).json(), { onBehalfOf: 'anybody' })
    t.equal((await whoamiWith(off, token(), { [HEADER]: '  ' })).statusCode, 200)
  })

  await t.test('the header is refused with on-behalf-of off, but an invalid token is refused first', async (t) => {
    const response = await whoamiWith(off, token(), { [HEADER]: 'user:b' })
    t.equal(response.statusCode, 400)
    t.match(response.json(), { code: 'invalid_request', errors: [{ field: 'X-Service-On-Behalf-Of' }] })
    t.equal((await whoamiWith(off, token({ aud: 'x' }), { [HEADER]: 'user:b' })).statusCode, 401)
  })

  await t.test('an act claim makes its sub the actor, who acts for the subject', async (t) => {
    const response = await whoamiWith(on, token({
      act: { sub: 'agent:a', act: { sub: 'service:earlier' } }, email: 'b@x.test', tid: 'acme',
    }))
    t.equal(response.statusCode, 200)
    t.same(response.json(), {
      principal: 'agent:a',
      actor: {
        type: 'agent',
        id: 'a',
        claims: { ...CLAIMS, email: 'b@x.test', act: '{"sub":"agent:a","act":{"sub":"service:earlier"}}' },
      },
      tenantId: 'acme',
      onBehalfOf: 'user:bob',
    })
  })

  await t.test('an act.sub without a type gets the actor type', async (t) => {
    t.match((await whoamiWith(on, token({ act: { sub: 'a' }, service_actor_type: 'Robot' }))
      .then((response) => response.json())), {
      principal: 'robot:a', actor: { type: 'robot', id: 'a' }, onBehalfOf: 'robot:bob',
    })
  })

  await t.test('service_principal is the identity that a delegated token acts for', async (t) => {
    t.match((await whoamiWith(on, token({ act: { sub: 'agent:a' }, service_principal: 'team:blue' }))).json(), {
      principal: 'agent:a', onBehalfOf: 'team:blue',
    })
  })

  await t.test('the header beside an act claim is refused', async (t) => {
    const response = await whoamiWith(on, token({ act: { sub: 'agent:a' } }), { [HEADER]: 'user:b' })
    t.equal(response.statusCode, 400)
    t.match(response.json(), {
      errors: [{ field: 'X-Service-On-Behalf-Of', message: 'cannot be combined with a delegated token' }],
    })
  })

  for (const act of [{ sub: 'agent:a' }, null, 'agent:a', {}]) {
    await t.test(`an act claim ${JSON.stringify(act)} is refused with on-behalf-of off`, async (t) => {
      const response = await whoamiWith(off, token({ act }))
      t.equal(response.statusCode, 401)
      t.equal(response.json().detail, 'Invalid OIDC token: delegated token not accepted')
      t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"')
    })
  }

  const bad: [unknown, string][] = [
    [null, 'invalid actor'],
    ['agent:a', 'invalid actor'],
    [['agent:a'], 'invalid actor'],
    [{}, 'invalid actor'],
    [{ sub: 7 }, 'invalid actor'],
    [{ sub: '' }, 'invalid actor'],
    [{ sub: ' ' }, 'invalid actor'],
    [{ sub: { sub: 'agent:a' } }, 'invalid actor'],
    [{ act: { sub: 'agent:a' } }, 'invalid actor'],
    [{ sub: 'agent:a b' }, 'invalid principal'],
    [{ sub: 'x'.repeat(300) }, 'invalid principal'],
  ]
  for (const [act, reason] of bad) {
    await t.test(`an act claim ${JSON.stringify(act).slice(0, 30)} is refused`, async (t) => {
      const response = await whoamiWith(on, token({ act }))
      t.equal(response.statusCode, 401)
      t.equal(response.json().detail, `Invalid OIDC token: ${reason}`)
    })
  }

  await t.test('a delegated token still needs its own sub', async (t) => {
    t.equal(
      (await whoamiWith(on, token({ sub: undefined, act: { sub: 'agent:a' } }))).json().detail, 'Token missing sub',
    )
  })
})
