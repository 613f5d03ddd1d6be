import { discoverOAuthProtectedResourceMetadata, extractWWWAuthenticateParams } from '@modelcontextprotocol/client'
import t from 'tap'
import memoryGateway from '../../index.js'
import { testConfig, type TestConfig } from '../helpers/config.js'
import { testApp } from '../helpers/app.js'
import { host, options } from '../helpers/host.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { addressOf, answerOf, connectMcp, MCP_HEADERS, refusalOf, REVISIONS, rpc } from '../helpers/mcp.js'
import { hs256, NOW, rs256, rsaKey, secondsFromNow } from '../helpers/tokens.js'

const ISSUER = 'https://id.example.test/'
const AUDIENCE = 'api://memory'
const SECRET = 'a signing secret of more than thirty-two bytes'
const OWNERS = { access_control: { enabled: true, default_policy: 'owner_only' } } as const
const key = rsaKey('k1')

const jwks = await startJwksServer(key)
t.teardown(async () => { await jwks.close() })

const claims = { exp: secondsFromNow(60) }
const oidc: TestConfig = {
  auth: { mode: 'jwt_oidc', oidcJwksUrl: jwks.url, oidcIssuer: ISSUER, oidcAudience: AUDIENCE }, file: OWNERS,
}
const oidcToken = (more: object = {}) => rs256({ ...claims, iss: ISSUER, aud: AUDIENCE, sub: 'ada', ...more }, key)

const MODES: Array<{ name: string, config: TestConfig, headers: Record<string, string> }> = [
  { name: 'dev', config: { file: OWNERS }, headers: { 'x-service-principal': 'user:ada' } },
  {
    name: 'api_key',
    config: { auth: { mode: 'api_key', apiKey: 'secret' }, file: OWNERS },
    headers: { 'x-api-key': 'secret', 'x-service-principal': 'user:ada' },
  },
  {
    name: 'jwt_hs256',
    config: { auth: { mode: 'jwt_hs256', jwtSecret: SECRET }, file: OWNERS },
    headers: { authorization: `Bearer ${hs256({ ...claims, sub: 'user:ada' }, SECRET)}` },
  },
  { name: 'jwt_oidc', config: oidc, headers: { authorization: `Bearer ${oidcToken()}` } },
]

for (const { name, config, headers } of MODES) {
  t.test(`auth mode ${name}: the caller has the rights of the routes, and no others`, async (t) => {
    const { app } = await testApp(t, config, { clock: () => NOW })
    for (const revision of REVISIONS) {
      const client = await connectMcp(t, app, { headers, revision })
      const retain = async (bank: string) => (
        await client.callTool({ name: 'retain', arguments: { bank_id: bank, content: `by ${revision}` } })
      )
      t.match(answerOf(await retain('user-ada')), { stored: true })
      t.match(refusalOf(await retain('user-bob')), {
        code: 'access_denied', message: "Principal 'user:ada' is denied 'write' on bank 'user-bob'",
      })
      t.match(
        answerOf(await client.callTool({ name: 'list_banks', arguments: {} })), { banks: [{ bank_id: 'user-ada' }] },
      )
    }
  })

  if (name === 'dev') continue
  t.test(`auth mode ${name}: a caller without credentials is refused before the body is read`, async (t) => {
    const { inject } = await testApp(t, config, { clock: () => NOW })
    for (const url of ['/mcp', '/mcp/banks/user-ada']) {
      const response = await inject({ method: 'POST', url, headers: MCP_HEADERS, payload: '{' })
      t.equal(response.statusCode, 401)
      t.match(response.json(), { detail: String, code: 'unauthenticated', request_id: String })
    }
  })
}

t.test('tenants do not see each other', async (t) => {
  const { app } = await testApp(t, oidc, { clock: () => NOW })
  const as = async (tid: string) => (
    await connectMcp(t, app, { headers: { authorization: `Bearer ${oidcToken({ tid })}` } })
  )
  const [one, two] = [await as('one'), await as('two')]
  await one.callTool({ name: 'retain', arguments: { bank_id: 'user-ada', content: 'a fact of tenant one' } })
  t.match(answerOf(await two.callTool({ name: 'list_banks', arguments: {} })), { banks: [] })
  t.match(
    answerOf(await two.callTool({ name: 'recall', arguments: { bank_id: 'user-ada', query: 'fact' } })),
    { memories: [] },
  )
  t.same((await two.listResources()).resources, [])
})

