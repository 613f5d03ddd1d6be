import t from 'tap'
import { startJwksServer } from '../../helpers/jwks-server.js'
import { hmac, hs256, makeToken, rs256, rsa, rsaKey, secondsFromNow, segment } from '../../helpers/tokens.js'
import { AUDIENCE, buildAuthApp, buildOidcApp, ISSUER, SECRET, whoamiWith } from './auth-app.js'

const key = rsaKey('k1')
const otherKey = rsaKey('k1')
const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'user:alice', exp: secondsFromNow(60) }

const server = await startJwksServer(key)
/** The address from which a token asks to fetch keys. It must receive no request. */
const trap = await startJwksServer(otherKey)
const hs = await buildAuthApp({
  auth: { mode: 'jwt_hs256', jwtSecret: SECRET, jwtAudience: AUDIENCE, jwtIssuer: ISSUER },
})
const oidc = await buildOidcApp(server.url)
t.teardown(async () => {
  await Promise.all([hs.close(), oidc.close()])
  await Promise.all([server.close(), trap.close()])
})

type Payload = Record<string, unknown> | unknown[] | string | null
/** A token of each mode, good but for what `payload` and `header` do to it. */
interface Both { payload?: Payload, header?: Record<string, unknown>, reason: string }

const MISSING_SUB = 'Token missing sub'
const json = (extra: string) => JSON.stringify(claims).replace(/\}$/, `,${extra}}`)

