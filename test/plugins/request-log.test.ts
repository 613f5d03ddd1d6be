import t from 'tap'
import type { InjectOptions } from 'fastify'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { RawConnection } from '../blackbox/raw.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { until } from '../helpers/waiting.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const VISIBLE = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => String.fromCharCode(0x21 + index)).join('')

function accessLines ({ log }: TestApp): Array<Record<string, unknown>> {
  return log.filter((line) => line['msg'] === 'request completed')
}

await t.test('X-Request-Id', async (t) => {
  const app = await testApp(t)

  for (const id of ['a', 'trace-17', 'x'.repeat(128), VISIBLE]) {
    await t.test(`${id.slice(0, 20)} of ${id.length} visible characters is accepted`, async (t) => {
      t.equal((await app.get('/live', { 'x-request-id': id })).headers['x-request-id'], id)
    })
  }

  for (const [what, id] of Object.entries({
    empty: '',
    'too long': 'x'.repeat(129),
    'of two words': 'a b',
    'with a tab': 'a\tb',
    'beyond ASCII': 'ä',
    'a control character': 'a\u007f',
  })) {
    await t.test(`one that is ${what} is replaced by a fresh UUID`, async (t) => {
      t.match((await app.get('/live', { 'x-request-id': id })).headers['x-request-id'], UUID)
    })
  }

  await t.test('is fresh for each request that brings none', async (t) => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (
      (await app.get('/live')).headers['x-request-id']
    )))
    t.equal(new Set(ids).size, 20)
    for (const id of ids) t.match(id, UUID)
  })

  const everywhere: Array<[what: string, request: InjectOptions]> = [
    ['an answer', { url: '/v1/banks' }],
    ['a stream', { url: '/v1/banks/b/export' }],
    ['a probe', { url: '/health' }],
    ['the document', { url: '/openapi.json' }],
    ['the documentation', { url: '/docs/' }],
    ['an answer without a body', { method: 'HEAD', url: '/v1/banks' }],
    ['400', { method: 'POST', url: '/v1/recall', headers: { 'content-type': 'application/json' }, payload: '{' }],
    ['404', { url: '/nothing' }],
    ['405', { method: 'DELETE', url: '/v1/banks' }],
    ['a URL that cannot be read', { url: '/v1/banks/%E0%A4%A' }],
  ]
  for (const [what, request] of everywhere) {
    await t.test(`is on ${what}`, async (t) => {
      t.equal(
        (await app.inject({
          ...request, headers: { ...request.headers, 'x-request-id': 'the-id' },
        })).headers['x-request-id'],
        'the-id',
      )
    })
  }
})

await t.test('a request is one line with method, route pattern, status, duration and the type of ' +
  'the principal', async (t) => {
  const app = await testApp(t)
  const response = await app.get('/v1/banks/secret-bank/memories?limit=7', { 'x-service-principal': 'user:ada' })
  t.equal(app.log.length, 1)
  const { time, pid, hostname, duration_ms: duration, ...line } = app.log[0]!
  t.same(line, {
    level: 30,
    request_id: response.headers['x-request-id'],
    method: 'GET',
    route: '/v1/banks/:bank_id/memories',
    status: 200,
    principal_type: 'user',
    msg: 'request completed',
  })
  t.ok(typeof duration === 'number' && duration >= 0)
})

for (const [what, headers, type] of [
  ['a typed principal', { 'x-service-principal': 'agent:writer:2' }, 'agent'],
  ['a principal without a type', { 'x-service-principal': 'ada' }, 'untyped'],
  ['a principal with an empty type', { 'x-service-principal': ':ada' }, 'untyped'],
  ['no principal', {}, 'anonymous'],
] as const) {
  await t.test(`${what} is logged as ${type}`, async (t) => {
    const app = await testApp(t)
    await app.get('/v1/whoami', headers)
    t.match(accessLines(app), [{ principal_type: type }])
  })
}

await t.test('routes outside the memory scope and refused callers are logged with principal_type none', async (t) => {
  const app = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' } })
  await app.get('/v1/admin/sources', { 'x-service-principal': 'user:ada' })
  await app.get('/v1/banks', { 'x-service-principal': 'user:ada' })
  t.match(accessLines(app), [{ principal_type: 'none', status: 200 }, { principal_type: 'none', status: 401 }])
})

