import fastifyJwt from '@fastify/jwt'
import swagger from '@fastify/swagger'
import t from 'tap'
import memoryGateway, { loadConfig, type MemoryService } from '../index.js'
import { host, options, post, SERVER } from './helpers/host.js'
import { hs256 } from './helpers/tokens.js'
import { refused } from './routes/support.js'

const JSON_TYPE = { 'content-type': 'application/json' }

await t.test('every route is below the prefix, and the memory service is available in the app', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  const stored = await post(app, '/memory/v1/retain', { bank_id: 'notes', content: 'Otters hold hands' })
  t.equal(stored.statusCode, 200)
  const answer = await app.memory.recall({ bank_id: 'notes', query: 'otters' }, { tenantId: null })
  t.equal(answer.hits[0]?.memory_id, stored.json().memory_id)
  for (const url of [
    '/memory', '/memory/live', '/memory/health', '/memory/v1/banks', '/memory/v1/banks/notes/export',
    '/memory/v1/admin/banks', '/memory/docs/', '/memory/docs/json',
  ]) {
    t.equal((await app.inject(url)).statusCode, 200, url)
  }
  t.same((await app.inject('/memory')).json().links, {
    health: '/memory/health',
    openapi: '/memory/openapi.json',
    docs: '/memory/docs',
    mcp: '/memory/mcp',
  })
  for (const url of ['/v1/banks', '/live', '/docs', '/openapi.json']) {
    t.equal((await app.inject(url)).statusCode, 404, url)
  }
})

await t.test('a request that the app injects may have the encoding chunked', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  const read = await app.inject({ url: '/memory/v1/banks', headers: { 'transfer-encoding': 'chunked' } })
  t.equal(read.statusCode, 200)
  const payload = JSON.stringify({ bank_id: 'notes', query: 'otters' })
  const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }
  const recalled = await app.inject({ method: 'POST', url: '/memory/v1/recall', headers, payload })
  t.equal(recalled.statusCode, 200)
})

await t.test('the console is served only where it is enabled, and names who authenticates', async (t) => {
  const { app } = await host(t)
  const config = loadConfig({}, { file: { console: { enabled: true } } })
  const enabled = { config, decorator: false } as const
  await app.register(memoryGateway, options())
  await app.register(memoryGateway, options({ ...enabled, prefix: '/dev' }))
  await app.register(memoryGateway, options({ ...enabled, prefix: '/own', authenticate: () => undefined }))
  t.equal((await app.inject('/memory/console/')).statusCode, 404)
  t.match((await app.inject({ url: '/dev/console/config.json', headers: { host: 'localhost' } })).json(), {
    auth_mode: 'dev',
  })
  t.match((await app.inject('/own/console/config.json')).json(), { auth_mode: 'host' })
})

await t.test('the document names the prefix as its server, and the paths of the contract', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  const { servers, paths } = (await app.inject('/memory/openapi.json')).json<{
    servers: unknown, paths: Record<string, unknown>
  }>()
  t.same(servers, [{ url: '/memory' }])
  t.ok('/v1/recall' in paths && '/health' in paths)
  t.same(Object.keys(paths).filter((path) => path.startsWith('/memory')), [])
})

await t.test('errors, 404 and 405 have the form of the contract below the prefix only', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  app.get('/own/broken', async () => { throw Object.assign(new Error('a fault'), { statusCode: 418 }) })
  refused(t, await app.inject('/memory/nothing'), 404, 'not_found')
  refused(t, await app.inject('/memory/v1/recall'), 405, 'method_not_allowed')
  refused(t, await post(app, '/memory/v1/recall', { bank_id: 'b', query: 'x', odd: 1 }), 400, 'invalid_request')
  refused(
    t, await app.inject({ method: 'POST', url: '/memory/v1/recall', headers: JSON_TYPE, payload: '{' }), 400,
    'invalid_json',
  )
  refused(
    t,
    await app.inject({
      method: 'POST', url: '/memory/v1/recall', headers: { 'content-type': 'text/plain' }, payload: 'x',
    }),
    415, 'unsupported_media_type',
  )
  const missing = await app.inject('/nothing')
  t.equal(missing.statusCode, 404)
  t.equal(missing.json().error, 'Not Found')
  const broken = await app.inject('/own/broken')
  t.same([broken.statusCode, broken.json().message, broken.json().code], [418, 'a fault', undefined])
})