const both: Record<string, Both> = {
  'crit names an extension': { header: { crit: ['x'], x: 1 }, reason: 'unsupported header parameter' },
  'crit is empty': { header: { crit: [] }, reason: 'unsupported header parameter' },
  'crit is false': { header: { crit: false }, reason: 'unsupported header parameter' },
  'b64 is false and critical': { header: { crit: ['b64'], b64: false }, reason: 'unsupported header parameter' },
  'b64 is false': { header: { b64: false }, reason: 'unsupported header parameter' },
  'exp is past': { payload: { ...claims, exp: secondsFromNow(-1) }, reason: 'expired' },
  'exp is zero': { payload: { ...claims, exp: 0 }, reason: 'expired' },
  'exp is negative': { payload: { ...claims, exp: -1e20 }, reason: 'expired' },
  'exp is a string': { payload: { ...claims, exp: String(secondsFromNow(60)) }, reason: 'malformed claim' },
  'exp is null': { payload: { ...claims, exp: null }, reason: 'malformed claim' },
  'exp is an array': { payload: { ...claims, exp: [secondsFromNow(60)] }, reason: 'malformed claim' },
  'exp is true': { payload: { ...claims, exp: true }, reason: 'malformed claim' },
  'exp is beyond every number': {
    payload: JSON.stringify({ ...claims, exp: undefined }).replace(/\}$/, ',"exp":1e999}'), reason: 'malformed claim',
  },
  'nbf is in the future': { payload: { ...claims, nbf: secondsFromNow(1) }, reason: 'not yet valid' },
  'nbf is huge': { payload: { ...claims, nbf: 1e300 }, reason: 'not yet valid' },
  'nbf is a string': { payload: { ...claims, nbf: 'now' }, reason: 'malformed claim' },
  'nbf is null': { payload: { ...claims, nbf: null }, reason: 'malformed claim' },
  'iat is a string': { payload: { ...claims, iat: 'now' }, reason: 'malformed claim' },
  'aud is a number': { payload: { ...claims, aud: 7 }, reason: 'wrong audience' },
  'aud is empty': { payload: { ...claims, aud: [] }, reason: 'wrong audience' },
  'aud is missing': { payload: { ...claims, aud: undefined }, reason: 'wrong audience' },
  'aud is another': { payload: { ...claims, aud: 'api://other' }, reason: 'wrong audience' },
  'aud has a number beside the audience': { payload: { ...claims, aud: [AUDIENCE, 7] }, reason: 'wrong audience' },
  'aud is an object': { payload: { ...claims, aud: { 0: AUDIENCE, length: 1 } }, reason: 'wrong audience' },
  'aud begins with the audience': { payload: { ...claims, aud: `${AUDIENCE}2` }, reason: 'wrong audience' },
  'iss is another': { payload: { ...claims, iss: 'https://evil.test/' }, reason: 'wrong issuer' },
  'iss is missing': { payload: { ...claims, iss: undefined }, reason: 'wrong issuer' },
  'iss is null': { payload: { ...claims, iss: null }, reason: 'wrong issuer' },
  'iss is an array': { payload: { ...claims, iss: [ISSUER] }, reason: 'wrong issuer' },
  'iss lacks the last slash': { payload: { ...claims, iss: ISSUER.slice(0, -1) }, reason: 'wrong issuer' },
  'a claim stands twice and the last one counts': {
    payload: json('"iss":"https://evil.test/"'), reason: 'wrong issuer',
  },
  'sub is missing': { payload: { ...claims, sub: undefined }, reason: MISSING_SUB },
  'sub is a number': { payload: { ...claims, sub: 7 }, reason: MISSING_SUB },
  'sub is null': { payload: { ...claims, sub: null }, reason: MISSING_SUB },
  'sub is empty': { payload: { ...claims, sub: '' }, reason: MISSING_SUB },
  'sub is blank': { payload: { ...claims, sub: ' \t\n' }, reason: MISSING_SUB },
  'sub is an array': { payload: { ...claims, sub: ['user:alice'] }, reason: MISSING_SUB },
  'sub stands in __proto__ only': {
    payload: '{"__proto__":{"sub":"user:root"},' + JSON.stringify({ ...claims, sub: undefined }).slice(1),
    reason: MISSING_SUB,
  },
  'sub has spaces': { payload: { ...claims, sub: 'user:a b' }, reason: 'invalid principal' },
  'sub has a line feed at its end': { payload: { ...claims, sub: 'user:alice\n' }, reason: 'invalid principal' },
  'sub has an invisible character': { payload: { ...claims, sub: 'user:ali\u200bce' }, reason: 'invalid principal' },
  'sub ends in a no-break space': { payload: { ...claims, sub: 'user:\u00a0' }, reason: 'invalid principal' },
  'sub is a no-break space': { payload: { ...claims, sub: '\u00a0' }, reason: 'invalid principal' },
  'sub is too long': { payload: { ...claims, sub: 'x'.repeat(257) }, reason: 'invalid principal' },
  'the payload is a string': { payload: '"user:alice"', reason: 'malformed token' },
  'the payload is an array': { payload: [claims], reason: 'malformed token' },
  'the payload is null': { payload: null, reason: 'malformed token' },
  'the payload is a number': { payload: '7', reason: 'malformed token' },
  'the payload is no JSON': { payload: '{"sub":', reason: 'malformed token' },
  'the payload is empty': { payload: '', reason: 'malformed token' },
  'the payload has nothing but __proto__': { payload: '{"__proto__":null}', reason: 'wrong issuer' },
  'the token has 20 kB': { payload: { ...claims, filler: 'x'.repeat(15_000) }, reason: 'token too long' },
  'the token is delegated': { payload: { ...claims, act: { sub: 'agent:a' } }, reason: 'delegated token not accepted' },
}

const goodHs = hs256(claims, SECRET)
const goodOidc = rs256(claims, key)
const [header = '', payload = '', signature = ''] = goodOidc.split('.')

