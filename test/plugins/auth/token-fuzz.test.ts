import fc, { runs } from '../../helpers/fast-check.js'
import t from 'tap'
import { startJwksServer } from '../../helpers/jwks-server.js'
import { hs256, makeToken, hmac, rs256, rsa, rsaKey, secondsFromNow, segment } from '../../helpers/tokens.js'
import { AUDIENCE, buildAuthApp, buildOidcApp, ISSUER, SECRET, whoami, whoamiWith } from './auth-app.js'

const key = rsaKey('k1')
const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'user:alice', exp: secondsFromNow(60) }
const server = await startJwksServer(key)
const modes = {
  jwt_hs256: {
    app: await buildAuthApp({ auth: { mode: 'jwt_hs256', jwtSecret: SECRET } }),
    good: hs256(claims, SECRET),
    sign: (header: unknown, payload: unknown) => makeToken(header, payload, hmac(SECRET)),
    header: { alg: 'HS256' },
  },
  jwt_oidc: {
    app: await buildOidcApp(server.url, { oboEnabled: true }),
    good: rs256(claims, key),
    sign: (header: unknown, payload: unknown) => makeToken(header, payload, rsa(key)),
    header: { alg: 'RS256', kid: 'k1' },
  },
}
t.teardown(async () => {
  await Promise.all(Object.values(modes).map(({ app }) => app.close()))
  await server.close()
})

const parameters = { numRuns: runs(100, 300) }

/** Characters that can stand in an HTTP header. */
const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 200,
})
const base64url = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'), maxLength: 60,
})

/** A token with one stretch replaced. */
function mutations (good: string): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(good.length - 1), fc.nat(8), fc.oneof(
    base64url, headerText, fc.constant(''), fc.constant('.'),
  ))
    .map(([at, length, text]) => good.slice(0, at) + text + good.slice(at + length))
    .filter((token) => token.trim() !== good)
}

for (const [mode, { app, good, sign, header }] of Object.entries(modes)) {
  await t.test(`${mode}: the token is valid before it is changed`, async (t) => {
    t.equal((await whoamiWith(app, good)).statusCode, 200)
  })

  await t.test(`${mode}: no text in Authorization gives anything but 401`, async (t) => {
    await fc.assert(fc.asyncProperty(fc.oneof(
      headerText, headerText.map((text) => `Bearer ${text}`),
    ), async (authorization) => {
      return (await whoami(app, { authorization })).statusCode === 401
    }), parameters)
    t.pass()
  })

  await t.test(`${mode}: no combination of three parts of a token gives anything but 401`, async (t) => {
    const part = fc.oneof(base64url, fc.json().map(segment), fc.constantFrom(...good.split('.')))
    await fc.assert(fc.asyncProperty(fc.tuple(part, part, part).filter((parts) => (
      parts.join('.') !== good
    )), async (parts) => {
      return (await whoamiWith(app, parts.join('.'))).statusCode === 401
    }), parameters)
    t.pass()
  })

  await t.test(`${mode}: a valid token with a change gives 401`, async (t) => {
    await fc.assert(
      fc.asyncProperty(mutations(good), async (token) => (await whoamiWith(app, token)).statusCode === 401), parameters,
    )
    t.pass()
  })

  await t.test(`${mode}: another last character of the signature gives 401`, async (t) => {
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      const token = good.slice(0, -1) + last
      if (token !== good) t.equal((await whoamiWith(app, token)).statusCode, 401)
    }
  })

  await t.test(`${mode}: whatever is signed, the answer is 200 or 401`, async (t) => {
    const names = [
      'sub', 'iss', 'aud', 'exp', 'nbf', 'iat', 'act', 'tid', 'tenant_id', 'service_actor_type', 'service_principal',
      '__proto__', 'constructor', 'x',
    ]
    const payload = fc.array(fc.tuple(fc.constantFrom(...names), fc.json({ maxDepth: 3 })), { maxLength: 6 })
      .map((extra) => (
        `{${[...Object.entries(claims).map(([name, value]) => [name, JSON.stringify(value)]), ...extra].map(
          ([name, value]) => `"${name}":${value}`,
        ).join(',')}}`
      ))
    const heads = fc.oneof(
      fc.constant(header),
      fc.dictionary(
        fc.constantFrom('kid', 'crit', 'typ', 'cty', 'alg', 'b64', 'zip', 'x'), fc.jsonValue({ maxDepth: 2 }),
      ).map((extra) => ({ ...header, ...extra })),
    )
    const seen = new Set<number>()
    await fc.assert(fc.asyncProperty(heads, payload, async (head, text) => {
      const { statusCode } = await whoamiWith(app, sign(head, text))
      seen.add(statusCode)
      return statusCode === 200 || statusCode === 401
    }), parameters)
    t.same(seen, new Set([200, 401]))
  })
}