await t.test('a path that does not exist is logged without it', async (t) => {
  const app = await testApp(t)
  await app.get('/secret/path?token=secret')
  t.match(accessLines(app), [{ route: null, status: 404 }])
  t.notMatch(JSON.stringify(app.log), /secret/)
})

await t.test('a fault is logged with its cause and as a request, both under its id', async (t) => {
  const app = await testApp(t, {}, { newId: () => { throw new Error('no more ids') } })
  await app.post('/v1/retain', { bank_id: 'b', content: 'x' }, { 'x-request-id': 'the-id' })
  t.match(app.log, [
    { request_id: 'the-id', level: 50, err: { message: 'no more ids' } },
    { request_id: 'the-id', level: 30, status: 500 },
  ])
  t.equal(app.log.length, 2)
})

await t.test('no line holds content, query, principal, bank, tag, credential or header', async (t) => {
  const app = await testApp(t, {
    logLevel: 'trace', auth: { mode: 'api_key', apiKey: 'sekret-key' }, adminToken: 'sekret-token',
  })
  const headers = {
    'x-api-key': 'sekret-key',
    'x-service-principal': 'user:sekret',
    'user-agent': 'sekret-agent',
    authorization: 'Bearer sekret',
    cookie: 'sekret=1',
  }
  await app.retain(
    'sekret-bank', 'sekret content',
    { tags: ['sekret'], metadata: { sekret: 'sekret' }, document_id: 'sekret', source: 'sekret' }, headers,
  )
  await app.post(
    '/v1/retain', { bank_id: 'sekret-bank', content: 'sekret content', sekret: 'x' },
    { ...headers, 'idempotency-key': 'sekret' },
  )
  for (const path of ['/v1/recall', '/v1/reflect']) {
    await app.post(path, { bank_id: 'sekret-bank', query: 'sekret' }, headers)
  }
  await app.post('/v1/forget', { bank_id: 'sekret-bank', tags: ['sekret'] }, headers)
  for (const path of [
    '/v1/banks?cursor=sekret', '/v1/banks/sekret-bank/memories?tags=sekret', '/v1/banks/sekret-bank/export', '/sekret',
    '/v1/admin/sources',
  ]) {
    await app.get(path, { ...headers, 'x-admin-token': 'sekret-token' })
    await app.get(path, { 'x-api-key': 'sekret wrong', 'x-admin-token': 'sekret wrong' })
  }
  t.equal(accessLines(app).length, 15)
  t.notMatch(JSON.stringify(app.log), /sekret/i)
})

await t.test('a request whose client disconnects is one line with status 499', async (t) => {
  const store = new InMemoryVectorStore()
  store.search = async () => await new Promise(() => {})
  const app = await testApp(t, {}, { store })
  const url = await app.app.listen({ host: '127.0.0.1', port: 0 })
  const body = JSON.stringify({ bank_id: 'b', query: 'x' })
  for (const [id, sent] of [['whole-body', body], ['half-body', body.slice(0, 5)]] as const) {
    const connection = await RawConnection.open(t, url)
    connection.write(`POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\nContent-Type: ` +
      `application/json\r\nContent-Length: ${body.length}\r\n\r\n${sent}`)
    await until(() => app.app.activeRequests.size === 1)
    t.same(accessLines(app), [])
    connection.socket.destroy()
    await until(() => app.app.activeRequests.size === 0)
    t.match(accessLines(app), [
      { request_id: id, method: 'POST', route: '/v1/recall', status: 499, duration_ms: Number },
    ])
    app.log.length = 0
  }
})

await t.test('probes are logged at debug and not at info', async (t) => {
  const quiet = await testApp(t)
  const loud = await testApp(t, { logLevel: 'debug' })
  for (const path of ['/live', '/health/live', '/health']) {
    await quiet.get(path)
    await loud.get(path)
  }
  t.same(quiet.log, [])
  t.match(loud.log, [
    { level: 20, route: '/live' }, { level: 20, route: '/health/live' }, { level: 20, route: '/health' },
  ])
})

await t.test('warnings of the configuration are logged at the start', async (t) => {
  const app = await testApp(t, { warnings: ['SERVICE_ADMIN_TOKEN is not set'] })
  t.match(app.log, [{ level: 40, msg: 'SERVICE_ADMIN_TOKEN is not set' }])
})
