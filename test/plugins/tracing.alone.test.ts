import t, { type Test } from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { SteeredEmbeddings } from '../fixtures/steered-embeddings.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { answering, UNUSED_URL } from '../helpers/scripted-server.js'
import { startCollector, type TraceCollector } from '../helpers/trace-collector.js'
import { as } from '../routes/support.js'

// The SDK reads this by itself. Batches leave at once.
process.env['OTEL_BSP_SCHEDULE_DELAY'] = '1'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

async function traced (
  t: Test, config: Parameters<typeof testApp>[1] = {}, overrides: Parameters<typeof testApp>[2] = {},
): Promise<TestApp & { collector: TraceCollector }> {
  const collector = await startCollector(t)
  return { ...await testApp(t, { tracesUrl: `${collector.url}/traces`, ...config }, overrides), collector }
}

await t.test('a request is a span below the one that its traceparent names, and its stages are ' +
  'spans below it', async (t) => {
  const reranker = { rerank: async (_query: string, texts: readonly string[]) => texts.map((_, index) => index) }
  const {
    app, post, retain, collector,
  } = await traced(t, { file: { embedding_provider: './x.mjs:Y' } }, {
    embeddings: new SteeredEmbeddings({ deferred: false }), reranker,
  })
  await retain('b', 'The doctor drives a car.')
  await post('/v1/recall', { bank_id: 'b', query: 'physician' }, { traceparent: `00-${TRACE}-${PARENT}-01` })
  await app.close()
  const request = collector.span('POST /v1/recall')
  t.match(request, { traceId: TRACE, parentSpanId: PARENT, kind: 2, status: { code: 0 }, events: [] })
  t.same(request.attributes, {
    'http.request.method': 'POST', 'http.route': '/v1/recall', 'url.scheme': 'http', 'http.response.status_code': 200,
  })
  for (const stage of ['analyze', 'embed', 'search', 'rank', 'rerank', 'budget']) {
    t.match(
      collector.span(`recall.${stage}`), { traceId: TRACE, parentSpanId: request.spanId, kind: 1, attributes: {} },
      stage,
    )
  }
  const calls = collector.spans.filter(({ name }) => name === 'embeddings custom')
  t.same(calls.map(({ parentSpanId }) => parentSpanId), [
    collector.span('POST /v1/retain').spanId, collector.span('recall.embed').spanId,
  ])
  for (const { kind, attributes } of calls) {
    t.equal(kind, 3)
    t.same(attributes, {
      'gen_ai.operation.name': 'embeddings', 'gen_ai.provider.name': 'custom', 'gen_ai.request.model': 'custom',
    })
  }
  t.equal(collector.span('rerank reranker').parentSpanId, collector.span('recall.rerank').spanId)
  t.not(collector.span('POST /v1/retain').traceId, TRACE)
})

await t.test('a reflect\'s call of the language model is a span with the names of the GenAI conventions', async (t) => {
  const { app, post, retain, collector } = await traced(t)
  await retain('b', 'The otter sleeps on the river.')
  t.equal(
    (await post('/v1/reflect', { bank_id: 'b', query: 'Where does the otter sleep?', max_tokens: 77 })).statusCode, 200,
  )
  await app.close()
  const chat = collector.span('chat mock')
  t.match(chat, { kind: 3, parentSpanId: collector.span('POST /v1/reflect').spanId, status: { code: 0 } })
  t.match(chat.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'mock',
    'gen_ai.request.model': 'mock',
    'gen_ai.request.max_tokens': 77,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': Number,
    'gen_ai.usage.output_tokens': Number,
  })
})

