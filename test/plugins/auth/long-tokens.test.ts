import { request } from 'node:http'
import t, { type Test } from 'tap'
import { buildApp } from '../../../app.js'
import type { AuthConfig } from '../../../lib/config/config.js'
import { testConfig } from '../../helpers/config.js'
import { startJwksServer } from '../../helpers/jwks-server.js'
import { hs256, rs256, rsaKey } from '../../helpers/tokens.js'
import { AUDIENCE, ISSUER, SECRET } from './auth-app.js'

const key = rsaKey('k1')
const LIMIT = 12_288

interface Answer {
  status: number
  body: Record<string, unknown>
}

/** The whole gateway on a real socket, where Node's bound on headers holds. */
async function serve (
  t: Test, auth: Partial<AuthConfig>,
): Promise<(headers: Record<string, string>) => Promise<Answer>> {
  const app = await buildApp(testConfig({ auth, logLevel: 'silent' }))
  t.teardown(async () => { await app.close() })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return async (headers) => await new Promise((resolve, reject) => {
    request(`${url}/v1/whoami`, { headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => { text += part }).on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> })
      })
    }).on('error', reject).end()
  })
}

/** A token of so many characters at most, and at least three less: base64url has no other lengths. */
function tokenOfLength (length: number, make: (claims: Record<string, unknown>) => string): string {
  let filler = Math.floor((length - make({ filler: '' }).length) * 3 / 4) + 4
  for (;;) {
    const token = make({ filler: 'x'.repeat(filler--) })
    if (token.length <= length) return token
  }
}

const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'alice' }
const modes: Record<string, {
  detail: string
  make: (more: Record<string, unknown>) => string
  auth: (jwksUrl: string) => Partial<AuthConfig>
}> = {
  jwt_hs256: {
    detail: 'Invalid token',
    make: (more) => hs256({ ...claims, ...more }, SECRET),
    auth: () => ({ mode: 'jwt_hs256', jwtSecret: SECRET }),
  },
  jwt_oidc: {
    detail: 'Invalid OIDC token: token too long',
    make: (more) => rs256({ ...claims, ...more }, key),
    auth: (jwksUrl) => ({ mode: 'jwt_oidc', oidcJwksUrl: jwksUrl, oidcIssuer: ISSUER, oidcAudience: AUDIENCE }),
  },
}

for (const [mode, { detail, make, auth }] of Object.entries(modes)) {
  await t.test(`${mode} accepts a token of 12 KiB, and refuses a longer one in the form of every error`, async (t) => {
    const server = await startJwksServer(key)
    t.teardown(async () => { await server.close() })
    const ask = await serve(t, auth(server.url))

    const longest = tokenOfLength(LIMIT, make)
    t.ok(longest.length > LIMIT - 4)
    t.equal((await ask({ authorization: `Bearer ${longest}` })).status, 200)
    t.equal(
      (await ask({ authorization: `Bearer ${longest}`, cookie: 'c'.repeat(3000) })).status, 200,
      'other headers fit beside it',
    )

    const tooLong = await ask({ authorization: `Bearer ${tokenOfLength(LIMIT + 8, make)}` })
    t.equal(tooLong.status, 401)
    t.match(tooLong.body, { detail, code: 'unauthenticated', request_id: String })

    const far = await ask({ authorization: `Bearer ${'x'.repeat(3 * LIMIT)}` })
    t.equal(far.status, 400)
    t.match(far.body, { detail: 'The request headers are too large', code: 'invalid_request', request_id: String })
  })
}
