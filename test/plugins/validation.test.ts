import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { Readable } from 'node:stream'
import t from 'tap'
import { testApp } from '../helpers/app.js'
import { refused, refusedFields } from '../routes/support.js'

const { post, get, inject, retain } = await testApp(t, {
  maxBodyBytes: 5000, file: { bounds: { batch_bytes: 5000 } },
})
for (const content of ['Tea one.', 'Tea two.', 'Tea three.']) await retain('b', content)

const JSON_TYPE = { 'content-type': 'application/json' }

/** A good body for each route that takes JSON. */
const good: Record<string, Record<string, unknown>> = {
  '/v1/retain': { bank_id: 'b', content: 'x' },
  '/v1/retain/batch': { bank_id: 'b', items: [{ content: 'x' }] },
  '/v1/recall': { bank_id: 'b', query: 'tea' },
  '/v1/reflect': { bank_id: 'b', query: 'tea' },
  '/v1/forget': { bank_id: 'b', tags: ['none'] },
}

async function sendText (
  url: string, payload: string | Buffer | undefined, headers: Record<string, string> = JSON_TYPE,
) {
  return await inject({ method: 'POST', url, headers, ...(payload !== undefined && { payload }) })
}

for (const [url, body] of Object.entries(good)) {
  await t.test(url, async (t) => {
    await t.test('accepts its valid body', async (t) => {
      t.equal((await post(url, body)).statusCode, 200)
    })

    await t.test('names every unknown field', async (t) => {
      refusedFields(t, await post(url, { ...body, dryRun: true, BANK_ID: 'x' }), 'dryRun', 'BANK_ID')
    })

    await t.test('treats null for a required field as absent', async (t) => {
      for (const field of Object.keys(body)) {
        const response = await post(url, { ...body, [field]: null })
        refused(t, response, 400, 'invalid_request')
        t.match(response.json().detail, /is required|must be given/)
      }
    })

    for (const payload of ['null', '[]', '"text"', '5', 'true']) {
      await t.test(`refuses ${payload} for a body`, async (t) => {
        refused(t, await sendText(url, payload), 400, 'invalid_request', { detail: 'The body must be a JSON object' })
      })
    }

    for (const payload of ['{', '{"bank_id":"b",}', "{'bank_id':'b'}", 'bank_id=b', '{"bank_id":"b"} {}', '\u0000']) {
      await t.test(`refuses ${JSON.stringify(payload)}, which is not JSON`, async (t) => {
        refused(t, await sendText(url, payload), 400, 'invalid_json', { detail: 'Request body is not valid JSON' })
      })
    }

    await t.test('refuses an empty body', async (t) => {
      refused(t, await sendText(url, ''), 400, 'invalid_json', { detail: 'Request body is empty' })
      refused(t, await sendText(url, undefined), 400, 'invalid_json')
    })

    await t.test('refuses a request with neither body nor content type', async (t) => {
      refused(t, await sendText(url, undefined, {}), 400, 'invalid_request', {
        detail: 'The request has no body: this route takes a JSON object with Content-Type: application/json',
      })
    })

    const text = JSON.stringify(body)
    for (const type of [
      'text/plain', 'text/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x',
      'application/x-ndjson', 'application/merge-patch+json', 'application/jsonp', 'json', '*/*',
    ]) {
      await t.test(`refuses the content type ${type}`, async (t) => {
        refused(t, await sendText(url, text, { 'content-type': type }), 415, 'unsupported_media_type', {
          detail: 'Unsupported Content-Type: this route takes application/json',
        })
      })
    }

    await t.test('refuses a body without a content type', async (t) => {
      for (const headers of [{}, { 'content-type': '' }]) {
        refused(t, await sendText(url, Buffer.from(text), headers), 415, 'unsupported_media_type', {
          detail: 'Content-Type is missing: this route takes application/json',
        })
      }
    })

    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="utf-8"']) {
      await t.test(`accepts the content type ${type}`, async (t) => {
        t.equal((await sendText(url, text, { 'content-type': type })).statusCode, 200)
      })
    }

    await t.test('refuses a body that is compressed or not in UTF-8', async (t) => {
      const of = async (headers: Record<string, string>, payload: string | Buffer = text) => (
        await sendText(url, payload, { 'content-type': 'application/json', ...headers })
      )
      const compressed = 'Content-Encoding is not supported: send the body uncompressed'
      for (const payload of [text, gzipSync(text)]) {
        refused(
          t, await of({ 'content-encoding': 'gzip' }, payload), 415, 'unsupported_media_type', { detail: compressed },
        )
      }
      t.equal((await of({ 'content-encoding': 'identity' })).statusCode, 200)
      for (const charset of ['iso-8859-1', '"UTF-16"']) {
        refused(t, await of({
          'content-type': `application/json; charset=${charset}`,
        }), 415, 'unsupported_media_type', {
          detail: 'The charset of the body must be UTF-8',
        })
      }
      const latin1 = Buffer.from(text.replace(/"(?=[a-z])/, '"\u00e9'), 'latin1')
      refused(t, await of({}, latin1), 400, 'invalid_json', { detail: 'Request body is not valid UTF-8' })
    })

    const poison = [
      text.replace('{', '{"__proto__":{"admin":true},'),
      text.replace('{', '{"constructor":{"prototype":{"admin":true}},'),
      text.replace('{', '{"metadata":{"a":{"__proto__":{}}},'),
      text.replace('{', '{"metadata":{"\\u005f_proto__":"x"},'),
    ]
    for (const payload of poison) {
      await t.test(`refuses ${payload.slice(0, 50)}`, async (t) => {
        refused(t, await sendText(url, payload), 400, 'invalid_json')
        t.notOk('admin' in {})
      })
    }

    await t.test('accepts a body of exactly the limit and refuses one byte more', async (t) => {
      const padded = (bytes: number) => text + ' '.repeat(bytes - text.length)
      t.equal((await sendText(url, padded(5000))).statusCode, 200)
      refused(t, await sendText(url, padded(5001)), 413, 'body_too_large')
    })

    await t.test('counts a body that arrives in chunks without a length', async (t) => {
      const chunked = async (bytes: number) => (
        await inject({
          method: 'POST',
          url,
          headers: JSON_TYPE,
          payload: Readable.from([text, ' '.repeat(1000), ' '.repeat(bytes - text.length - 1000)]),
        })
      )
      t.equal((await chunked(5000)).statusCode, 200)
      refused(t, await chunked(5001), 413, 'body_too_large')
    })
  })
}

await t.test('the limit is 1 MiB by default', async (t) => {
  const { inject } = await testApp(t)
  const send = async (bytes: number) => (
    await inject({
      method: 'POST', url: '/v1/recall', headers: JSON_TYPE, payload: '{"bank_id":"b","query":"x"}'.padEnd(bytes),
    })
  )
  t.equal((await send(1024 * 1024)).statusCode, 200)
  refused(t, await send(1024 * 1024 + 1), 413, 'body_too_large')
})

await t.test('a numeric string is a number where a number is expected', async (t) => {
  const recall = async (more: Record<string, unknown>) => (
    (await post('/v1/recall', { bank_id: 'b', query: 'tea', ...more })).json()
  )
  t.match(await recall({ max_results: '2' }), { hits: { length: 2 } })
  t.match(await recall({ max_results: '-4' }), { hits: { length: 1 } })
  t.match(await recall({ max_results: '2.0' }), { hits: { length: 2 } })
  t.match(await recall({ max_tokens: '1' }), { truncated: true })
  t.match(await recall({ min_score: '1' }), { hits: { length: 0 }, total_available: 3 })
  t.match(await recall({ min_score: '0.0' }), { hits: { length: 3 } })
  t.equal((await post('/v1/reflect', { bank_id: 'b', query: 'tea', max_tokens: '50' })).statusCode, 200)
})

for (const field of ['max_results', 'max_tokens', 'min_score']) {
  for (const value of [
    '', ' ', 'five', '1e2', '0x10', ' 5', '5 ', '1,5', '.5', '--1', '+1', 'NaN', 'Infinity', '٣', true, [1], {},
  ]) {
    await t.test(`${JSON.stringify(value)} is no number for ${field}`, async (t) => {
      refusedFields(t, await post('/v1/recall', { bank_id: 'b', query: 'tea', [field]: value }), field)
    })
  }
}

const uncoerced: Array<[url: string, field: string, value: unknown]> = [
  ['/v1/retain', 'content', 5], ['/v1/retain', 'content', true], ['/v1/retain', 'bank_id', 5],
  ['/v1/retain', 'document_id', 5],
  ['/v1/retain', 'tags', 'a'], ['/v1/retain', 'tags', { 0: 'a' }], ['/v1/retain', 'metadata', 'a=b'],
  ['/v1/retain', 'occurred_at', 0],
  ['/v1/recall', 'query', 5], ['/v1/recall', 'explain', 'true'], ['/v1/recall', 'explain', 1],
  ['/v1/recall', 'banks', 'b'],
  ['/v1/reflect', 'include_sources', 'false'], ['/v1/reflect', 'include_sources', 0],
  ['/v1/forget', 'dry_run', 'true'], ['/v1/forget', 'dry_run', 1], ['/v1/forget', 'memory_ids', 'x'],
  ['/v1/forget', 'scope', ['all']],
  ['/v1/retain/batch', 'items', { content: 'x' }], ['/v1/retain/batch', 'items', '[]'],
]
for (const [url, field, value] of uncoerced) {
  await t.test(`${url} does not convert ${field} ${JSON.stringify(value)}`, async (t) => {
    refusedFields(t, await post(url, { ...good[url], [field]: value }), field)
  })
}

await t.test('text that looks like a number stays text in content, tags and metadata', async (t) => {
  const id = await retain('numbers', '17', { tags: ['1'], metadata: { a: '5', b: 5, c: 'true', d: true } })
  t.match((await get(`/v1/banks/numbers/memories/${id}`)).json(), {
    text: '17', tags: ['1'], metadata: { a: '5', b: 5, c: 'true', d: true },
  })
})

await t.test('null within a list is not an absent field', async (t) => {
  refusedFields(t, await post('/v1/retain', { bank_id: 'b', content: 'x', tags: [null] }), 'tags[0]')
  refusedFields(t, await post('/v1/retain/batch', { bank_id: 'b', items: [null] }), 'items[0]')
})

await t.test('query strings, which are all text, are converted', async (t) => {
  t.equal((await get('/v1/banks/b/memories?limit=2')).json().memories.length, 2)
  t.equal((await get('/v1/banks/b/memories?tags=none')).json().memories.length, 0)
})

for (const url of [
  '/v1/banks', '/v1/banks/b', '/v1/banks/b/stats', '/v1/banks/b/memories', '/v1/banks/b/export', '/v1/whoami',
  '/v1/admin/sources', '/v1/admin/banks', '/v1/admin/banks/b',
]) {
  await t.test(`an unknown parameter of ${url} is named`, async (t) => {
    refusedFields(t, await get(`${url}?surprise=1`), 'surprise')
    refusedFields(t, await get(`${url}?__proto__=1`), '__proto__')
  })
}

await t.test('a member of a body that is sent in the query string is named, and not ignored', async (t) => {
  refusedFields(t, await post('/v1/recall?max_results=3', { bank_id: 'b', query: 'tea' }), 'max_results')
})

await t.test('a number in the query string is in decimal digits', async (t) => {
  for (const value of ['0x2', '0b1', '0o7', '1e2', '2.0', '%2B2', '%202', '2%0a', '2_0', '1e999', '%D9%A2']) {
    for (const [path, name] of [
      ['/v1/banks', 'limit'], ['/v1/banks/b/memories', 'limit'], ['/v1/banks/b/memories', 'offset'],
      ['/v1/banks/b/growth', 'days'], ['/v1/access', 'limit'], ['/v1/admin/access', 'limit'],
    ] as const) {
      const [response, other] = [await get(`${path}?${name}=${value}`), await get(`${path}?${name}=many`)]
      refusedFields(t, response, name)
      t.same(response.json().errors, other.json().errors, `${path}?${name}=${value}`)
    }
  }
  t.match((await get('/v1/banks/b/memories?offset=1e2&limit=x&page=1')).json().errors, [
    { field: 'page' }, { field: 'limit' }, { field: 'offset', message: 'must be an integer from 0 to 100000' },
  ])
  t.match((await get('/v1/banks?limit=0x2')).json().errors, [{ field: 'limit', message: 'must be an integer' }])
  for (const text of ['2', '02', '-2']) t.equal((await get(`/v1/banks?limit=${text}`)).statusCode, 200, text)
})

await t.test('a long name of an unknown field is not repeated completely', async (t) => {
  const response = await post('/v1/recall', { bank_id: 'b', query: 'tea', ['x'.repeat(600)]: 1 })
  t.equal(response.statusCode, 400)
  t.ok(response.body.length < 500, response.body.slice(0, 200))
})

await t.test('a route without a body accepts an empty one with a content type, and no other', async (t) => {
  const app = await testApp(t)
  const ask = async (payload: string) => (
    await app.inject({
      method: 'DELETE', url: '/v1/banks/home', headers: { 'content-type': 'application/json' }, payload,
    })
  )
  t.equal((await ask('')).statusCode, 200)
  t.equal((await ask('{')).statusCode, 400)
  t.equal(
    (await app.inject({
      method: 'POST', url: '/v1/recall', headers: { 'content-type': 'application/json' }, payload: '',
    })).statusCode,
    400,
  )
})

await t.test('a member of a body that the route does not take is named, and nothing is done', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'Stays.')
  const remove = async (payload: unknown) => await app.inject({
    method: 'DELETE', url: '/v1/banks/home', headers: JSON_TYPE, payload: JSON.stringify(payload),
  })
  refusedFields(t, await remove({ dry_run: true, tags: ['old'] }), 'dry_run', 'tags')
  for (const body of [[], ['x'], 'x', 5, true]) {
    refused(t, await remove(body), 400, 'invalid_request', { detail: 'The body must be a JSON object' })
  }
  refusedFields(t, await app.post('/v1/admin/reload', { dry_run: true }), 'dry_run')
  t.equal((await app.get('/v1/banks/home')).json().memory_count, 1)
  // Some clients send these with every request.
  for (const body of [{}, null]) t.equal((await remove(body)).statusCode, 200)
})

