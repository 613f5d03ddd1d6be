import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { addressOf, mcpClient, REVISIONS } from '../helpers/mcp.js'
import { refused } from '../routes/support.js'

const PAGE = 'https://app.example.com'
const LISTED = {
  auth: { mode: 'api_key', apiKey: 'key' }, adminToken: 'token', corsOrigins: [PAGE, 'http://localhost:5173'],
} as const
const CALLER = { 'x-api-key': 'key', 'x-service-principal': 'user:ada' }

async function preflight ({ inject }: TestApp, url: string, headers: Record<string, string> = {}) {
  return await inject({
    method: 'OPTIONS', url, headers: { origin: PAGE, 'access-control-request-method': 'POST', ...headers },
  })
}

function corsHeaders (headers: Record<string, unknown>): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'))
}

await t.test('without listed origins no answer has a header for other origins, and a preflight is 405', async (t) => {
  const app = await testApp(t)
  refused(t, await preflight(app, '/v1/recall'), 405, 'method_not_allowed')
  const answer = await app.get('/v1/whoami', { origin: PAGE })
  t.same(corsHeaders(answer.headers), [])
  t.notOk('vary' in answer.headers)
  t.notOk(app.app.routeTable.some(({ method }) => method === 'OPTIONS'))
})

await t.test('a preflight of a listed origin is answered without credentials, for every route that a ' +
  'page may call', async (t) => {
  const app = await testApp(t, LISTED)
  const paths = app.app.routeTable.filter(({ config, schema }) => config?.scope === 'memory' && schema?.hide !== true)
    .map(({ url }) => url.replaceAll(/:\w+/g, 'x'))
  t.ok(paths.length > 15)
  for (const url of [...new Set(paths), '/health', '/']) {
    const answer = await preflight(app, url, {
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    })
    t.equal(answer.statusCode, 204, url)
    t.equal(answer.body, '')
    t.equal(answer.headers['access-control-allow-origin'], PAGE)
    t.equal(answer.headers['access-control-allow-methods'], 'GET, HEAD, POST, PUT, PATCH, DELETE')
    t.equal(answer.headers['access-control-max-age'], '600')
    const allowed = String(answer.headers['access-control-allow-headers']).toLowerCase().split(', ')
    for (const name of [
      'authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', 'x-api-key', 'x-request-id',
      'x-service-principal', 'x-service-on-behalf-of',
    ]) {
      t.ok(allowed.includes(name), name)
    }
    t.notOk(allowed.includes('x-admin-token') || allowed.includes('*'))
    t.notOk('access-control-allow-credentials' in answer.headers)
    t.match(answer.headers.vary, /Origin/)
    t.ok(answer.headers['x-request-id'])
  }
})

await t.test('a page may send every header that the official MCP client sends', async (t) => {
  const app = await testApp(t, LISTED)
  const answer = await preflight(app, '/mcp')
  const allowed = new Set(String(answer.headers['access-control-allow-headers']).toLowerCase().split(', '))
  const url = new URL('/mcp', await addressOf(app.app))
  for (const revision of REVISIONS) {
    const sent = new Set<string>()
    const fetchAndRecord: typeof fetch = async (input, init) => {
      for (const name of new Headers(init?.headers).keys()) sent.add(name)
      return await fetch(input, init)
    }
    const client = mcpClient(revision)
    await client.connect(new StreamableHTTPClientTransport(url, {
      requestInit: { headers: CALLER }, fetch: fetchAndRecord,
    }))
    await client.callTool({ name: 'list_banks', arguments: {} })
    await client.close()
    t.ok(sent.has('mcp-protocol-version'), revision)
    for (const name of sent) t.ok(allowed.has(name), `${name} in ${revision}`)
  }
})

