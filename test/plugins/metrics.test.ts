import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { SteeredEmbeddings } from '../fixtures/steered-embeddings.js'
import { testApp } from '../helpers/app.js'
import { readExposition, scrape, valueOf } from '../helpers/exposition.js'
import { as, ONE_PERMISSION_EACH, refused } from '../routes/support.js'
import { signedSource } from '../routes/webhooks.js'

const COUNT = 'memory_gateway_http_request_duration_seconds_count'

await t.test('requests are counted by method, route pattern and status', async (t) => {
  const app = await testApp(t)
  const id = await app.retain('b', 'Tea is hot.')
  await app.post('/v1/recall', { bank_id: 'b', query: 'tea' })
  await app.post('/v1/recall', { bank_id: 'b', query: 'tea' })
  await app.post('/v1/recall', { bank_id: 'b' })
  await app.get(`/v1/banks/b/memories/${id}`)
  await app.get('/v1/banks/b/memories/00000000-0000-7000-8000-000000000000')
  const samples = await scrape(app)
  t.equal(valueOf(samples, COUNT, { method: 'POST', route: '/v1/recall', status: '200' }), 2)
  t.equal(valueOf(samples, COUNT, { method: 'POST', route: '/v1/recall', status: '400' }), 1)
  t.equal(valueOf(samples, COUNT, { method: 'GET', route: '/v1/banks/:bank_id/memories/:memory_id', status: '200' }), 1)
  t.equal(valueOf(samples, COUNT, { method: 'GET', route: '/v1/banks/:bank_id/memories/:memory_id', status: '404' }), 1)
  t.equal(
    valueOf(samples, 'memory_gateway_http_request_duration_seconds_bucket', {
      route: '/v1/recall', status: '200', le: '+Inf',
    }),
    2,
  )
})

await t.test('requests without a route have one name, whatever their path and method are', async (t) => {
  const app = await testApp(t)
  for (const url of ['/nothing', '/v1/secret-bank', '/v1/banks/a/b/c/d']) await app.get(url)
  await app.inject({ method: 'DELETE', url: '/v1/banks' })
  const samples = await scrape(app)
  t.equal(valueOf(samples, COUNT, { route: 'unknown', status: '404' }), 3)
  t.equal(valueOf(samples, COUNT, { route: 'unknown', status: '405', method: 'DELETE' }), 1)
})

await t.test('a request that a hook refuses is counted under its route', async (t) => {
  const app = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' } })
  await app.get('/v1/banks')
  t.equal(valueOf(await scrape(app), COUNT, { route: '/v1/banks', status: '401' }), 1)
})

await t.test('liveness is not counted, and readiness is', async (t) => {
  const app = await testApp(t)
  for (const url of ['/live', '/health/live', '/health']) t.equal((await app.get(url)).statusCode, 200)
  await app.inject({ method: 'HEAD', url: '/live' })
  const counted = (await scrape(app)).filter(({ name }) => name === COUNT).map(({ labels }) => (
    `${labels['method']} ${labels['route']}`
  ))
  t.same(counted, ['GET /health'])
})

await t.test('failures of authentication are 0 before the first', async (t) => {
  const app = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' } })
  const samples = await scrape(app)
  for (const mode of ['api_key', 'admin_token', 'source_signature']) {
    t.equal(valueOf(samples, 'memory_gateway_auth_failures_total', { mode, status: '401' }), 0)
  }
})

await t.test('a client that disconnects before its answer is counted as 499, and no longer as in flight', async (t) => {
  const store = new InMemoryVectorStore()
  let arrive: () => void = () => {}
  const arrived = new Promise<void>((resolve) => { arrive = resolve })
  store.search = async () => {
    arrive()
    return await new Promise(() => {})
  }
  const app = await testApp(t, {}, { store })
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  const body = JSON.stringify({ bank_id: 'b', query: 'x' })
  socket.write('POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
    `${body.length}\r\n\r\n${body}`)
  await arrived
  t.equal(valueOf(await scrape(app), 'memory_gateway_http_requests_in_flight'), 2, 'the request and the scrape')
  socket.destroy()
  let samples = await scrape(app)
  while (valueOf(samples, COUNT, { route: '/v1/recall', status: '499' }) === undefined) {
    // The event loop reports the socket's end.
    await setImmediate()
    samples = await scrape(app)
  }
  t.equal(valueOf(samples, 'memory_gateway_http_requests_in_flight'), 1)
})

