import t, { type Test } from 'tap'
import { testApp } from '../helpers/app.js'
import type { TestConfig } from '../helpers/config.js'
import { refused, refusedFields } from './support.js'
import { memoryOf, openSource, send, sendJson, signedSource } from './webhooks.js'

const app = await testApp(t, {
  maxBodyBytes: 100_000,
  file: {
    sources: {
      open: openSource(),
      deep: openSource({ content_path: '/issue/body/0' }),
      escaped: openSource({ content_path: '/a~1b/m~0n' }),
    },
  },
})

await t.test('an event becomes a memory of the target bank, and the answer is that of a retain', async (t) => {
  const response = await sendJson(app, 'open', { content: 'Order 17 was shipped.' })
  const { memory_id: id, ...rest } = response.json()
  t.same(rest, { stored: true, chunk_count: 1, deduplicated: false, bank_id: 'inbox', trust: 'untrusted' })
  t.match(await memoryOf(app, response), {
    memory_id: id, text: 'Order 17 was shipped.', tags: { length: 0 }, metadata: {}, occurred_at: null,
  })
  t.match((await sendJson(app, 'open', { content: 'Order 17 was shipped.' })).json(), {
    stored: false, deduplicated: true, memory_id: id,
  })
})

const contents: Array<[what: string, source: string, event: unknown, text: string]> = [
  ['/content', 'open', { content: 'from content' }, 'from content'],
  ['/text when there is no content', 'open', { text: 'from text' }, 'from text'],
  ['/text when the content is null', 'open', { content: null, text: 'beside null' }, 'beside null'],
  ['/content when there are both', 'open', { text: 'not me', content: 'the content of both' }, 'the content of both'],
  [
    'its content_path, through lists too', 'deep', { issue: { body: ['from the depth'] }, content: 'not me' },
    'from the depth',
  ],
  ['its content_path with escapes', 'escaped', { 'a/b': { 'm~n': 'from escapes' } }, 'from escapes'],
]
for (const [what, source, event, text] of contents) {
  await t.test(`the content is taken from ${what}`, async (t) => {
    t.match(await memoryOf(app, await sendJson(app, source, event)), { text })
  })
}

await t.test('metadata, tags and occurred_at are taken, and nothing else', async (t) => {
  const response = await sendJson(app, 'open', {
    content: 'With extras.',
    metadata: { order: 17, none: null },
    tags: ['shop'],
    occurred_at: '2025-12-24T18:00:00+01:00',
    bank_id: 'elsewhere',
    document_id: 'doc',
    source: 'forged',
    expires_at: '2020-01-01T00:00:00Z',
    principal: 'user:root',
    unknown: { deeply: ['nested'] },
  })
  t.match(await memoryOf(app, response), {
    bank_id: 'inbox',
    text: 'With extras.',
    metadata: { order: 17, none: null },
    tags: ['shop'],
    occurred_at: '2025-12-24T17:00:00.000Z',
    document_id: null,
    source: null,
    expires_at: null,
  })
})

await t.test('null counts as an absent optional field', async (t) => {
  t.match(
    await memoryOf(
      app, await sendJson(app, 'open', { content: 'Null extras.', metadata: null, tags: null, occurred_at: null }),
    ),
    { tags: { length: 0 }, metadata: {} },
  )
})

await t.test('query parameters of the sender are ignored', async (t) => {
  const response = await app.inject({
    method: 'POST', url: '/v1/ingest/webhook/open?delivery=1&delivery=2&x', payload: { content: 'With a query.' },
  })
  t.match(await memoryOf(app, response), { text: 'With a query.' })
})

const wrong: Array<[what: string, source: string, field: string, event: unknown]> = [
  ['no content', 'open', '/content', { metadata: {} }],
  ['content that is no text', 'open', '/content', { content: 5 }],
  ['content that is null', 'open', '/content', { content: null }],
  ['blank content', 'open', 'content', { content: ' ' }],
  ['content that is too long', 'open', 'content', { content: 'a'.repeat(50_001) }],
  ['nothing at its content_path', 'deep', '/issue/body/0', { content: 'not me', issue: { body: [] } }],
  ['a list for an event', 'open', '/content', ['content']],
  ['a text for an event', 'open', '/content', 'content'],
  ['null for an event', 'open', '/content', null],
  ['nested metadata', 'open', 'metadata.a', { content: 'x', metadata: { a: {} } }],
  ['too much metadata', 'open', 'metadata', { content: 'x', metadata: { k: 'v'.repeat(5000) } }],
  ['an empty list of tags', 'open', 'tags', { content: 'x', tags: [] }],
  ['an instant without an offset', 'open', 'occurred_at', { content: 'x', occurred_at: '2025-01-01T00:00:00' }],
]
for (const [what, source, field, event] of wrong) {
  await t.test(`an event with ${what} is 400`, async (t) => {
    refusedFields(t, await sendJson(app, source, event), field)
  })
}

