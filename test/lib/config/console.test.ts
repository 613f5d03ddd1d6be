import t from 'tap'
import { loadYaml, yamlProblems } from './load-with.js'

const ISSUER = 'https://login.example.com/realm'
const OIDC = {
  SERVICE_ADMIN_TOKEN: 'admin',
  SERVICE_AUTH_MODE: 'jwt_oidc',
  SERVICE_OIDC_JWKS_URL: 'https://login.example.com/keys',
  SERVICE_OIDC_ISSUER: ISSUER,
  SERVICE_OIDC_AUDIENCE: 'memory',
}
const CLIENT = 'console: {oidc: {client_id: memory-console}}'

t.test('without a setting, the address decides whether the console is served', async (t) => {
  t.same(loadYaml('{}').settings.console, { enabled: undefined, oidc: undefined })
  t.equal(loadYaml('console: {enabled: false}').settings.console.enabled, false)
})

t.test('a client of the identity provider has its defaults', async (t) => {
  const { settings, warnings } = loadYaml(CLIENT, OIDC)
  t.same(settings.console.oidc, {
    client_id: 'memory-console', scope: 'openid', token: 'access_token', parameters: {}, origins: [],
  })
  t.same(warnings, [])
})

t.test('in another auth mode console.oidc has no effect, and a warning says so', async (t) => {
  const { warnings } = loadYaml(CLIENT, { SERVICE_ADMIN_TOKEN: 'admin' })
  t.same(warnings, ['console.oidc has no effect: SERVICE_AUTH_MODE is dev'])
})

t.test('settings that cannot work are refused', async (t) => {
  t.same(yamlProblems(CLIENT, { ...OIDC, SERVICE_OIDC_ISSUER: 'some name' }), [
    'SERVICE_OIDC_ISSUER: found "some name", allowed with console.oidc is the http(s) URL of the identity provider',
  ])
  t.same(yamlProblems('{}', { ...OIDC, SERVICE_OIDC_ISSUER: 'some name' }), [])
  t.same(yamlProblems('console: {oidc: {client_id: c, parameters: {state: x, audience: y}}}', OIDC), [
    'console.oidc.parameters.state: the console sets this parameter itself; remove it',
  ])
  t.match(yamlProblems('console: {oidc: {}}', OIDC), [/^console\.oidc\.client_id /])
  t.match(yamlProblems('console: {oidc: {client_id: c, origins: ["https://login.example.com/path"]}}', OIDC), [
    /^console\.oidc\.origins\[0\]: .*, allowed is an origin such as https:\/\/login\.example\.com$/,
  ])
  t.match(yamlProblems('console: {oidc: {client_id: c, origins: ["https://x; script-src *"]}}', OIDC), [
    /^console\.oidc\.origins\[0\]: /,
  ])
})
