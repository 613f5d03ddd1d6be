import t from 'tap'
import { testApp } from '../helpers/app.js'
import { refused, refusedFields } from './support.js'

const ID = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'
const RETAIN = { bank_id: 'bank', content: 'Tea.' }
const RECALL = { bank_id: 'bank', query: 'tea' }
const TIME = '2026-01-05T09:30:00Z'
const MESSAGES = '/v1/banks/bank/conversations/chat/messages'

interface Refusal { detail: string, errors: Array<{ field: string, message: string }> }

// What is written in the fashion of JavaScript is meant in that of the API.
const meant: Array<[route: string, body: Record<string, unknown>, field: string, meant: string]> = [
  ['/v1/retain', { ...RETAIN, occured_at: '2026-01-01T00:00:00Z' }, 'occured_at', 'occurred_at'],
  ['/v1/retain', { ...RETAIN, metadta: {} }, 'metadta', 'metadata'],
  [
    '/v1/retain/batch', { bank_id: 'bank', items: [{ content: 'Tea.' }, { content: 'Milk.', tag: ['a'] }] },
    'items[1].tag', 'tags',
  ],
  ['/v1/recall', { ...RECALL, maxResults: 5 }, 'maxResults', 'max_results'],
  ['/v1/recall', { ...RECALL, bank: 'bank' }, 'bank', 'banks'],
  ['/v1/recall', { ...RECALL, reference_tim: null }, 'reference_tim', 'reference_time'],
  ['/v1/recall/explain', { ...RECALL, expect: ID, max_result: 5 }, 'max_result', 'max_results'],
  ['/v1/reflect', { ...RECALL, include_source: false }, 'include_source', 'include_sources'],
  ['/v1/forget', { bank_id: 'bank', memory_id: [ID] }, 'memory_id', 'memory_ids'],
]
await t.test('a refusal of an unknown field says which one was probably meant', async (t) => {
  const { post } = await testApp(t)
  for (const [route, body, field, name] of meant) {
    const response = await post(route, body)
    refusedFields(t, response, field)
    t.equal(response.json<Refusal>().errors[0]!.message, `is not a known field; did you mean "${name}"?`)
  }
})

const others: Array<[route: string, body: Record<string, unknown>, field: string, meant: string]> = [
  ['/v1/recall', { ...RECALL, limit: 5 }, 'limit', 'max_results'],
  ['/v1/recall', { ...RECALL, top_k: 5 }, 'top_k', 'max_results'],
  ['/v1/recall/explain', { ...RECALL, expect: ID, k: 5 }, 'k', 'max_results'],
  ['/v1/retain', { ...RETAIN, text: 'Tea.' }, 'text', 'content'],
  ['/v1/recall', { ...RECALL, text: 'tea' }, 'text', 'query'],
  ['/v1/retain', { ...RETAIN, messages: [] }, 'messages', 'content'],
  ['/v1/retain/batch', { bank_id: 'bank', items: [{ content: 'Tea.', text: 'Tea.' }] }, 'items[0].text', 'content'],
  ['/v1/reflect', { ...RECALL, user_id: 'ada' }, 'user_id', 'bank_id'],
  ['/v1/forget', { bank_id: 'bank', tags: ['a'], namespace: 'ada' }, 'namespace', 'bank_id'],
  ['/v1/recall', { query: 'tea', bankId: 'bank' }, 'bankId', 'bank_id'],
  ['/v1/retain', { ...RETAIN, valid_to: TIME }, 'valid_to', 'valid_until'],
  ['/v1/retain', { ...RETAIN, invalid_at: TIME }, 'invalid_at', 'valid_until'],
  ['/v1/retain', { ...RETAIN, created_at: TIME }, 'created_at', 'occurred_at'],
  ['/v1/retain', { ...RETAIN, timestamp: TIME }, 'timestamp', 'occurred_at'],
  [
    MESSAGES, { messages: [{ role: 'user', content: 'Tea.', occurred_at: TIME }] }, 'messages[0].occurred_at',
    'created_at',
  ],
]
await t.test('a field by the name that other services give it is answered with the name to use', async (t) => {
  const { post } = await testApp(t)
  for (const [route, body, field, name] of others) {
    const response = await post(route, body)
    refusedFields(t, response, field)
    t.equal(response.json<Refusal>().errors[0]!.message, `is not a known field; use ${name}`)
  }
})

await t.test('a day for a time is answered with the form of a time', async (t) => {
  const { post } = await testApp(t)
  refused(t, await post('/v1/retain', { ...RETAIN, occurred_at: '2026-01-05' }), 400, 'invalid_request', {
    detail: 'occurred_at: must be an RFC 3339 date-time with an offset, such as 2026-01-05T09:30:00Z',
  })
})