await t.test('a page of a listed origin reads answers and refusals', async (t) => {
  const { get, post } = await testApp(t, LISTED)
  const answers = [
    [200, await get('/v1/whoami', { ...CALLER, origin: PAGE })],
    [401, await get('/v1/whoami', { origin: PAGE })],
    [400, await post('/v1/recall', { bank_id: 'b' }, { ...CALLER, origin: PAGE })],
    [404, await get('/nothing', { origin: PAGE })],
    [405, await get('/v1/recall', { origin: PAGE })],
  ] as const
  for (const [status, { statusCode, headers }] of answers) {
    t.equal(statusCode, status)
    t.equal(headers['access-control-allow-origin'], PAGE, String(status))
    for (const name of ['Retry-After', 'X-Request-Id', 'ETag', 'Idempotent-Replayed']) {
      t.ok(String(headers['access-control-expose-headers']).split(', ').includes(name), name)
    }
    t.match(headers.vary, /Origin/)
  }
})

await t.test('an answer that depends on another header too names Origin, for caches', async (t) => {
  const { get } = await testApp(t, LISTED)
  const asset = /src="\.\/(assets\/[^"]+)"/.exec((await get('/console/')).body)![1]!
  for (const [url, vary] of [
    ['/', 'Origin, Accept'], ['/console/', 'Origin, Accept-Encoding'], [`/console/${asset}`, 'Origin, Accept-Encoding'],
  ] as const) {
    const foreign = await get(url, { origin: PAGE })
    t.equal(foreign.headers['access-control-allow-origin'], PAGE, url)
    t.equal(foreign.headers.vary, vary)
    const own = await get(url)
    t.same(corsHeaders(own.headers), [])
    t.equal(own.headers.vary, vary)
    if (own.headers.etag === undefined) continue
    const unchanged = await get(url, { origin: PAGE, 'if-none-match': own.headers.etag })
    t.equal(unchanged.statusCode, 304)
    t.equal(unchanged.headers.vary, vary)
  }
})

await t.test('other origins get no CORS headers, and their preflight is an ordinary request', async (t) => {
  const app = await testApp(t, LISTED)
  for (const origin of [
    'https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com',
    'https://app.example.com:8443', 'https://APP.example.com', 'null', '*', '',
  ]) {
    const refusal = await preflight(app, '/v1/recall', { origin })
    refused(t, refusal, 405, 'method_not_allowed')
    const answer = await app.get('/v1/whoami', { ...CALLER, origin })
    t.equal(answer.statusCode, 200)
    for (const { headers } of [refusal, answer]) {
      t.same(corsHeaders(headers), [], origin)
      t.match(headers.vary, /Origin/)
    }
  }
})

await t.test('OPTIONS without the headers of a preflight is 405 or 404, as without listed origins', async (t) => {
  const { inject } = await testApp(t, LISTED)
  for (const headers of [{}, { origin: PAGE }, { 'access-control-request-method': 'POST' }]) {
    refused(t, await inject({ method: 'OPTIONS', url: '/v1/recall', headers }), 405, 'method_not_allowed')
    refused(t, await inject({ method: 'OPTIONS', url: '/nothing', headers }), 404, 'not_found')
  }
})

await t.test('no page of another origin can use the admin scope, however its path is spelt', async (t) => {
  const app = await testApp(t, { ...LISTED, adminToken: undefined })
  for (const url of [
    '/v1/admin/banks', '/v1/admin/reload', '/v1/%61dmin/reload', '/v1/admin/banks/b/config?tenant_id=x', '/metrics',
  ]) {
    t.same(corsHeaders((await preflight(app, url)).headers), [], url)
    t.same(corsHeaders((await app.get(url, { origin: PAGE })).headers), [], url)
  }
})

await t.test('dev mode checks the host name before it answers a preflight', async (t) => {
  const app = await testApp(t, { corsOrigins: [PAGE] })
  const refusal = await preflight(app, '/v1/recall', { host: 'evil.example' })
  refused(t, refusal, 403, 'host_not_allowed')
  t.same(corsHeaders(refusal.headers), [])
  t.equal((await preflight(app, '/v1/recall', { host: 'localhost:8080' })).statusCode, 204)
})

await t.test('the document has no route for preflights', async (t) => {
  const { get } = await testApp(t, LISTED)
  const { paths } = (await get('/openapi.json')).json<{ paths: Record<string, Record<string, unknown>> }>()
  t.same(Object.values(paths).filter((methods) => 'options' in methods), [])
})
