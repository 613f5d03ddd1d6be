import t from 'tap'
import type { InjectOptions } from 'fastify'
import { ERROR_RESPONSES } from '../../http/error-responses.js'
import { ERROR_CODES, type ErrorCode } from '../../lib/base/service-error.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { LanguageModel } from '../../lib/models/language-model.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { refused, refusedFields } from '../routes/support.js'

const JSON_TYPE = { 'content-type': 'application/json' }

/** An app with a route for nearly every error. */
async function brittle (t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const store = new InMemoryVectorStore()
  store.health = async () => ({ healthy: false })
  const languageModel: LanguageModel = {
    generate: async () => ({ text: '', usage: { inputTokens: 0, outputTokens: 0 } }),
  }
  let ids = 0
  const newId = () => {
    if (ids++ > 0) throw new RangeError('the entropy of db.internal:5432 is used up')
    return '01936f0e-7b3c-7a10-8d2f-000000000001'
  }
  const app = await testApp(t, {
    maxBodyBytes: 2000,
    auth: { mode: 'api_key', apiKey: 'key' },
    file: {
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: [{ bank_id: 'bank', principal: 'user:ada', permissions: ['*'] }],
      homeostasis: { rate_limits: { forget_per_minute: 1 } },
    },
  }, { store, languageModel, newId })
  await app.retain('bank', 'Alice drinks tea.', {}, CALLER)
  await app.post('/v1/forget', { bank_id: 'bank', tags: ['x'] }, { ...CALLER, 'idempotency-key': 'used' })
  return app
}

const CALLER = { 'x-api-key': 'key', 'x-service-principal': 'user:ada' }

function posting (url: string, body: unknown, headers: Record<string, string> = {}): InjectOptions {
  return { method: 'POST', url, headers: { ...CALLER, ...JSON_TYPE, ...headers }, payload: JSON.stringify(body) }
}

const everyStatus: Array<[status: number, code: string, request: InjectOptions]> = [
  [400, 'invalid_request', posting('/v1/recall', { bank_id: 'bank' })],
  [400, 'invalid_json', { ...posting('/v1/recall', {}), payload: '{' }],
  [401, 'unauthenticated', { url: '/v1/banks' }],
  [403, 'access_denied', posting('/v1/recall', { bank_id: 'other', query: 'x' })],
  [404, 'not_found', { url: '/v1/nothing' }],
  [404, 'not_found', { url: '/v1/banks/bank/memories/none', headers: CALLER }],
  [405, 'method_not_allowed', { method: 'DELETE', url: '/v1/banks' }],
  [
    409, 'idempotency_key_reused',
    posting('/v1/forget', { bank_id: 'bank', tags: ['y'] }, { 'idempotency-key': 'used' }),
  ],
  [413, 'body_too_large', posting('/v1/recall', { bank_id: 'bank', query: 'q'.repeat(3000) })],
  [415, 'unsupported_media_type', posting('/v1/recall', {}, { 'content-type': 'text/plain' })],
  [429, 'rate_limited', posting('/v1/forget', { bank_id: 'bank', tags: ['x'] })],
  [500, 'internal_error', posting('/v1/retain', { bank_id: 'bank', content: 'x' })],
  [502, 'model_output_invalid', posting('/v1/reflect', { bank_id: 'bank', query: 'tea' })],
  [503, 'dependency_unavailable', { url: '/health' }],
]

await t.test('every refusal has detail, code and request_id, as JSON', async (t) => {
  const { inject } = await brittle(t)
  for (const [status, code, request] of everyStatus) {
    await t.test(`${status} ${code}`, async (t) => {
      const response = await inject({ ...request, headers: { ...request.headers, 'x-request-id': 'the-id' } })
      refused(t, response, status, code, { request_id: 'the-id' })
      t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
      t.equal(response.headers['x-request-id'], 'the-id')
      t.equal(ERROR_RESPONSES[code as ErrorCode].status, status)
      t.same(
        Object.keys(response.json()).filter((name) => (
          !['detail', 'code', 'request_id', 'errors', 'retry_after_seconds'].includes(name)
        )),
        [],
      )
    })
  }
})