await t.test('the stages of a recall and the calls to its models are counted', async (t) => {
  const reranker = { rerank: async (_query: string, texts: readonly string[]) => texts.map((_, index) => index) }
  const app = await testApp(
    t,
    {
      file: {
        embedding_provider: './private/path.mjs:Steered', reranker: './x.mjs:Y', reranker_config: { model: 'judge' },
      },
    },
    { embeddings: new SteeredEmbeddings({ deferred: false }), reranker },
  )
  await app.retain('b', 'The doctor drives a car.')
  await app.post('/v1/recall', { bank_id: 'b', query: 'physician' })
  const samples = await scrape(app)
  for (const stage of ['analyze', 'embed', 'search', 'rank', 'rerank', 'budget']) {
    t.equal(valueOf(samples, 'memory_gateway_recall_stage_duration_seconds_count', { stage }), 1, stage)
  }
  const calls = (labels: Record<string, string>) => valueOf(samples, 'memory_gateway_model_calls_total', labels)
  t.equal(calls({ kind: 'embedding', provider: 'custom', purpose: 'document', outcome: 'ok' }), 1)
  t.equal(calls({ kind: 'embedding', provider: 'custom', purpose: 'query', outcome: 'ok' }), 1)
  t.equal(calls({ kind: 'reranker', provider: 'custom', model: 'judge', purpose: 'rerank', outcome: 'ok' }), 1)
  t.equal(valueOf(samples, 'memory_gateway_model_call_duration_seconds_count', { kind: 'reranker' }), 1)
})

await t.test('a failed call to a model is counted by its outcome', async (t) => {
  const reranker = { rerank: async () => { throw new Error('the text of the memory is: secret') } }
  const app = await testApp(t, {}, { embeddings: new SteeredEmbeddings({ deferred: false }), reranker })
  await app.retain('b', 'The doctor drives a car.')
  await app.post('/v1/recall', { bank_id: 'b', query: 'physician' })
  t.equal(valueOf(await scrape(app), 'memory_gateway_model_calls_total', { kind: 'reranker', outcome: 'error' }), 1)
})

await t.test('denials and refusals by limits are counted, once per operation', async (t) => {
  const app = await testApp(t, {
    file: {
      ...ONE_PERMISSION_EACH, homeostasis: { rate_limits: { recall_per_minute: 1 }, quotas: { retain_per_day: 1 } },
    },
  })
  const all = as('user:all')
  await app.retain('team', 'One.', {}, all)
  t.equal((await app.post('/v1/retain', { bank_id: 'team', content: 'Two.' }, all)).statusCode, 429)
  t.equal((await app.post('/v1/recall', { bank_id: 'team', query: 'one' }, as('user:write'))).statusCode, 403)
  for (const status of [200, 429, 429]) {
    t.equal((await app.post('/v1/recall', { bank_id: 'team', query: 'one' }, all)).statusCode, status)
  }
  // It only asks what is allowed, so nothing is refused.
  await app.get('/v1/whoami?bank_id=team', as('user:read'))
  const samples = await scrape(app)
  t.equal(valueOf(samples, 'memory_gateway_access_denied_total'), 1)
  t.equal(valueOf(samples, 'memory_gateway_rate_limited_total', { kind: 'rate_limited' }), 2)
  t.equal(valueOf(samples, 'memory_gateway_rate_limited_total', { kind: 'quota_exceeded' }), 1)
})

