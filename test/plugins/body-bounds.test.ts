import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { head, listening } from '../helpers/byte-by-byte.js'
import { until } from '../helpers/waiting.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from '../routes/support.js'
import { openSource, send } from '../routes/webhooks.js'

const JSON_TYPE = { 'content-type': 'application/json' }
const MIB = 1_048_576

async function sendText ({ inject }: TestApp, url: string, payload: string, headers: Record<string, string> = {}) {
  return await inject({ method: 'POST', url, headers: { ...JSON_TYPE, ...headers }, payload })
}

await t.test('a body with too many levels or values is refused with the bound before validation', async (t) => {
  const app = await testApp(t, { file: { bounds: { json_depth: 5, json_values: 100, array_elements: 10 } } })
  const deep = (levels: number) => (
    '{"bank_id":"b","query":"x","metadata":' + '['.repeat(levels - 1) + ']'.repeat(levels - 1) + '}'
  )
  refusedFields(t, await sendText(app, '/v1/recall', deep(5)), 'metadata')
  refused(t, await sendText(app, '/v1/recall', deep(6)), 413, 'body_too_large', {
    detail: 'Request body is nested deeper than 5 levels (bounds.json_depth)',
  })
  refusedFields(t, await sendText(app, '/v1/recall', `{"a":[${'1,'.repeat(9)}1]}`), 'query', 'a')
  refused(t, await sendText(app, '/v1/recall', `{"a":[${'1,'.repeat(10)}1]}`), 413, 'body_too_large', {
    detail: /bounds\.array_elements/,
  })
  refused(
    t, await sendText(app, '/v1/recall', `{"a":[${'[1,2,3,4,5,6,7,8,9],'.repeat(9)}[1,2,3,4,5,6,7,8,9]]}`), 413,
    'body_too_large', { detail: /bounds\.json_values/ },
  )
  refused(t, await sendText(app, '/v1/recall', '['.repeat(1000)), 413, 'body_too_large')
})

await t.test('an event of a webhook is refused likewise, and its first fault ends the search', async (t) => {
  const app = await testApp(t, { file: { bounds: { array_elements: 6000 }, sources: { shop: openSource() } } })
  refused(
    t, await send(app, 'shop', JSON.stringify({ content: 'x', tags: Array(6001).fill(1) })), 413, 'body_too_large',
    { detail: /bounds\.array_elements/ },
  )
  refusedFields(t, await send(app, 'shop', JSON.stringify({ content: 'x', tags: Array(6000).fill(1) })), 'tags')
  refusedFields(t, await send(app, 'shop', '{"content":"x","metadata":{"n":1e999}}'), 'metadata.n')
})

await t.test('each route has its own limit, and the error contains it', async (t) => {
  const app = await testApp(t, { file: { bounds: { batch_bytes: 2000, import_bytes: 3000 } } })
  const big = (bytes: number) => JSON.stringify({ bank_id: 'b', items: [{ content: 'x' }] }).padEnd(bytes)
  t.equal((await sendText(app, '/v1/retain/batch', big(2000))).statusCode, 200)
  refused(t, await sendText(app, '/v1/retain/batch', big(2001)), 413, 'body_too_large', {
    detail: 'Request body is too large: more than 2000 bytes (bounds.batch_bytes)',
  })
  t.equal(
    (await sendText(app, '/v1/retain', JSON.stringify({ bank_id: 'b', content: 'x' }).padEnd(5000))).statusCode, 200,
  )
  const config = await app.inject({
    method: 'PUT', url: '/v1/banks/b/config', headers: { 'content-type': 'application/json' }, payload: big(262_145),
  })
  refused(t, config, 413, 'body_too_large', { detail: 'Request body is too large: more than 262144 bytes' })
  const ndjson = async (bytes: number) => (
    await app.inject({
      method: 'POST',
      url: '/v1/banks/b/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: '{"format":"memory-gateway-export","version":1}\n'.padEnd(bytes),
    })
  )
  t.equal((await ndjson(3000)).statusCode, 200)
  refused(t, await ndjson(3001), 413, 'body_too_large', { detail: /bounds\.import_bytes/ })
})

await t.test('an import may be longer than other bodies', async (t) => {
  const app = await testApp(t, { maxBodyBytes: 2000, file: { bounds: { import_bytes: 10_000 } } })
  const response = await app.inject({
    method: 'POST',
    url: '/v1/banks/b/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: '{"format":"memory-gateway-export","version":1}\n'.padEnd(9000),
  })
  t.equal(response.statusCode, 200)
})