await t.test('a GET or HEAD request with a body is refused, because nothing would read it', async (t) => {
  for (const url of ['/v1/banks', '/v1/banks/b', '/v1/banks/b/memories', '/v1/whoami']) {
    for (const headers of [JSON_TYPE, { 'content-type': 'text/plain' }, {}]) {
      refused(t, await inject({ method: 'GET', url, headers, payload: '{"limit":1}' }), 400, 'invalid_request', {
        detail: 'A GET request has no body: send parameters in the query string',
      })
    }
    t.equal((await inject({ method: 'HEAD', url, payload: '{"limit":1}' })).statusCode, 400)
    for (const payload of ['', '{}', 'null']) {
      t.equal((await inject({ method: 'GET', url, headers: JSON_TYPE, payload })).statusCode, 200)
    }
  }
  const { app } = await testApp(t)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const status = await new Promise((resolve, reject) => {
    const headers = { 'transfer-encoding': 'chunked', connection: 'close' }
    request(`${origin}/v1/banks`, { headers }, (response) => { resolve(response.resume().statusCode) })
      .on('error', reject).end('{"limit":1}')
  })
  t.equal(status, 400)
})

await t.test('lengths count characters, and not UTF-16 units', async (t) => {
  for (const character of ['a', '\u00e4', '\u{1f600}', '\ud800']) {
    const named = (count: number) => ({ bank_id: 'lengths', query: 'tea', tags: [character.repeat(count)] })
    t.equal((await post('/v1/recall', named(1))).statusCode, 200)
    t.equal((await post('/v1/recall', named(128))).statusCode, 200)
    refusedFields(t, await post('/v1/recall', named(129)), 'tags[0]')
    t.match((await post('/v1/recall', named(300))).json().errors, [
      { field: 'tags[0]', message: 'must be a text of 1 to 128 characters' },
    ])
  }
  t.match((await post('/v1/recall', { bank_id: 'lengths', query: '' })).json().errors, [
    { field: 'query', message: 'must be a text of 1 to 8192 characters' },
  ])
})
