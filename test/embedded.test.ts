import { connect } from 'node:net'
import { once } from 'node:events'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fastifyJwt from '@fastify/jwt'
import swagger from '@fastify/swagger'
import t, { type Test } from 'tap'
import memoryGateway, { loadConfig, ServiceError, type MemoryGatewayOptions, type MemoryService } from '../index.js'
import { hs256 } from './helpers/tokens.js'
import { refused } from './routes/support.js'

const JSON_TYPE = { 'content-type': 'application/json' }
/** What a host sets for its server, as docs/library.md says. */
const SERVER = { routerOptions: { maxParamLength: 1024 }, requestTimeout: 60_000 }

interface Host {
  app: FastifyInstance
  log: Array<Record<string, unknown>>
}

async function host (t: Test, options: FastifyServerOptions = SERVER): Promise<Host> {
  const log: Array<Record<string, unknown>> = []
  const stream = { write: (line: string) => { log.push(JSON.parse(line) as Record<string, unknown>) } }
  const app = Fastify({ logger: { stream, level: 'info' }, ...options })
  t.teardown(async () => { await app.close() })
  return { app, log }
}

function options (more: Partial<MemoryGatewayOptions> = {}): MemoryGatewayOptions {
  return { prefix: '/memory', config: loadConfig({}), ...more }
}

async function post (app: FastifyInstance, url: string, body: unknown, headers: Record<string, string> = {}) {
  return await app.inject({ method: 'POST', url, headers: { ...JSON_TYPE, ...headers }, payload: JSON.stringify(body) })
}

await t.test('every route is below the prefix, and the memory service is at hand in the app', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  const stored = await post(app, '/memory/v1/retain', { bank_id: 'notes', content: 'Otters hold hands' })
  t.equal(stored.statusCode, 200)
  const answer = await app.memory.recall({ bank_id: 'notes', query: 'otters' }, { tenantId: null })
  t.equal(answer.hits[0]?.memory_id, stored.json().memory_id)
  for (const url of ['/memory', '/memory/live', '/memory/health', '/memory/v1/banks', '/memory/v1/banks/notes/export', '/memory/v1/admin/banks', '/memory/docs/static/index.html']) {
    t.equal((await app.inject(url)).statusCode, 200, url)
  }
  t.same((await app.inject('/memory')).json().links, { health: '/memory/health', openapi: '/memory/openapi.json', docs: '/memory/docs' })
  for (const url of ['/v1/banks', '/live', '/docs', '/openapi.json']) t.equal((await app.inject(url)).statusCode, 404, url)
})

await t.test('the document names the prefix as its server, and the paths of the contract', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  const { servers, paths } = (await app.inject('/memory/openapi.json')).json<{ servers: unknown, paths: Record<string, unknown> }>()
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
  refused(t, await app.inject({ method: 'POST', url: '/memory/v1/recall', headers: JSON_TYPE, payload: '{' }), 400, 'invalid_json')
  refused(t, await app.inject({ method: 'POST', url: '/memory/v1/recall', headers: { 'content-type': 'text/plain' }, payload: 'x' }), 415, 'unsupported_media_type')
  const missing = await app.inject('/nothing')
  t.equal(missing.statusCode, 404)
  t.equal(missing.json().error, 'Not Found')
  const broken = await app.inject('/own/broken')
  t.same([broken.statusCode, broken.json().message, broken.json().code], [418, 'a fault', undefined])
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
  t.same((await app.inject({ method: 'POST', url: '/csv', headers: { 'content-type': 'text/csv' }, payload: 'a,b' })).json(), { body: 'a,b' })
  refused(t, await post(app, '/memory/v1/retain', { bank_id: 'b', content: 'x'.repeat(3000) }), 413, 'body_too_large')
  t.notOk(app.hasDecorator('metrics') || app.hasDecorator('bounds') || app.hasRequestDecorator('context'))
  const lines = log.filter(({ msg }) => msg === 'request completed')
  t.ok(lines.every((line) => line['gateway'] === undefined && line['principal_type'] === undefined))
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

await t.test('two gateways in one app have a store, metrics and limits each', async (t) => {
  const { app } = await host(t)
  const limited = loadConfig({}, { file: { homeostasis: { rate_limits: { retain_per_minute: 1 } } } })
  await app.register(memoryGateway, options({ prefix: '/a' }))
  await app.register(memoryGateway, options({ prefix: '/b', decorator: 'other', config: limited }))
  for (const content of ['first', 'second']) t.equal((await post(app, '/a/v1/retain', { bank_id: 'x', content })).statusCode, 200)
  t.equal((await post(app, '/b/v1/retain', { bank_id: 'x', content: 'third' })).statusCode, 200)
  refused(t, await post(app, '/b/v1/retain', { bank_id: 'x', content: 'fourth' }), 429, 'rate_limited')
  const counts = await Promise.all(['/a', '/b'].map(async (prefix) => (await app.inject(`${prefix}/v1/banks/x`)).json().memory_count))
  t.same(counts, [2, 1])
  const retains = async (prefix: string) => /http_request_duration_seconds_count\{[^}]*retain[^}]*status="200"[^}]*\} (\d+)/.exec((await app.inject(`${prefix}/metrics`)).body)?.[1]
  t.same([await retains('/a'), await retains('/b')], ['2', '1'])
  const other = app.getDecorator<MemoryService>('other')
  t.equal((await other.recall({ bank_id: 'x', query: 'third' }, { tenantId: null })).total_available, 1)
})