await t.test('a request that its guard refuses is counted by the kind of guard', async (t) => {
  const admin = { 'x-admin-token': 'admin' }
  const app = await testApp(t, {
    auth: { mode: 'api_key', apiKey: 'key' },
    adminToken: 'admin',
    file: { sources: { shop: signedSource() } },
  })
  const caller = { 'x-api-key': 'key', ...as('user:ada') }
  for (const headers of [{}, { 'x-api-key': 'wrong', ...as('user:ada') }, { 'x-api-key': 'key' }, caller]) {
    await app.get('/v1/banks', headers)
  }
  await app.post('/v1/recall', { bank_id: 'b' }, caller)
  await app.get('/v1/admin/banks')
  await app.get('/v1/admin/banks', admin)
  await app.post('/v1/ingest/webhook/shop', { content: 'x' })
  await app.get('/nothing')
  const samples = await scrape(app, admin)
  const failures = Object.fromEntries(
    samples.filter(({ name }) => name === 'memory_gateway_auth_failures_total').map(({ labels, value }) => [
      `${labels['mode']} ${labels['status']}`, value,
    ]),
  )
  t.same(failures, { 'api_key 401': 3, 'admin_token 401': 1, 'source_signature 401': 1 })
})

await t.test('the admin token guards /metrics, and without one it is open', async (t) => {
  const guarded = await testApp(t, { adminToken: 'admin', auth: { mode: 'api_key', apiKey: 'key' } })
  for (const headers of [{}, { 'x-admin-token': 'wrong' }, { 'x-api-key': 'key', ...as('user:ada') }]) {
    refused(t, await guarded.get('/metrics', headers), 401, 'unauthenticated', {
      detail: 'Invalid or missing X-Admin-Token',
    })
  }
  const answer = await guarded.get('/metrics', { 'x-admin-token': 'admin' })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  t.equal((await (await testApp(t)).get('/metrics')).statusCode, 200)
})

await t.test('no label and no line contains a bank, a principal, a memory, a query or a path', async (t) => {
  const app = await testApp(
    t, { file: { access_control: { enabled: true, default_policy: 'open' } } },
    { embeddings: new SteeredEmbeddings({ deferred: false }) },
  )
  const secret = 'zanzibar'
  const caller = as(`user:${secret}`)
  const id = await app.retain(
    `user:${secret}`, `The doctor met ${secret}.`, { tags: [secret], metadata: { [secret]: secret } }, caller,
  )
  await app.post('/v1/recall', { bank_id: `user:${secret}`, query: `doctor ${secret}` }, caller)
  await app.post('/v1/reflect', { bank_id: `user:${secret}`, query: `Who is ${secret}?` }, caller)
  await app.get(`/v1/banks/user:${secret}/memories/${id}`, caller)
  await app.get(`/v1/banks/other-${secret}/memories`, caller)
  await app.get(`/${secret}/${secret}`, { ...caller, 'x-request-id': secret })
  const { body } = await app.get('/metrics')
  t.ok(readExposition(body).length > 100)
  t.notMatch(body, /zanzibar/i)
  t.notOk(body.includes(id))
})

await t.test('the process reports itself, and each gateway only its own requests', async (t) => {
  const [one, other] = [await testApp(t), await testApp(t)]
  await one.get('/health')
  const samples = await scrape(other)
  t.equal(valueOf(samples, COUNT, { route: '/health' }), undefined)
  for (const name of [
    'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds', 'process_cpu_seconds_total',
  ]) {
    t.ok(valueOf(samples, name)! >= 0, name)
  }
  t.equal(valueOf(await scrape(one), COUNT, { route: '/health', status: '200' }), 1)
})

await t.test('every line has the format of Prometheus, with one help and one type for each metric', async (t) => {
  const { body } = await (await testApp(t)).get('/metrics')
  readExposition(body)
  const types = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
  t.equal(new Set(types).size, types.length)
  t.same([...body.matchAll(/^# HELP (\S+) /gm)].map(([, name]) => name), types)
  for (const name of types) t.match(name, /^(memory_gateway|process|nodejs)_[a-z0-9_]+$/)
})