await t.test('a body that is not JSON, or contains __proto__, is 400', async (t) => {
  for (const body of ['{"content": "x"', 'content=x', '', '{"content":"x","__proto__":{"a":1}}']) {
    refused(t, await send(app, 'open', body), 400, 'invalid_json')
  }
})

await t.test('another content type is 415, and JSON with a charset is accepted', async (t) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/x-ndjson', 'nonsense']) {
    refused(
      t, await send(app, 'open', '{"content":"x"}', { 'content-type': type }), 415, 'unsupported_media_type',
      { detail: 'Unsupported Content-Type: this route takes application/json' },
    )
  }
  t.equal(
    (await send(app, 'open', '{"content":"charset"}', {
      'content-type': 'application/json; charset=utf-8',
    })).statusCode,
    200,
  )
})

await t.test('a body over the limit is 413', async (t) => {
  refused(t, await sendJson(app, 'open', { content: 'x', padding: 'p'.repeat(100_000) }), 413, 'body_too_large')
})

await t.test('other methods are 405', async (t) => {
  const response = await app.get('/v1/ingest/webhook/open')
  refused(t, response, 405, 'method_not_allowed')
  t.equal(response.headers.allow, 'POST')
})

const modes: Record<string, TestConfig['auth']> = {
  api_key: { mode: 'api_key', apiKey: 'k' },
  jwt_hs256: { mode: 'jwt_hs256', jwtSecret: 'a secret of more than thirty-two bytes' },
  'api_key without its key': { mode: 'api_key' },
}
for (const [what, auth] of Object.entries(modes)) {
  await t.test(`the auth mode does not matter: ${what}`, async (t) => {
    const other = await testApp(t, { auth: auth!, adminToken: 'admin', file: { sources: { open: openSource() } } })
    t.equal((await sendJson(other, 'open', { content: 'x' })).statusCode, 200)
  })
}

await t.test('access control applies to a source as to any caller', async (t) => {
  const file = (principal: string): TestConfig => ({
    file: {
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: [{ bank_id: 'inbox', principal, permissions: ['write'] }],
      sources: { shop: openSource(), crm: openSource({ principal: 'agent:crm' }) },
    },
  })
  const statuses = async (t: Test, config: TestConfig) => {
    const other = await testApp(t, config)
    return [await sendJson(other, 'shop', { content: 'x' }), await sendJson(other, 'crm', { content: 'y' })]
  }
  const [shop, crm] = await statuses(t, file('nobody:x')) as [
    Awaited<ReturnType<typeof sendJson>>, Awaited<ReturnType<typeof sendJson>>,
  ]
  refused(t, shop, 403, 'access_denied', { detail: "Principal 'service:shop' is denied 'write' on bank 'inbox'" })
  refused(t, crm, 403, 'access_denied', { detail: "Principal 'agent:crm' is denied 'write' on bank 'inbox'" })
  t.same((await statuses(t, file('service:shop'))).map((response) => response.statusCode), [200, 403])
  t.same((await statuses(t, file('agent:crm'))).map((response) => response.statusCode), [403, 200])
})

await t.test('the rate limits and barriers of its bank apply to a source, by its own principal', async (t) => {
  const other = await testApp(t, {
    file: {
      homeostasis: { rate_limits: { retain_per_minute: 1 } },
      barriers: { metadata: { blocked_keys: ['card'] } },
      sources: { shop: openSource(), crm: openSource() },
    },
  })
  t.match((await sendJson(other, 'shop', { content: 'x', metadata: { card: '4111' } })).json(), {
    stored: true, redactions: ['metadata.card'],
  })
  const response = await sendJson(other, 'shop', { content: 'y' })
  refused(t, response, 429, 'rate_limited', { retry_after_seconds: 60 })
  t.equal(response.headers['retry-after'], '60')
  t.equal((await sendJson(other, 'crm', { content: 'y' })).statusCode, 200)
})

await t.test('a signed source ignores the headers of callers', async (t) => {
  const other = await testApp(t, { file: { sources: { signed: signedSource() } } })
  refused(
    t,
    await send(other, 'signed', '{"content":"x"}', { 'x-service-principal': 'service:signed', 'x-admin-token': 'x' }),
    401, 'unauthenticated',
  )
})