await t.test('one key of idempotency is another in another gateway', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options({ prefix: '/a' }))
  await app.register(memoryGateway, options({ prefix: '/b', decorator: false }))
  const ids = await Promise.all(['/a', '/b', '/a'].map(async (prefix) => (
    (await post(app, `${prefix}/v1/retain`, { bank_id: 'x', content: 'once' }, { 'idempotency-key': prefix })).json().memory_id
  )))
  t.equal(new Set(ids).size, 2)
})

await t.test('closing the app lets requests finish, and then closes the store', async (t) => {
  const { app } = await host(t)
  let release = () => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const events: string[] = []
  await app.register(memoryGateway, options({
    overrides: { clock: () => Date.UTC(2026, 0, 1) },
    authenticate: async () => {
      events.push('asked')
      await released
      return { principal: 'user:ada' }
    },
  }))
  const close = app.memory.close.bind(app.memory)
  app.memory.close = async () => { events.push('closed'); await close() }
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (data: Buffer) => { received += data.toString() })
  socket.write('GET /memory/v1/whoami HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise<void>((resolve) => {
    const look = () => { if (events.includes('asked')) resolve(); else setImmediate(look) }
    look()
  })
  const closed = app.close()
  const ended = once(socket, 'close')
  release()
  await closed
  await ended
  t.match(received, /^HTTP\/1\.1 200 /)
  t.match(received, /connection: close/i)
  t.match(received, '"principal":"user:ada"')
  t.same(events, ['asked', 'closed'])
})

await t.test('the app names the callers', async (t) => {
  const { app, log } = await host(t)
  const config = loadConfig({}, { file: { access_control: { enabled: true, default_policy: 'owner_only' } } })
  await app.register(memoryGateway, options({
    config,
    authenticate: ({ headers: { cookie } }) => {
      if (cookie === 'banned') throw new ServiceError('access_denied', 'You are banned')
      if (cookie === 'odd') return { principal: 'with spaces' }
      return cookie === undefined ? undefined : { principal: `user:${cookie}`, tenantId: 'acme' }
    },
  }))
  const whoami = async (cookie?: string, headers = {}) => await app.inject({ url: '/memory/v1/whoami', headers: { ...(cookie !== undefined && { cookie }), ...headers } })
  t.match((await whoami('ada')).json(), { principal: 'user:ada', tenant_id: 'acme' })
  refused(t, await whoami(), 401, 'unauthenticated')
  refused(t, await whoami(undefined, { 'x-service-principal': 'user:ada' }), 401, 'unauthenticated')
  t.match((await whoami('ada', { 'x-service-principal': 'user:eve' })).json(), { principal: 'user:ada' })
  refused(t, await whoami('ada', { 'x-service-on-behalf-of': 'user:eve' }), 400, 'invalid_request')
  refused(t, await whoami('banned'), 403, 'access_denied')
  refused(t, await whoami('odd'), 500, 'internal_error')
  t.ok(log.some((line) => /authenticate returned a principal/.test(JSON.stringify(line))), 'the log tells why')
  const body = (bank: string) => ({ bank_id: bank, content: 'x' })
  t.equal((await post(app, '/memory/v1/retain', body('user-ada'), { cookie: 'ada' })).statusCode, 200)
  refused(t, await post(app, '/memory/v1/retain', body('user-eve'), { cookie: 'ada' }), 403, 'access_denied')
  t.equal((await app.inject({ url: '/memory/v1/whoami', headers: { cookie: 'ada', host: 'app.example' } })).statusCode, 200)
})