/** Tokens that are bad in themselves, in both modes. */
const raw: Record<string, { token: string, reason: string }> = {
  'alg none without a signature': {
    token: makeToken({ alg: 'none' }, claims, () => ''), reason: 'algorithm not allowed',
  },
  'alg none with a signature': {
    token: makeToken({ alg: 'none', kid: 'k1' }, claims, rsa(key)), reason: 'algorithm not allowed',
  },
  'alg None': { token: makeToken({ alg: 'None' }, claims, () => ''), reason: 'algorithm not allowed' },
  'alg missing': { token: makeToken({ kid: 'k1' }, claims, rsa(key)), reason: 'algorithm not allowed' },
  'alg as an array': {
    token: makeToken({ alg: ['RS256', 'HS256'], kid: 'k1' }, claims, rsa(key)), reason: 'algorithm not allowed',
  },
  'alg HS384': {
    token: makeToken({ alg: 'HS384', kid: 'k1' }, claims, hmac(SECRET, 'sha384')), reason: 'algorithm not allowed',
  },
  'alg HS512': {
    token: makeToken({ alg: 'HS512', kid: 'k1' }, claims, hmac(SECRET, 'sha512')), reason: 'algorithm not allowed',
  },
  'alg RS384': {
    token: makeToken({ alg: 'RS384', kid: 'k1' }, claims, rsa(key, 'sha384')), reason: 'algorithm not allowed',
  },
  'alg RS512': {
    token: makeToken({ alg: 'RS512', kid: 'k1' }, claims, rsa(key, 'sha512')), reason: 'algorithm not allowed',
  },
  'alg PS256': { token: makeToken({ alg: 'PS256', kid: 'k1' }, claims, rsa(key)), reason: 'algorithm not allowed' },
  'alg EdDSA': { token: makeToken({ alg: 'EdDSA', kid: 'k1' }, claims, rsa(key)), reason: 'algorithm not allowed' },
  'one part': { token: 'x', reason: 'malformed token' },
  'two parts': { token: `${header}.${payload}`, reason: 'malformed token' },
  'four parts': { token: `${goodOidc}.${signature}`, reason: 'malformed token' },
  'five parts': { token: 'a.b.c.d.e', reason: 'malformed token' },
  'dots alone': { token: '..', reason: 'malformed token' },
  'no header': { token: `.${payload}.${signature}`, reason: 'malformed token' },
  'no payload': { token: `${header}..${signature}`, reason: 'malformed token' },
  'a header beyond base64url': { token: `!${header}.${payload}.${signature}`, reason: 'malformed token' },
  'a signature beyond base64url': { token: `${header}.${payload}.${signature}+/=`, reason: 'malformed token' },
  'a header that is a list': { token: makeToken([{ alg: 'RS256' }], claims, rsa(key)), reason: 'malformed token' },
  'a header that is null': { token: makeToken(null, claims, rsa(key)), reason: 'malformed token' },
  'a header that is no JSON': { token: makeToken('{"alg":"RS256"', claims, rsa(key)), reason: 'malformed token' },
  'letters beyond ASCII': { token: 'é.ü.ß', reason: 'malformed token' },
  '20 kB of letters': { token: 'a'.repeat(20_000), reason: 'token too long' },
}

/** Tokens that are meant for the other mode or signed with a bad secret. */
const hsOnly: Record<string, string> = {
  'an RS256 token': goodOidc,
  'another secret': hs256(claims, `${SECRET} `),
  'an empty secret': makeToken({ alg: 'HS256' }, claims, hmac('')),
  'no signature': goodHs.slice(0, goodHs.lastIndexOf('.') + 1),
  'half a signature': goodHs.slice(0, -20),
  'a payload that was changed': goodHs.replace(/\..*\./, `.${segment({ ...claims, sub: 'user:root' })}.`),
}

const kids: Record<string, unknown> = {
  'a path': '../../../../dev/null',
  'a statement': 'x\' UNION SELECT \'key\' --',
  'a URL': trap.url,
  '201 characters': 'x'.repeat(201),
  empty: '',
  'a number': 1,
  null: null,
  'an object': { kid: 'k1' },
  'a list': ['k1'],
  'a member of every object': '__proto__',
  'in another case': 'K1',
  'the kid and a NUL': 'k1\u0000',
}

