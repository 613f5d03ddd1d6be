import t from 'tap'
import { sending, startJwksServer } from '../../helpers/jwks-server.js'
import { hs256, rs256, rsaKey, secondsFromNow } from '../../helpers/tokens.js'
import { AUDIENCE, buildAuthApp, buildOidcApp, ISSUER, SECRET, whoami, whoamiWith } from './auth-app.js'

const key = rsaKey('k1')

/** Nothing of the token, not even one of its parts, may stand in the log. */
function clean (lines: string[], token: string, ...secrets: string[]): boolean {
  const parts = token.split('.').filter((part) => part.length > 8)
  return [token, ...parts, ...secrets].every((secret) => !lines.some((line) => line.includes(secret)))
}

await t.test('a refused HS256 token is logged with its reason and without token or secret', async (t) => {
  const lines: string[] = []
  const app = await buildAuthApp({ auth: { mode: 'jwt_hs256', jwtSecret: SECRET }, log: (line) => lines.push(line) })
  t.teardown(() => app.close())
  const tokens: [string, string][] = [
    [hs256({ sub: 'user:alice-the-caller' }, 'another'), 'bad signature'],
    [hs256({ sub: 'user:alice-the-caller', exp: secondsFromNow(-1) }, SECRET), 'expired'],
    [hs256('"user:alice-the-caller"', SECRET), 'malformed token'],
    [hs256({ email: 'alice-the-caller' }, SECRET), 'missing sub'],
  ]
  for (const [token, reason] of tokens) {
    lines.length = 0
    await whoamiWith(app, token)
    const line = lines.map((text): unknown => JSON.parse(text)).find((entry) => (
      JSON.stringify(entry).includes('token refused')
    ))
    t.match(line, { level: 30, reason, msg: 'token refused' })
    t.ok(clean(lines, token, SECRET, 'alice-the-caller'), reason)
  }
})

await t.test('a refused OIDC token and a failed key fetch are logged without the token', async (t) => {
  const lines: string[] = []
  const server = await startJwksServer(key)
  const app = await buildOidcApp(server.url, { log: (line) => lines.push(line) })
  t.teardown(async () => {
    await app.close()
    await server.close()
  })
  const token = rs256({ iss: ISSUER, aud: AUDIENCE, sub: 'alice-the-caller', exp: secondsFromNow(60) }, key)
  server.answer(sending(500, '{}'))
  t.equal((await whoamiWith(app, token)).statusCode, 503)
  t.ok(lines.some((line) => line.includes('signing keys could not be fetched')))
  const forged = rs256({ iss: ISSUER, aud: AUDIENCE, sub: 'alice-the-caller' }, rsaKey('k1'))
  t.equal((await whoamiWith(app, forged)).statusCode, 503)
  t.ok(clean(lines, token, 'alice-the-caller'))
  t.ok(clean(lines, forged))
})

await t.test('a wrong API key is not logged', async (t) => {
  const lines: string[] = []
  const app = await buildAuthApp({
    auth: { mode: 'api_key', apiKey: 'the-right-api-key' }, log: (line) => lines.push(line),
  })
  t.teardown(() => app.close())
  t.equal((await whoami(app, { 'x-api-key': 'a-wrong-api-key', 'x-service-principal': 'user:a' })).statusCode, 401)
  t.ok(lines.length > 0)
  t.notOk(lines.some((line) => line.includes('api-key')))
})