await t.test('a prefix may contain special characters of regular expressions', async (t) => {
  for (const prefix of ['/c++', '/a.b', '/t$x', '/a(b', '/mem+ory/v[1']) {
    const { app } = await host(t)
    await app.register(memoryGateway, options({ prefix }))
    t.equal((await app.inject(`${prefix}/v1/whoami`)).statusCode, 200)
    const other = await app.inject(`${prefix}/v1/recall`)
    refused(t, other, 405, 'method_not_allowed')
    t.equal(other.headers.allow, 'POST')
    refused(t, await app.inject(`${prefix}/v1/nothing`), 404, 'not_found')
  }
})

await t.test('percent-encoded characters of a path do not change whether a method is refused ' +
  'with 404 or 405', async (t) => {
  for (const [prefix, encoded] of [['/é', '/%C3%A9'], ['/a b', '/a%20b'], ['/memory', '/m%65mory']] as const) {
    const { app } = await host(t)
    await app.register(memoryGateway, options({ prefix }))
    t.equal((await app.inject(`${encoded}/v1/whoami`)).statusCode, 200)
    refused(t, await app.inject(`${encoded}/v1/recall`), 405, 'method_not_allowed')
    refused(t, await app.inject(`${encoded}/v1%2Frecall`), 404, 'not_found')
    refused(t, await app.inject(`${encoded}/v1/nothing`), 404, 'not_found')
  }
})

await t.test('the app\'s own routes keep their checks, parsers, limits, hooks and headers', async (t) => {
  const { app, log } = await host(t, { ...SERVER, bodyLimit: 300_000 })
  await app.register(memoryGateway, options({ config: loadConfig({ SERVICES_MAX_BODY_BYTES: '2048' }) }))
  app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => { done(null, body) })
  // Fastify's own validation turns numbers into texts and drops unknown members; the gateway's does neither.
  const schema = { body: { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false } }
  app.post('/own', { schema }, async ({ body }) => body)
  app.post('/csv', async ({ body }) => ({ body }))
  const own = await post(app, '/own', { name: 7, other: 1 }, { 'x-request-id': 'given' })
  t.same(own.json(), { name: '7' })
  t.notOk('x-request-id' in own.headers)
  t.equal((await post(app, '/own', { name: 'x'.repeat(100_000) })).statusCode, 200)
  t.equal((await post(app, '/own', { name: 'x'.repeat(400_000) })).json().code, 'FST_ERR_CTP_BODY_TOO_LARGE')
  t.same(
    (await app.inject({ method: 'POST', url: '/csv', headers: { 'content-type': 'text/csv' }, payload: 'a,b' })).json(),
    { body: 'a,b' },
  )
  refused(t, await post(app, '/memory/v1/retain', { bank_id: 'b', content: 'x'.repeat(3000) }), 413, 'body_too_large')
  t.notOk(app.hasDecorator('metrics') || app.hasDecorator('bounds') || app.hasRequestDecorator('context'))
  const lines = log.filter(({ msg }) => msg === 'request completed')
  t.same(
    lines.map((line) => line['gateway']), [undefined, undefined, undefined, undefined, '/memory'],
    'those of the app itself',
  )
  t.ok(lines.every((line) => !('principal_type' in line)))
})

await t.test('the app\'s hooks run for the gateway\'s routes, as for any plugin', async (t) => {
  const { app } = await host(t)
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers['x-app'] !== 'let-me-in') await reply.code(403).send({ by: 'the app' })
  })
  await app.register(memoryGateway, options())
  t.same((await app.inject('/memory/v1/banks')).json(), { by: 'the app' })
  t.equal((await app.inject({ url: '/memory/v1/banks', headers: { 'x-app': 'let-me-in' } })).statusCode, 200)
})