await t.test('an app that has the same packages and names for itself keeps them', async (t) => {
  const { app } = await host(t)
  await app.register(fastifyJwt, { secret: 'secret of the app' })
  await app.register(swagger, { openapi: { info: { title: 'The app', version: '1' } } })
  app.decorate('metrics', { own: true } as never)
  app.decorate('links', ['own'] as never)
  const secret = 's'.repeat(32)
  await app.register(memoryGateway, options({ config: loadConfig({ SERVICE_AUTH_MODE: 'jwt_hs256', SERVICE_JWT_SECRET: secret }) }))
  app.get('/own', async (request) => await request.jwtVerify())
  await app.ready()
  const gatewayToken = hs256({ sub: 'user:ada' }, secret)
  const appToken = app.jwt.sign({ sub: 'somebody' })
  const ask = async (url: string, token: string) => (await app.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode
  t.same(await Promise.all([
    ask('/memory/v1/whoami', gatewayToken), ask('/memory/v1/whoami', appToken), ask('/own', appToken), ask('/own', gatewayToken),
  ]), [200, 401, 200, 401])
  t.same([app.metrics, app.links], [{ own: true }, ['own']])
  t.equal((await app.inject('/memory')).json().name, 'Memory Gateway')
})

await t.test('dev mode serves only connections that come in on loopback', async (t) => {
  const { app } = await host(t)
  const config = loadConfig({ SERVICE_ALLOW_DEV_AUTH: '1' })
  let localAddress = '10.0.0.7'
  app.addHook('onRequest', async ({ raw: { socket } }) => { Object.defineProperty(socket, 'localAddress', { value: localAddress, configurable: true }) })
  await app.register(memoryGateway, options())
  await app.register(memoryGateway, options({ prefix: '/allowed', decorator: false, config }))
  const ask = async (prefix: string) => await app.inject({ url: `${prefix}/v1/whoami`, headers: { host: 'localhost' } })
  refused(t, await ask('/memory'), 403, 'host_not_allowed')
  t.equal((await ask('/allowed')).statusCode, 200)
  localAddress = '::ffff:127.0.0.1'
  t.equal((await ask('/memory')).statusCode, 200)
})

await t.test('what only the app can set is warned of', async (t) => {
  const warned = async (server: FastifyServerOptions) => {
    const { app, log } = await host(t, server)
    await app.register(memoryGateway, options())
    await app.ready()
    return log.filter(({ level, msg }) => level === 40 && /of the app/.test(String(msg))).map(({ msg }) => String(msg).split(' ')[0])
  }
  t.same(await warned({}), ['routerOptions.maxParamLength', 'requestTimeout'])
  t.same(await warned(SERVER), [])
})

await t.test('a bank id of any length is found where the app allows it', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  t.equal((await app.inject(`/memory/v1/banks/${'%61'.repeat(255)}`)).statusCode, 200)
})

await t.test('the gateway logs its requests when it is asked to, and its faults with what may be said', async (t) => {
  const { app, log } = await host(t, { ...SERVER, disableRequestLogging: true })
  await app.register(memoryGateway, options({ accessLog: true }))
  await app.inject({ url: '/memory/v1/whoami', headers: { 'x-request-id': 'given', 'x-service-principal': 'user:ada' } })
  t.match(log.filter(({ msg }) => msg === 'request completed'), [{ gateway: '/memory', request_id: 'given', route: '/memory/v1/whoami', principal_type: 'user' }])
})

await t.test('what cannot work, or would be ignored, ends the start', async (t) => {
  const cases: Array<[RegExp, Partial<MemoryGatewayOptions>, ((app: FastifyInstance) => void)?]> = [
    [/prefix must be a path/, { prefix: '' }],
    [/prefix must be a path/, { prefix: '/' }],
    [/prefix must be a path/, { prefix: '/memory/' }],
    [/decorator "memory" already/, {}, (app) => { app.decorate('memory', {} as never) }],
    [/authenticate takes the place of SERVICE_AUTH_MODE/, { authenticate: () => undefined, config: loadConfig({ SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'key' }) }],
    [/register @fastify\/cors in the app/, { config: loadConfig({ SERVICES_CORS_ORIGINS: 'https://app.example' }) }],
  ]
  for (const [message, more, prepare = () => {}] of cases) {
    const { app } = await host(t)
    prepare(app)
    await t.rejects(async () => { await app.register(memoryGateway, options(more)) }, { message })
  }
})