await t.test('a caller without the permission gets 403, whatever the elements are', async (t) => {
  const app = await testApp(t, { file: ONE_PERMISSION_EACH })
  const items = Array.from({ length: 1000 }, () => ({ content: 5 }))
  refused(t, await app.post('/v1/retain/batch', { bank_id: 'team', items }, as('user:read')), 403, 'access_denied')
  refused(
    t, await app.post('/v1/retain', { bank_id: 'team', content: 5, tags: 'x' }, as('user:read')), 403, 'access_denied',
  )
  refused(
    t, await app.post('/v1/recall', { banks: ['team-a', 'other'], query: 5 }, as('user:read')), 403, 'access_denied',
    { detail: /'other'/ },
  )
  refused(
    t, await app.post('/v1/forget', { bank_id: 'team', scope: 'all', tags: 5 }, as('user:forget')), 403,
    'access_denied', { detail: /'admin'/ },
  )
  refusedFields(t, await app.post('/v1/forget', { bank_id: 'team', tags: 5 }, as('user:forget')), 'tags')
  refusedFields(
    t, await app.post('/v1/retain/batch', { bank_id: 'team', items: items.slice(0, 2) }, as('user:write')),
    'items[0].content', 'items[1].content',
  )
})

await t.test('an invalid envelope is refused before access is decided', async (t) => {
  const app = await testApp(t, { file: ONE_PERMISSION_EACH })
  refusedFields(t, await app.post('/v1/retain', { bank_id: 'a b', content: 'x' }, as('user:read')), 'bank_id')
  refusedFields(
    t, await app.post('/v1/recall', { banks: Array(65).fill('team'), query: 'x' }, as('user:read')), 'banks',
  )
  refusedFields(
    t, await app.post('/v1/retain/batch', { bank_id: 'other', items: Array(5001).fill({}) }, as('user:read')), 'items',
  )
  refused(t, await app.post('/v1/recall', { query: 'x' }, as('user:read')), 400, 'invalid_request')
  refused(
    t, await app.post('/v1/recall', { bank_id: 'other', banks: ['other'], query: 'x' }, as('user:read')), 400,
    'invalid_request',
  )
})

await t.test('where the bank is in the path, access is decided before the body is read', async (t) => {
  const app = await testApp(t, { file: ONE_PERMISSION_EACH })
  for (const [method, url] of [
    ['POST', '/v1/banks/team/import'], ['PUT', '/v1/banks/team/config'], ['PATCH', '/v1/banks/team/config'],
  ] as const) {
    refused(
      t,
      await app.inject({
        method, url, headers: { ...as('user:read'), 'content-type': 'application/nonsense' }, payload: '{',
      }),
      403, 'access_denied',
    )
    refused(
      t,
      await app.inject({
        method, url, headers: { ...as('user:admin'), 'content-type': 'application/nonsense' }, payload: '{',
      }),
      415, 'unsupported_media_type',
    )
  }
  refused(t, await app.get('/v1/banks/a%20b/stats', as('user:read')), 400, 'invalid_request')
})

await t.test('a grant of the bank itself opens it as well', async (t) => {
  const app = await testApp(t, { file: ONE_PERMISSION_EACH })
  const granted = await app.inject({
    method: 'PUT',
    url: '/v1/banks/team/config',
    headers: as('user:admin'),
    payload: { access: [{ principal: 'user:guest', permissions: ['read'] }] },
  })
  t.equal(granted.statusCode, 200)
  t.equal((await app.post('/v1/recall', { bank_id: 'team', query: 'x' }, as('user:guest'))).statusCode, 200)
  t.equal((await app.get('/v1/banks/team/stats', as('user:guest'))).statusCode, 200)
  refused(t, await app.post('/v1/retain', { bank_id: 'team', content: 5 }, as('user:guest')), 403, 'access_denied')
})

await t.test('for a body with many values only the first fault is reported', async (t) => {
  const app = await testApp(t)
  const items = Array.from({ length: 1000 }, () => ({ content: 'x', tags: Array(10).fill(5) }))
  refusedFields(t, await app.post('/v1/retain/batch', { bank_id: 'b', items }), 'items[0].tags[0]')
  refusedFields(t, await app.post('/v1/recall', { bank_id: 'b', query: 5, tags: Array(6000).fill(5) }), 'query')
  refusedFields(t, await app.post('/v1/recall', { bank_id: 'b', query: 'x', tags: Array(6000).fill(5) }), 'tags')
})