await t.test('codes are stable words in snake case', async (t) => {
  for (const code of Object.keys(ERROR_CODES)) t.match(code, /^[a-z]+(_[a-z]+)*$/)
})

await t.test('an unexpected fault says Internal server error and nothing of its cause, which the log has under ' +
  'the same id', async (t) => {
  const { inject, log } = await brittle(t)
  const response = await inject(posting('/v1/retain', { bank_id: 'bank', content: 'x' }))
  t.same(response.json(), {
    detail: 'Internal server error', code: 'internal_error', request_id: response.headers['x-request-id'],
  })
  const lines = log.filter((line) => line['request_id'] === response.headers['x-request-id'] && line['level'] === 50)
  t.match(lines, [
    {
      err: { type: 'RangeError', message: 'the entropy of db.internal:5432 is used up', stack: /errors\.test\.ts/ },
      code: 'internal_error',
    },
  ])
  t.equal(lines.length, 1)
})

await t.test('a store that is down is logged with its cause under the same id, but not the message of a custom one, ' +
  'which may contain a text', async (t) => {
  const store = new InMemoryVectorStore()
  const failure = Object.assign(new TypeError('cannot read the row "green tea"'), { code: 'E_ROW' })
  const fail = async () => { throw failure }
  Object.assign(store, { search: fail, health: fail })
  Object.assign(store.bankConfigs, { read: fail })
  const { post, get, log } = await testApp(t, {}, { store })
  const responses = [
    await post('/v1/recall', { bank_id: 'b', query: 'x' }), await get('/health'), await get('/v1/banks/b/config'),
  ]
  t.equal(responses[0]!.json().detail, 'The vector store is unavailable')
  t.match(log.filter((line) => line['level'] === 50), responses.map(({ headers }) => ({
    request_id: headers['x-request-id'],
    err: { type: 'TypeError', message: /^TypeError \(its message/, code: 'E_ROW', stack: /errors\.test/ },
  })))
  t.notMatch(JSON.stringify(log), /green tea/)
})

await t.test('a mistake of the client is logged as a request and not as an error', async (t) => {
  const { inject, log } = await brittle(t)
  log.length = 0
  for (const [status, , request] of everyStatus) if (status < 500) await inject(request)
  t.same(log.filter((line) => Number(line['level']) > 30), [])
})

await t.test('a path that does not exist is 404 without authentication', async (t) => {
  const { inject } = await brittle(t)
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
    for (const url of [
      '/v1', '/v1/', '/v2/recall', '/v1/recall/', '/V1/recall', '/v1/admin', '/v1/admin/other', '/docs-2',
    ]) {
      refused(t, await inject({ method, url }), 404, 'not_found', { detail: 'No such route' })
    }
  }
})

await t.test('a path that exists answers other methods with 405 and the methods that it has', async (t) => {
  const { app, inject } = await brittle(t)
  const own = app.routeTable.filter(({ url, schema }) => schema?.operationId !== undefined && !url.startsWith('/docs'))
  const paths = new Map<string, Set<string>>()
  for (const { url, method } of own) paths.set(url, new Set([...paths.get(url) ?? [], ...[method].flat()]))
  t.ok(paths.size >= 20)
  for (const [pattern, methods] of paths) {
    const expected = [...methods].sort().join(', ')
    const url = pattern.replaceAll(/:\w+/g, 'x')
    await t.test(`${pattern} allows ${expected}`, async (t) => {
      t.ok([
        'GET, HEAD', 'POST', 'DELETE', 'GET, HEAD, POST', 'DELETE, GET, HEAD', 'GET, HEAD, PATCH',
        'DELETE, GET, HEAD, PATCH, PUT',
      ].includes(expected))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const) {
        if (methods.has(method)) continue
        const response = await inject({ method: method as 'GET', url, headers: { 'content-type': 'nonsense' } })
        refused(t, response, 405, 'method_not_allowed', { detail: 'Method not allowed' })
        t.equal(response.headers.allow, expected)
      }
    })
  }
})