await t.test('no span contains content, a bank, a principal, an address or a credential', async (t) => {
  const embeddings = new SteeredEmbeddings({ deferred: false })
  const reranker = {
    rerank: async (
      query: string, texts: readonly string[],
    ): Promise<number[]> => { throw new Error(`cannot judge ${query} in ${texts.join()}`) },
  }
  const {
    app, post, get, retain, collector,
  } = await traced(t, { auth: { mode: 'api_key', apiKey: 'zanzibar-key' } }, { embeddings, reranker })
  const caller = { 'x-api-key': 'zanzibar-key', 'x-request-id': 'zanzibar-request', ...as('user:zanzibar') }
  const id = await retain(
    'zanzibar', 'The doctor met Zanzibar.', { tags: ['zanzibar'], metadata: { zanzibar: 'zanzibar' } }, caller,
  )
  await post('/v1/recall', { bank_id: 'zanzibar', query: 'doctor zanzibar' }, caller)
  await post('/v1/reflect', { bank_id: 'zanzibar', query: 'Who met Zanzibar?' }, caller)
  await get(`/v1/banks/zanzibar/memories/${id}?zanzibar=1`, caller)
  await get('/zanzibar/zanzibar')
  await app.close()
  t.ok(collector.spans.length > 15)
  t.notMatch(collector.payload, /zanzibar/i)
  t.notOk(collector.payload.includes(id))
  t.notMatch(collector.payload, /127\.0\.0\.1","/)
})

await t.test('a failed span has the code or the class of its error and not its message', async (t) => {
  const store = new InMemoryVectorStore()
  store.search = async () => { throw new TypeError('secret words of the database') }
  const { app, post, collector } = await traced(t, {}, { store })
  t.equal((await post('/v1/recall', { bank_id: 'b', query: 'x' })).statusCode, 503)
  await post('/v1/recall', { bank_id: 'b' })
  await app.close()
  t.match(collector.span('recall.search'), {
    status: { code: 2 }, attributes: { 'error.type': 'dependency_unavailable' }, events: [],
  })
  const requests = collector.spans.filter(({ name }) => name === 'POST /v1/recall')
  t.match(
    requests.find(({ attributes }) => attributes['http.response.status_code'] === 503),
    { status: { code: 2 }, attributes: { 'error.type': '503' } },
  )
  t.match(
    requests.find(({ attributes }) => attributes['http.response.status_code'] === 400), { status: { code: 0 } },
    'a mistake of the client is no fault of the server',
  )
  t.notMatch(collector.payload, /secret/)
})

await t.test('a request without a route is named by its method, and a refused request is a span too', async (t) => {
  const { app, get, collector } = await traced(t, { adminToken: 'admin' })
  await get('/nothing/here')
  await get('/v1/admin/banks')
  await app.close()
  t.same(collector.span('GET').attributes, {
    'http.request.method': 'GET', 'url.scheme': 'http', 'http.response.status_code': 404,
  })
  t.match(collector.span('GET /v1/admin/banks').attributes, {
    'http.route': '/v1/admin/banks', 'http.response.status_code': 401,
  })
})

await t.test('an invalid traceparent begins a new trace, and an unsampled one stays unsampled', async (t) => {
  const { app, get, collector } = await traced(t)
  await get('/live', { traceparent: `00-${TRACE}-${PARENT}-00` })
  await get('/health', { traceparent: '00-xyz-1-01' })
  await app.close()
  t.same(collector.spans.map(({ name }) => name), ['GET /health'])
  t.notOk(collector.span('GET /health').parentSpanId)
})

await t.test('two gateways of one process send to their own collectors, side by side', async (t) => {
  const [one, other] = [await traced(t), await traced(t)]
  await Promise.all([one, other].map(async ({ retain }, index) => { await retain(`b${index}`, 'Tea.') }))
  await one.post('/v1/recall', { bank_id: 'b0', query: 'tea' })
  await one.app.close()
  await other.get('/v1/whoami')
  await other.app.close()
  const names = ({ collector }: typeof one) => (
    collector.spans.map(({ name }) => name).filter((name) => name.includes('/v1/')).sort()
  )
  t.same(names(one), ['POST /v1/recall', 'POST /v1/retain'])
  t.same(names(other), ['GET /v1/whoami', 'POST /v1/retain'])
  t.equal(one.collector.span('recall.search').parentSpanId, one.collector.span('POST /v1/recall').spanId)
})