await t.test('query strings, configurations of banks and lines of an import have suggestions too', async (t) => {
  const { get, inject } = await testApp(t)
  const query = await get('/v1/banks/bank/memories?limt=5')
  t.equal(query.json<Refusal>().detail, 'limt: is not a known field; did you mean "limit"?')
  const config = await inject({
    method: 'PUT',
    url: '/v1/banks/bank/config',
    headers: { 'content-type': 'application/json' },
    payload: '{"homeostasis": {"recal_max_tokens": 5}}',
  })
  t.match(
    config.json<Refusal>().detail,
    /homeostasis\.recal_max_tokens: is not a known field; did you mean "recall_max_tokens"\?$/,
  )
  const lines = ['{"format": "memory-gateway-export", "version": 1}', '{"text": "Tea.", "taggs": ["a"]}']
  const imported = await inject({
    method: 'POST',
    url: '/v1/banks/bank/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: lines.join('\n'),
  })
  t.match(imported.json<Refusal>().detail, /taggs: is not a known field; did you mean "tags"\?$/)
})

await t.test('a field without a name is named as two quotation marks', async (t) => {
  const { get, inject, post } = await testApp(t)
  const detailOf = (response: { json: <T>() => T }) => response.json<Refusal>().detail
  t.equal(detailOf(await post('/v1/retain', { ...RETAIN, '': 1 })), '"": is not a known field')
  t.equal(
    detailOf(await post('/v1/retain', { ...RETAIN, metadata: { '': [] } })),
    'metadata."": must be a text, a number, true, false or null',
  )
  t.equal(detailOf(await get('/v1/banks/bank/memories?=')), '"": is not a known field')
  const patched = await inject({
    method: 'PATCH',
    url: '/v1/banks/bank/config',
    headers: { 'content-type': 'application/json' },
    payload: '{"": null}',
  })
  t.equal(detailOf(patched), '"": is not a known field')
})

await t.test('a long name in a refusal is cut between characters', async (t) => {
  const { post } = await testApp(t)
  const response = await post('/v1/retain', { ...RETAIN, [`${'x'.repeat(99)}🎉 and more`]: 1 })
  t.equal(response.json<Refusal>().detail, `${'x'.repeat(99)}…: is not a known field`)
})

await t.test('a field that resembles none is refused without a suggestion', async (t) => {
  const { post } = await testApp(t)
  for (const name of ['x', '', '__proto__', 'constructor', 'wholly different', 'q'.repeat(5000)]) {
    const response = await post('/v1/recall', JSON.parse('{"bank_id": "bank", "query": "tea", ' +
      `${JSON.stringify(name)}: 1}`))
    t.equal(response.statusCode, 400)
    t.notMatch(response.body, 'did you mean')
  }
})

await t.test('of thousands of unknown fields the first twenty are named', async (t) => {
  const { post } = await testApp(t)
  const unknown = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`quary${index}`, index]))
  const { errors } = (await post('/v1/recall', { ...RECALL, ...unknown })).json<Refusal>()
  t.strictSame(errors.map(({ field }) => field), Array.from({ length: 20 }, (_, index) => `quary${index}`))
})

await t.test('a required pattern is described in words', async (t) => {
  const { post, get, inject } = await testApp(t)
  const message = 'must be a text of letters, digits and ._:@-, at most 255 characters, the first a letter or digit'
  const refusals = [
    ['bank_id', await post('/v1/retain', { ...RETAIN, bank_id: 'no spaces' })],
    ['bank_id', await post('/v1/retain', { ...RETAIN, bank_id: '' })],
    ['banks[1]', await post('/v1/recall', { query: 'tea', banks: ['a', '-b'] })],
    ['bank_id', await get('/v1/banks/a%20b')],
    ['bank_id', await get('/v1/whoami?bank_id=a%20b')],
  ] as const
  for (const [field, response] of refusals) {
    refused(t, response, 400, 'invalid_request', { detail: `${field}: ${message}` })
  }
  const config = await inject({
    method: 'PUT',
    url: '/v1/banks/bank/config',
    headers: { 'content-type': 'application/json' },
    payload: '{"profile": "-"}',
  })
  refused(t, config, 400, 'invalid_request')
  t.match(config.json<Refusal>().detail, /profile: must be a text of letters, digits and \._-, at most 64 characters/)
})

await t.test('no refusal shows a regular expression, whatever route it is of', async (t) => {
  const { app, get } = await testApp(t)
  t.match((await get('/openapi.json')).json().components.schemas.ExplainRecallRequest.properties.bank_id, {
    pattern: /./, 'x-allowed': /^of letters/,
  })
  const bare: string[] = []
  const look = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    if ('pattern' in schema && typeof schema.pattern === 'string' && !('x-allowed' in schema)) bare.push(path)
    for (const [name, member] of Object.entries(schema)) look(member, `${path}.${name}`)
  }
  for (const { method, url, schema = {} } of app.routeTable) {
    const { body, querystring, params } = schema as Record<string, unknown>
    look({ body, querystring, params }, `${String(method)} ${url}`)
  }
  t.strictSame(bare, [])
})