const fastifysOwn: Array<[what: string, status: number, code: string, request: InjectOptions]> = [
  ['a URL that is no UTF-8', 400, 'invalid_request', { url: '/v1/banks/%E0%A4%A' }],
  ['a URL with half an escape', 400, 'invalid_request', { url: '/v1/banks/%' }],
  ['a part of the URL that is too long', 400, 'invalid_request', { url: `/v1/banks/${'a'.repeat(1025)}` }],
  [
    'a body longer than it says', 400, 'invalid_request',
    {
      ...posting('/v1/recall', { bank_id: 'bank', query: 'x' }),
      headers: { ...CALLER, ...JSON_TYPE, 'content-length': '7' },
    },
  ],
  ['an empty body', 400, 'invalid_json', { ...posting('/v1/recall', {}), payload: '' }],
  ['a malformed content type', 415, 'unsupported_media_type', posting('/v1/recall', {}, { 'content-type': '/' })],
]
await t.test('refusals of the framework have the same form, our words and the request id', async (t) => {
  const { inject } = await brittle(t)
  for (const [what, status, code, request] of fastifysOwn) {
    await t.test(what, async (t) => {
      const response = await inject({ ...request, headers: { ...request.headers, 'x-request-id': 'the-id' } })
      refused(t, response, status, code, { request_id: 'the-id' })
      t.equal(response.headers['x-request-id'], 'the-id')
      t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
      t.notMatch(response.body, /FST_|statusCode/)
    })
  }
})

await t.test('messages name the fields as the client wrote them', async (t) => {
  const { post } = await testApp(t)
  const body = {
    bank_id: 'b',
    query: 5,
    tags: ['ok', 7],
    metadata: { 'a/b~c': {} },
    tags_match: 'most',
    surprise: 1,
    max_results: 'x',
  }
  const response = await post('/v1/recall', body)
  refused(t, response, 400, 'invalid_request')
  const { detail, errors } = response.json<{ detail: string, errors: Array<{ field: string, message: string }> }>()
  t.same(errors.map(({ field }) => field).sort(), [
    'max_results', 'metadata.a/b~c', 'query', 'surprise', 'tags[1]', 'tags_match',
  ])
  t.equal(detail, errors.map(({ field, message }) => `${field}: ${message}`).join('; '))
  t.match(Object.fromEntries(errors.map(({ field, message }) => [field, message])), {
    surprise: 'is not a known field',
    tags_match: 'must be one of "any", "all"',
    query: 'must be a text of 1 to 8192 characters',
  })
  t.match((await post('/v1/forget', { bank_id: 'b', scope: 'some' })).json(), { detail: 'scope: must be "all"' })
  t.match((await post('/v1/retain', {})).json(), {
    errors: [{ field: 'bank_id', message: 'is required' }, { field: 'content', message: 'is required' }],
  })
})

await t.test('the refusal of a body of a thousand wrong items names its first twenty fields', async (t) => {
  const { post } = await testApp(t)
  const response = await post('/v1/retain/batch', {
    bank_id: 'b', items: Array.from({ length: 1000 }, () => ({ content: 5, tags: 'a', other: 1 })),
  })
  refused(t, response, 400, 'invalid_request')
  t.equal(response.json().errors.length, 20)
  t.ok(response.body.length < 5000)
})

await t.test('no value of a body is repeated in a refusal', async (t) => {
  const { post } = await testApp(t)
  const bad = 'hunter2 hunter2'
  for (const [path, body] of [
    [
      '/v1/retain',
      {
        bank_id: bad,
        content: { bad },
        tags: bad,
        metadata: { a: [bad] },
        occurred_at: bad,
        expires_at: bad,
        source: [bad],
      },
    ],
    ['/v1/retain/batch', { bank_id: 'b', items: [{ content: 'x', tags: [[bad]], occurred_at: bad }] }],
    [
      '/v1/recall',
      { bank_id: 'b', query: [bad], tags_match: bad, max_results: bad, min_score: bad, explain: bad, as_of: bad },
    ],
    ['/v1/reflect', { bank_id: 'b', query: 'x', include_sources: bad, max_tokens: bad }],
    ['/v1/forget', { bank_id: 'b', memory_ids: [bad], scope: bad, dry_run: bad }],
  ] as const) {
    const response = await post(path, body)
    t.equal(response.statusCode, 400)
    t.notMatch(response.body, /hunter2/)
  }
  refusedFields(t, await post('/v1/retain', { bank_id: 'b', content: `${'hunter2'.repeat(8000)}` }), 'content')
})