await t.test('concurrent requests have separate spans', async (t) => {
  const { app, post, retain, collector } =
    await traced(t, {}, { embeddings: new SteeredEmbeddings({ deferred: false }) })
  await retain('b', 'The doctor drives a car.')
  const traces = Array.from({ length: 8 }, (_, index) => `${index + 1}`.repeat(32))
  await Promise.all(traces.map(async (trace) => (
    await post('/v1/recall', { bank_id: 'b', query: 'physician' }, { traceparent: `00-${trace}-${PARENT}-01` })
  )))
  await app.close()
  for (const trace of traces) {
    const spans = collector.spans.filter(({ traceId }) => traceId === trace)
    const request = spans.find(({ name }) => name === 'POST /v1/recall')!
    const below = spans.filter(({ parentSpanId }) => parentSpanId === request.spanId).map(({ name }) => name).sort()
    t.same(below, ['recall.analyze', 'recall.budget', 'recall.embed', 'recall.rank', 'recall.search'])
  }
})

await t.test('vectors that are computed after the write belong to no request', async (t) => {
  const { app, retain, collector } =
    await traced(t, {}, { embeddings: new SteeredEmbeddings(), store: new InMemoryVectorStore() })
  await retain('b', 'The doctor drives a car.')
  await app.memory.idle()
  await app.close()
  t.notOk(collector.span('embeddings mock').parentSpanId)
  t.not(collector.span('embeddings mock').traceId, collector.span('POST /v1/retain').traceId)
})

await t.test('the service has its name and version, unless the environment names it', async (t) => {
  const first = await traced(t)
  await first.get('/live')
  await first.app.close()
  t.match(first.collector.resource, {
    'service.name': 'memory-gateway', 'service.version': /^\d+\.\d+\.\d+/, 'telemetry.sdk.language': 'nodejs',
  })
  t.teardown(
    () => {
      for (const name of [
        'OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES', 'OTEL_EXPORTER_OTLP_HEADERS',
      ]) delete process.env[name]
    },
  )
  Object.assign(process.env, {
    OTEL_SERVICE_NAME: 'memories',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
  })
  const second = await traced(t)
  await second.get('/live')
  await second.app.close()
  t.match(second.collector.resource, { 'service.name': 'memories', 'deployment.environment.name': 'test' })
  t.equal(second.collector.requests[0]!.headers['x-collector-key'], 'abc')
})

await t.test('a collector that refuses spans affects no request, and is logged once until it recovers', async (t) => {
  const { app, get, log, collector } = await traced(t)
  collector.always(answering(400, '{}'))
  for (const count of [1, 2, 3]) {
    t.equal((await get('/live')).statusCode, 200)
    await collector.received(count)
  }
  collector.always(answering(200, '{}'))
  await get('/live')
  await collector.received(4)
  await app.close()
  const told = log.filter(({ msg }) => String(msg).startsWith('OTEL_')).map(({ level, msg }) => (
    `${String(level)} ${String(msg)}`
  ))
  t.same(told, [
    '40 OTEL_EXPORTER_OTLP_ENDPOINT: traces cannot be sent and are lost until the collector accepts them',
    '30 OTEL_EXPORTER_OTLP_ENDPOINT: traces are sent again',
  ])
})

await t.test('a missing collector affects no request', async (t) => {
  t.teardown(() => { delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] })
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500'
  const { app, get, log } = await testApp(t, { tracesUrl: `${UNUSED_URL}/traces` })
  for (let round = 0; round < 5; round++) t.equal((await get('/live')).statusCode, 200)
  await app.close()
  const warnings = log.filter(({ msg }) => String(msg).startsWith('OTEL_'))
  t.ok(warnings.length <= 1, 'the log is not flooded')
})