await t.test('nothing of the server itself is changed', async (t) => {
  const { app } = await host(t)
  const before = { request: app.server.listeners('request'), max: app.server.maxConnections }
  await app.register(memoryGateway, options())
  await app.ready()
  t.same(app.server.listeners('request'), before.request)
  t.equal(app.server.maxConnections, before.max)
  t.same(app.server.listenerCount('checkExpectation'), 0)
})

await t.test('two gateways in one app have separate stores, metrics and limits', async (t) => {
  const { app } = await host(t)
  const limited = loadConfig({}, { file: { homeostasis: { rate_limits: { retain_per_minute: 1 } } } })
  await app.register(memoryGateway, options({ prefix: '/a' }))
  await app.register(memoryGateway, options({ prefix: '/b', decorator: 'other', config: limited }))
  for (const content of ['first', 'second']) {
    t.equal((await post(app, '/a/v1/retain', { bank_id: 'x', content })).statusCode, 200)
  }
  t.equal((await post(app, '/b/v1/retain', { bank_id: 'x', content: 'third' })).statusCode, 200)
  refused(t, await post(app, '/b/v1/retain', { bank_id: 'x', content: 'fourth' }), 429, 'rate_limited')
  const counts = await Promise.all(['/a', '/b'].map(async (prefix) => (
    (await app.inject(`${prefix}/v1/banks/x`)).json().memory_count
  )))
  t.same(counts, [2, 1])
  const retains = async (prefix: string) => (
    /http_request_duration_seconds_count\{[^}]*retain[^}]*status="200"[^}]*\} (\d+)/.exec(
      (await app.inject(`${prefix}/metrics`)).body,
    )?.[1]
  )
  t.same([await retains('/a'), await retains('/b')], ['2', '1'])
  const other = app.getDecorator<MemoryService>('other')
  t.equal((await other.recall({ bank_id: 'x', query: 'third' }, { tenantId: null })).total_available, 1)
})

await t.test('an idempotency key of one gateway has no effect in another', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options({ prefix: '/a' }))
  await app.register(memoryGateway, options({ prefix: '/b', decorator: false }))
  const ids = await Promise.all(['/a', '/b', '/a'].map(async (prefix) => (
    (await post(
      app, `${prefix}/v1/retain`, { bank_id: 'x', content: 'once' }, { 'idempotency-key': prefix },
    )).json().memory_id
  )))
  t.equal(new Set(ids).size, 2)
})

await t.test('an app that uses the same packages and names keeps its own', async (t) => {
  const { app } = await host(t)
  await app.register(fastifyJwt, { secret: 'secret of the app' })
  await app.register(swagger, { openapi: { info: { title: 'The app', version: '1' } } })
  app.decorate('metrics', { own: true } as never)
  app.decorate('links', ['own'] as never)
  const secret = 's'.repeat(32)
  await app.register(memoryGateway, options({
    config: loadConfig({ SERVICE_AUTH_MODE: 'jwt_hs256', SERVICE_JWT_SECRET: secret }),
  }))
  app.get('/own', async (request) => await request.jwtVerify())
  await app.ready()
  const gatewayToken = hs256({ sub: 'user:ada' }, secret)
  const appToken = app.jwt.sign({ sub: 'somebody' })
  const ask = async (url: string, token: string) => (
    (await app.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode
  )
  t.same(await Promise.all([
    ask('/memory/v1/whoami', gatewayToken), ask('/memory/v1/whoami', appToken), ask('/own', appToken),
    ask('/own', gatewayToken),
  ]), [200, 401, 200, 401])
  t.same([app.metrics, app.links], [{ own: true }, ['own']])
  t.equal((await app.inject('/memory')).json().name, 'Memory Gateway')
})