t.test('jwt_oidc: the challenge names the metadata, which names the identity provider', async (t) => {
  const { app, post } = await testApp(t, oidc, { clock: () => NOW })
  const url = await addressOf(app)
  for (const [path, authorization] of [
    ['/mcp', undefined], ['/mcp', 'Bearer x.y.z'], ['/mcp/banks/user-ada', undefined],
  ] as const) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST', headers: { ...MCP_HEADERS, ...(authorization !== undefined && { authorization }) }, body: '{}',
    })
    await response.body?.cancel()
    t.equal(response.status, 401)
    if (authorization !== undefined) {
      t.match(response.headers.get('www-authenticate'), /^Bearer error="invalid_token", resource_metadata="/)
    }
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(response)
    t.equal(resourceMetadataUrl?.href, `${url}/.well-known/oauth-protected-resource${path}`)
    t.same(await discoverOAuthProtectedResourceMetadata(`${url}${path}`, {
      resourceMetadataUrl: resourceMetadataUrl!,
    }), {
      resource: `${url}${path}`,
      authorization_servers: [ISSUER],
      bearer_methods_supported: ['header'],
      resource_name: 'Memory Gateway',
    })
  }
  t.match(
    await discoverOAuthProtectedResourceMetadata(`${url}/mcp`), { resource: `${url}/mcp` },
    'also without the challenge',
  )
  const other = await post('/v1/recall', {})
  t.equal(other.headers['www-authenticate'], 'Bearer', 'the other routes are as before')
})

t.test('jwt_oidc: with a proxy in front the metadata has the configured address', async (t) => {
  const { post, get } = await testApp(
    t, { ...oidc, file: { mcp: { public_url: 'https://memory.example.com/api/' } } }, { clock: () => NOW },
  )
  const challenge = (await post('/mcp', rpc('tools/list'), MCP_HEADERS)).headers['www-authenticate']
  t.equal(
    challenge, 'Bearer resource_metadata="https://memory.example.com/api/.well-known/oauth-protected-resource/mcp"',
  )
  t.match((await get('/.well-known/oauth-protected-resource')).json(), {
    resource: 'https://memory.example.com/api/mcp',
  })
})

t.test('jwt_oidc: the metadata is also where RFC 9728 places it for a public URL with a path', async (t) => {
  for (const path of ['/api', '/a:b/c', '/%C3%A9', '/mcp', '/%zz']) {
    const { get } = await testApp(
      t, { ...oidc, file: { mcp: { public_url: `https://memory.example.com${path}` } } }, { clock: () => NOW },
    )
    for (const endpoint of ['/mcp', '/mcp/banks/user-ada']) {
      const found = await get(`/.well-known/oauth-protected-resource${path}${endpoint}`)
      if (path !== '/%zz') t.match(found.json(), { resource: `https://memory.example.com${path}${endpoint}` })
      t.match((await get(`/.well-known/oauth-protected-resource${endpoint}`)).json(), {
        resource: `https://memory.example.com${path}${endpoint}`,
      })
    }
  }
  for (const publicUrl of ['https://memory.example.com/a*b', 'https://[::', 'https://memory.example.com']) {
    const { get } = await testApp(t, { ...oidc, file: { mcp: { public_url: publicUrl } } }, { clock: () => NOW })
    t.equal((await get('/.well-known/oauth-protected-resource/mcp')).statusCode, 200, 'it starts')
  }
})

t.test('jwt_oidc: the addresses of a gateway in another app have its prefix', async (t) => {
  for (const [prefix, filled] of [
    ['/memory', '/memory'], ['memory', '/memory'], ['/:team/é', '/a%20%22b%22/%C3%A9'],
  ] as const) {
    const { app } = await host(t)
    await app.register(memoryGateway, options({ prefix, config: testConfig(oidc) }))
    const url = await addressOf(app)
    for (const path of ['/mcp', '/mcp/banks/user-ada']) {
      const challenged = await app.inject({
        method: 'POST', url: `${filled}${path}`, headers: { ...MCP_HEADERS, host: new URL(url).host }, payload: '{}',
      })
      t.equal(challenged.statusCode, 401)
      t.equal(
        challenged.headers['www-authenticate'],
        `Bearer resource_metadata="${url}${filled}/.well-known/oauth-protected-resource${path}"`,
      )
      const [, metadataUrl] = /"(.+)"/.exec(String(challenged.headers['www-authenticate']))!
      const metadata = await fetch(metadataUrl!)
      t.equal(metadata.status, 200)
      t.match(await metadata.json(), { resource: `${url}${filled}${path}`, authorization_servers: [ISSUER] })
    }
  }
})

t.test('the other modes have no metadata', async (t) => {
  const { get } = await testApp(t, { auth: { mode: 'jwt_hs256', jwtSecret: SECRET } })
  t.equal((await get('/.well-known/oauth-protected-resource')).statusCode, 404)
})