await t.test('numbers must be finite everywhere', async (t) => {
  const app = await testApp(t)
  const huge = ['1e999', '-1e999', `"${'9'.repeat(400)}"`, `"${'9'.repeat(5000)}"`]
  for (const number of huge) {
    for (const field of ['max_results', 'max_tokens', 'min_score']) {
      refusedFields(t, await sendText(app, '/v1/recall', `{"bank_id":"b","query":"x","${field}":${number}}`), field)
    }
  }
  for (const number of ['1e999', '-1e999']) {
    refusedFields(
      t, await sendText(app, '/v1/retain', `{"bank_id":"b","content":"x","metadata":{"n":${number}}}`), 'metadata.n',
    )
    refusedFields(
      t,
      await sendText(app, '/v1/retain/batch', `{"bank_id":"b","items":[{"content":"x","metadata":{"n":${number}}}]}`),
      'items[0].metadata.n',
    )
    refusedFields(t, await app.get(`/v1/banks/b/memories?limit=${number}`), 'limit')
    for (const method of ['PUT', 'PATCH'] as const) {
      const response = await app.inject({
        method,
        url: '/v1/banks/b/config',
        headers: JSON_TYPE,
        payload: `{"homeostasis":{"recall_max_tokens":${number}}}`,
      })
      refusedFields(t, response, 'homeostasis.recall_max_tokens')
    }
    for (const schema of [
      `{"type":"object","properties":{"a":{"enum":[1,${number}]}}}`,
      `{"type":"object","properties":{"a":{"const":${number}}}}`, `{"type":"object","default":{"a":${number}}}`,
      `{"type":"object","properties":{"a":{"maximum":${number}}}}`,
    ]) {
      const response = await sendText(app, '/v1/reflect', `{"bank_id":"b","query":"x","response_schema":${schema}}`)
      refused(t, response, 400, 'invalid_request', { detail: /^response_schema/ })
    }
    const line = await app.inject({
      method: 'POST',
      url: '/v1/banks/b/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: `{"format":"memory-gateway-export","version":1}\n{"text":"x","metadata":{"n":${number}}}`,
    })
    refusedFields(t, line, 'line 2: metadata.n')
  }
})

await t.test('an instant with a very long fraction is refused', async (t) => {
  const app = await testApp(t)
  t.equal(
    (await app.post('/v1/retain', {
      bank_id: 'b', content: 'x', occurred_at: `2025-01-01T00:00:00.${'1'.repeat(20)}Z`,
    })).statusCode,
    200,
  )
  refusedFields(
    t,
    await app.post('/v1/retain', {
      bank_id: 'b', content: 'x', occurred_at: `2025-01-01T00:00:00.${'1'.repeat(100_000)}Z`,
    }),
    'occurred_at',
  )
})

await t.test('a client that is refused in the middle of its body gets the answer', async (t) => {
  const { open } = await listening(t, { maxBodyBytes: MIB })
  for (const headers of [`Content-Length: ${4 * MIB}`, 'Transfer-Encoding: chunked']) {
    const { socket } = await open()
    let text = ''
    socket.on('data', (data) => { text += data.toString() })
    socket.write(head('/v1/recall', headers))
    const piece = Buffer.alloc(65_536, ' ')
    for (let sent = 0; sent < 4 * MIB && socket.writable; sent += piece.length) {
      socket.write(
        headers.startsWith('T') ? Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]) : piece,
      )
    }
    await until(() => text.includes('request_id'))
    t.match(text, /^HTTP\/1\.1 413 [^]*"code":"body_too_large"/, headers)
  }
})

await t.test('a client that sends its whole body before it reads gets the refusal', async (t) => {
  const app = await testApp(t, { maxBodyBytes: MIB })
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write(head('/v1/recall', `Content-Length: ${8 * MIB}\r\nConnection: close`))
  for (let piece = 0; piece < 128; piece++) {
    await new Promise<void>((resolve, reject) => {
      socket.write(Buffer.alloc(65_536, ' '), (error) => { if (error) reject(error); else resolve() })
    })
  }
  const answer = Buffer.concat(await socket.toArray() as Buffer[]).toString()
  t.match(answer, /^HTTP\/1\.1 413 [^]*"code":"body_too_large"/)
})

await t.test('a body that arrives in many small chunks is read unchanged', async (t) => {
  const app = await testApp(t)
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.app.server.address() as AddressInfo
  const body = Buffer.from(JSON.stringify({ bank_id: 'home', content: 'café '.repeat(3000), tags: ['small'] }))
  for (const sizes of [[1], [4095, 1, 5000, 2], [20_000, 1]]) {
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ' +
      'application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (let at = 0, turn = 0; at < body.length; turn++) {
      const chunk = body.subarray(at, at + sizes[turn % sizes.length]!)
      socket.write(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]))
      at += chunk.length
    }
    socket.write('0\r\n\r\n')
    const answer = Buffer.concat(await socket.toArray() as Buffer[]).toString()
    t.match(answer, /^HTTP\/1\.1 200 /, `${sizes.join(', ')} bytes at a time`)
    socket.destroy()
  }
  t.match((await app.get('/v1/banks/home')).json(), { memory_count: 1 })
})