const oidcOnly: Record<string, { token: string, reason: string }> = {
  'an HS256 token under the public key': {
    token: hs256(claims, key.publicPem, { kid: 'k1' }), reason: 'algorithm not allowed',
  },
  'an HS256 token under the JWK': {
    token: hs256(claims, JSON.stringify(key.jwk), { kid: 'k1' }), reason: 'algorithm not allowed',
  },
  'an RS256 header over an HMAC of the public key': {
    token: makeToken({ alg: 'RS256', kid: 'k1' }, claims, hmac(key.publicPem)), reason: 'bad signature',
  },
  'an HS256 token': { token: goodHs, reason: 'algorithm not allowed' },
  'a foreign key under a known kid': { token: rs256(claims, otherKey), reason: 'bad signature' },
  'no signature': { token: `${header}.${payload}.`, reason: 'bad signature' },
  'half a signature': {
    token: `${header}.${payload}.${Buffer.from(signature, 'base64url').subarray(0, 128).toString('base64url')}`,
    reason: 'bad signature',
  },
  'a signature of zeros': {
    token: `${header}.${payload}.${Buffer.alloc(256).toString('base64url')}`, reason: 'bad signature',
  },
  'a payload that was changed': {
    token: `${header}.${segment({ ...claims, sub: 'root' })}.${signature}`, reason: 'bad signature',
  },
  'a key of its own in jwk': { token: rs256(claims, otherKey, { jwk: otherKey.jwk }), reason: 'bad signature' },
  'a key of its own in x5c': { token: rs256(claims, otherKey, { x5c: [otherKey.publicPem] }), reason: 'bad signature' },
  jku: { token: rs256(claims, otherKey, { jku: trap.url }), reason: 'bad signature' },
  x5u: { token: rs256(claims, otherKey, { x5u: trap.url }), reason: 'bad signature' },
  'jku and an unknown kid': {
    token: rs256(claims, otherKey, { jku: trap.url, kid: 'k9' }), reason: 'unknown signing key',
  },
  'its own issuer': {
    token: rs256({ ...claims, iss: trap.url }, otherKey, { kid: 'k9' }), reason: 'unknown signing key',
  },
  'no kid': { token: makeToken({ alg: 'RS256' }, claims, rsa(key)), reason: 'unknown signing key' },
  ...Object.fromEntries(Object.entries(kids).map(([what, kid]) => [
    `a kid that is ${what}`,
    { token: makeToken({ alg: 'RS256', kid }, claims, rsa(key)), reason: 'unknown signing key' },
  ])),
}

interface Case { what: string, token: string, reason: string }
const cases = Object.entries(raw).map(([what, one]): Case => ({ what, ...one }))
const bothCases = (make: (payload: unknown, header: Record<string, unknown>) => string) =>
  Object.entries(both).map(([what, one]): Case => ({
    what, reason: one.reason, token: make(one.payload === undefined ? claims : one.payload, one.header ?? {}),
  }))

await t.test('the valid tokens of this table are accepted', async (t) => {
  t.equal((await whoamiWith(hs, goodHs)).statusCode, 200)
  t.equal((await whoamiWith(oidc, goodOidc)).statusCode, 200)
  t.equal((await whoamiWith(hs, hs256({ ...claims, exp: 1e300, iat: secondsFromNow(60) }, SECRET))).statusCode, 200)
  t.equal(
    (await whoamiWith(oidc, rs256(
      json('"__proto__":{"sub":"root"},"deep":' + '['.repeat(2000) + ']'.repeat(2000)), key,
    ))).statusCode,
    200,
  )
})

await t.test('jwt_hs256 answers 401 when', async (t) => {
  const all = [
    ...cases,
    ...bothCases((payload, header) => hs256(payload, SECRET, header)),
    ...Object.entries(hsOnly).map(([what, token]): Case => ({ what, token, reason: '' })),
  ]
  for (const { what, token, reason } of all) {
    await t.test(what, async (t) => {
      const response = await whoamiWith(hs, token)
      t.equal(response.statusCode, 401)
      t.match(response.json(), {
        detail: reason === MISSING_SUB ? MISSING_SUB : 'Invalid token', code: 'unauthenticated',
      })
      t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"')
    })
  }
})

await t.test('jwt_oidc answers 401 when', async (t) => {
  const all = [
    ...cases,
    ...bothCases((payload, header) => rs256(payload, key, header)),
    ...Object.entries(oidcOnly).map(([what, one]): Case => ({ what, ...one })),
  ]
  for (const { what, token, reason } of all) {
    await t.test(what, async (t) => {
      const response = await whoamiWith(oidc, token)
      t.equal(response.statusCode, 401)
      t.match(response.json(), {
        detail: reason === MISSING_SUB ? MISSING_SUB : `Invalid OIDC token: ${reason}`, code: 'unauthenticated',
      })
      t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"')
    })
  }
  t.equal(trap.requests, 0, 'nothing was fetched from an address in a token')
  t.equal(server.requests, 2, 'one fetch for the keys and one for all unknown ones')
})
