import t from 'tap'
import { Server } from '@modelcontextprotocol/server'
import { MAX_MESSAGE_VALUES, McpHttp } from '../../mcp/http.js'
import { testApp } from '../helpers/app.js'
import { answerOf, MCP_HEADERS, rpc, toolCall } from '../helpers/mcp.js'

/** What a request of the revision 2026-07-28 says in its parameters. */
const META = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

t.test('there are no streams and no sessions', async (t) => {
  const { inject, post } = await testApp(t)
  for (const method of ['GET', 'DELETE'] as const) {
    const response = await inject({ method, url: '/mcp', headers: { accept: 'text/event-stream' } })
    t.equal(response.statusCode, 405)
    t.equal(response.headers['allow'], 'POST')
  }
  const opened = await post(
    '/mcp',
    rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }),
    MCP_HEADERS,
  )
  t.match(opened.json(), { result: { protocolVersion: '2025-11-25', serverInfo: { name: 'memory-gateway' } } })
  t.equal(opened.headers['mcp-session-id'], undefined)
  t.match(opened.headers['content-type'], /^application\/json/)
  const listening = await post(
    '/mcp', rpc('subscriptions/listen', { notifications: {} }),
    { ...MCP_HEADERS, 'mcp-protocol-version': '2026-07-28' },
  )
  t.match(listening.json(), { id: 1, error: { code: -32601 } })
})

t.test('older revisions are supported, and unknown ones are refused', async (t) => {
  const { post } = await testApp(t)
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const answer = await post(
      '/mcp',
      rpc('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 't', version: '1' } }),
      { ...MCP_HEADERS, 'mcp-protocol-version': version },
    )
    t.equal(answer.json().result.protocolVersion, version)
  }
  const unknown = await post('/mcp', rpc('tools/list'), { ...MCP_HEADERS, 'mcp-protocol-version': '1999-01-01' })
  t.equal(unknown.statusCode, 400)
  t.match(unknown.json(), { jsonrpc: '2.0', error: { code: Number } })
})

t.test('a notification is accepted without an answer', async (t) => {
  const { post } = await testApp(t)
  const response = await post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, MCP_HEADERS)
  t.equal(response.statusCode, 202)
  t.equal(response.body, '')
})

t.test('a batch is answered within its bounds', async (t) => {
  const { post } = await testApp(t, { file: { mcp: { batch_messages: 3 } } })
  const headers = { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' }
  const retain = (index: number) => toolCall('retain', { bank_id: 'b', content: `fact ${index}` }, index)
  const answers = (await post('/mcp', [1, 2, 3].map(retain), headers)).json<Array<{ id: number, result: unknown }>>()
  t.same(answers.map(({ id }) => id).sort(), [1, 2, 3])
  for (const { result } of answers) t.match(answerOf(result), { stored: true })

  const notified = { jsonrpc: '2.0', method: 'notifications/initialized' }
  for (const batch of [
    [rpc('ping')], [rpc('ping'), notified], [notified, rpc('no/such')], [rpc('ping', {}, 1), rpc('ping', {}, 2)],
  ]) {
    const answered = await post('/mcp', batch, headers)
    t.equal(answered.statusCode, 200)
    t.match(answered.json(), [{ jsonrpc: '2.0', id: 1 }])
    t.ok(Array.isArray(answered.json()))
  }
  t.equal((await post('/mcp', [notified], headers)).body, '')
  for (const wrong of [[], [7], [rpc('ping'), 7]]) {
    t.match((await post('/mcp', wrong, headers)).json(), { id: null, error: { code: -32600 } })
  }
  const modern = await post('/mcp', [rpc('ping', META)], { ...MCP_HEADERS, 'mcp-protocol-version': '2026-07-28' })
  t.equal(modern.statusCode, 400)
  t.match(modern.json(), { id: null, error: { code: -32600 } })

  const long = await post('/mcp', [1, 2, 3, 4].map(retain), headers)
  t.equal(long.statusCode, 400)
  t.match(long.json(), {
    id: null, error: { code: -32600, message: /mcp\.batch_messages/, data: { code: 'invalid_request' } },
  })
  const keyed = await post('/mcp', [retain(1)], { ...headers, 'idempotency-key': 'k' })
  t.match(keyed.json(), { error: { code: -32600, message: /Idempotency-Key/ } })
})

t.test('a batch that cancels its own requests is answered', async (t) => {
  const { post } = await testApp(t)
  const headers = { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' }
  const recall = (id: number | string) => toolCall('recall', { bank_id: 'b', query: 'x' }, id)
  const cancel = (requestId: number | string) => ({
    jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId },
  })
  for (const batch of [[recall(1), cancel(1)], [cancel(1), recall(1)]]) {
    t.match((await post('/mcp', batch, headers)).json(), [{ id: 1, result: { structuredContent: { memories: [] } } }])
  }
  const two = await post('/mcp', [recall(1), recall('a'), cancel('a')], headers)
  t.match(two.json(), [{ id: 1, result: {} }, { id: 'a', result: {} }])
  for (const body of [cancel(1), [cancel(1)], [cancel(1), cancel(2)]]) {
    t.equal((await post('/mcp', body, headers)).statusCode, 202)
  }
  t.equal((await post('/mcp', [], headers)).statusCode, 400)
})

t.test('messages of a batch that are invalid or responses delay no answer', async (t) => {
  const { post } = await testApp(t)
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
  for (const [batch, status] of [
    [[ping(1), ping('1'), ping(2)], 200],
    [[ping(1), { jsonrpc: '2.0', id: 1, result: {} }], 200],
    [[ping(1), { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }], 200],
    [[ping(1), { jsonrpc: '2.0', method: 'notifications/unknown' }], 200],
    [[ping(1), ping(null)], 400],
    [[ping(1), ping(1.5)], 400],
    [[ping(1), {}], 400],
    [[ping(1), [ping(2)]], 400],
  ] as const) {
    t.equal(
      (await post('/mcp', batch, { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' })).statusCode, status,
      JSON.stringify(batch),
    )
  }
})

t.test('a batch in which two requests have one id is refused', async (t) => {
  const { post } = await testApp(t)
  const headers = { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' }
  const retain = (id: unknown) => ({ ...toolCall('retain', { bank_id: 'b', content: 'one fact' }), id })
  const recall = (id: unknown) => ({ ...toolCall('recall', { bank_id: 'b', query: 'fact' }), id })
  for (const [batch, id] of [
    [[retain(1), recall(1)], '1'],
    [[retain('a'), retain(1), recall('a')], '"a"'],
  ] as const) {
    const response = await post('/mcp', batch, headers)
    t.equal(response.statusCode, 400)
    t.match(response.json(), {
      id: null,
      error: {
        code: -32600, message: `Two requests of the batch have the id ${id}`, data: { code: 'invalid_request' },
      },
    })
  }
  t.match((await post('/mcp', [recall(1), recall('1')], headers)).json(), [
    { id: 1, result: { structuredContent: { memories: [] } } },
    { id: '1', result: { structuredContent: { memories: [] } } },
  ], 'nothing was stored, and a number differs from its text')
})

t.test('an answer that never comes ends with deadline_exceeded, and its work is cancelled', async (t) => {
  const http = new McpHttp(() => {}, 20)
  t.teardown(async () => { await http.close() })
  let cancelled = false
  const makeServer = () => {
    const server = new Server({ name: 't', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', async (_request, { mcpReq: { signal } }) => {
      signal.addEventListener('abort', () => { cancelled = true })
      return await new Promise(() => {})
    })
    return server
  }
  const { signal } = new AbortController()
  await t.rejects(
    http.answer({ headers: MCP_HEADERS, body: rpc('tools/list'), signal, makeServer }), { code: 'deadline_exceeded' },
  )
  t.ok(cancelled)
})

t.test('what a response repeats and what a request looks up is bounded, alone and in a batch', async (t) => {
  const { post } = await testApp(t)
  const message = (change: object) => ({ jsonrpc: '2.0', id: 1, method: 'ping', ...change })
  const over = 'x'.repeat(8193)
  const changes = {
    id: { id: over },
    method: { method: over },
    'params.name': { params: { name: over } },
    'params.uri': { params: { uri: over } },
  }
  for (const [path, change] of Object.entries(changes)) {
    for (const body of [message(change), [message({}), message(change)]]) {
      const response = await post('/mcp', body, { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' })
      t.equal(response.statusCode, 400)
      t.match(response.json(), {
        id: null, error: { code: -32600, message: `The ${path} of a message has at most 8192 characters` },
      })
    }
  }
  const longest = 'x'.repeat(8192)
  t.match((await post('/mcp', message({ id: longest }), MCP_HEADERS)).json(), { id: longest, result: {} })
})

t.test('a message has few values and characters besides its arguments, and a batch some more', async (t) => {
  const { post } = await testApp(t)
  const wide = (count: number, length = 1) => Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${index}`.padEnd(length, 'x'), 1]),
  )
  // Of the message itself, and of `params`, these count: both objects, jsonrpc, id, method, and the list below.
  const message = (id: number, params: object) => ({ jsonrpc: '2.0', id, method: 'ping', params })
  const send = async (body: object) => (
    await post('/mcp', body, { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' })
  )
  const most = MAX_MESSAGE_VALUES - 6
  for (const name of ['_meta', 'arguments', 'capabilities']) {
    t.match((await send(message(1, { [name]: wide(most) }))).json(), { id: 1, result: {} })
    for (const value of [wide(most + 1), wide(10, 30_000)]) {
      const response = await send(message(1, { [name]: value }))
      t.equal(response.statusCode, 400)
      t.match(response.json(), { id: null, error: { code: -32600, message: /at most 1000 values and 262144 char/ } })
    }
  }
  const batch = (second: number) => [message(1, { _meta: wide(most) }), message(2, { _meta: wide(second) })]
  t.match((await send(batch(50))).json(), [{ id: 1 }, { id: 2 }])
  t.equal((await send(batch(100))).statusCode, 400)
  const given = { ids: Array.from({ length: 9000 }, () => 'x'), text: 'x'.repeat(300_000) }
  t.match((await send(message(1, { arguments: given }))).json(), { id: 1, result: {} }, 'within arguments')
})

t.test('faults of the protocol are errors of JSON-RPC with the status of HTTP', async (t) => {
  const { inject } = await testApp(t, { maxBodyBytes: 2048 })
  const send = async (payload: string, headers: Record<string, string> = MCP_HEADERS) => (
    await inject({ method: 'POST', url: '/mcp', headers, payload })
  )
  const deep = `${'['.repeat(100)}${']'.repeat(100)}`
  for (const [payload, status, code] of [
    ['', 400, -32700],
    ['{', 400, -32700],
    ['null', 400, -32600],
    ['7', 400, -32600],
    ['"x"', 400, -32600],
    ['[null]', 400, -32600],
    ['{"jsonrpc":"2.0"}', 400, -32600],
    [
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":${deep}}}}`, 413,
      -32600,
    ],
    [JSON.stringify(toolCall('retain', { bank_id: 'b', content: 'x'.repeat(4000) })), 413, -32600],
  ] as const) {
    const response = await send(payload)
    t.equal(response.statusCode, status, payload.slice(0, 40))
    t.match(response.json(), { jsonrpc: '2.0', error: { code, message: String } })
  }
  const typed = await send('{}', { ...MCP_HEADERS, 'content-type': 'text/plain' })
  t.equal(typed.statusCode, 415)
  t.match(typed.json(), { error: { data: { code: 'unsupported_media_type', request_id: String } } })
})

t.test('an unknown name is an error of JSON-RPC; its HTTP status depends on the revision', async (t) => {
  const { post } = await testApp(t)
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
    const isModern = version === '2026-07-28'
    const ask = async (method: string, params: Record<string, unknown>, name?: string) => {
      const about = isModern ? { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) } : {}
      const headers = { ...MCP_HEADERS, ...about, 'mcp-protocol-version': version }
      const response = await post('/mcp', rpc(method, { ...params, ...(isModern && META) }), headers)
      return [response.statusCode, response.json().error.code]
    }
    t.same(await ask('no/such', {}), [isModern ? 404 : 200, -32601], version)
    t.same(await ask('subscriptions/listen', { notifications: {} }), [404, -32601], version)
    t.same(await ask('tools/call', { name: 'nosuch', arguments: {} }, 'nosuch'), [200, -32602], version)
    t.same(await ask('prompts/get', { name: 'nosuch' }, 'nosuch'), [200, -32602], version)
    t.same(await ask('resources/read', { uri: 'memory://x' }, 'memory://x'), [200, -32602], version)
  }
})

t.test('parameters that do not fit the method are the fault of the client in every revision', async (t) => {
  const { post } = await testApp(t)
  const wrong: Array<[method: string, params: Record<string, unknown>]> = [
    ['tools/list', { cursor: 5 }],
    ['tools/call', {}],
    ['resources/list', { cursor: 5 }],
    ['resources/templates/list', { cursor: 5 }],
    ['resources/read', {}],
    ['prompts/list', { cursor: 5 }],
    ['prompts/get', { name: 'answer_with_memory', arguments: { bank_id: 5 } }],
    ['completion/complete', {}],
  ]
  for (const version of ['2025-11-25', '2026-07-28']) {
    for (const [method, params] of wrong) {
      const isModern = version === '2026-07-28'
      const about = isModern ? { 'mcp-method': method, 'mcp-name': 'answer_with_memory' } : {}
      const headers = { ...MCP_HEADERS, ...about, 'mcp-protocol-version': version }
      const response = await post('/mcp', rpc(method, { ...params, ...(isModern && META) }), headers)
      t.equal(response.statusCode, 200, `${method} in ${version}`)
      t.match(response.json(), { error: { code: -32602, message: `Invalid ${method} request` } })
    }
  }
  t.match((await post('/mcp', rpc('initialize', {}), MCP_HEADERS)).json(), { error: { code: -32602 } })
})

t.test('the Origin of a web page is checked', async (t) => {
  const { post } = await testApp(t, {
    file: { mcp: { public_url: 'https://memory.example.com/', allowed_origins: ['app.example.org'] } },
  })
  const status = async (origin: string) => (
    (await post('/mcp', rpc('tools/list'), { ...MCP_HEADERS, origin })).statusCode
  )
  for (const origin of [
    'http://localhost:3000', 'http://127.0.0.1', 'https://memory.example.com', 'https://app.example.org:8443',
  ]) {
    t.equal(await status(origin), 200, origin)
  }
  for (const origin of ['https://evil.example', 'null', 'https://memory.example.com.evil.example', 'x']) {
    t.equal(await status(origin), 403, origin)
  }
})

t.test('the Host is checked', async (t) => {
  const { post, get } = await testApp(t, {
    auth: { mode: 'api_key', apiKey: 'k' }, file: { mcp: { allowed_hosts: ['memory.example.com', '*.internal'] } },
  })
  const ask = async (host: string) => (
    await post('/mcp', rpc('tools/list'), { ...MCP_HEADERS, host, 'x-api-key': 'k', 'x-service-principal': 'user:ada' })
  )
  for (const host of ['memory.example.com', 'Memory.Example.com:8080', 'a.internal', 'localhost:8080']) {
    t.equal((await ask(host)).statusCode, 200, host)
  }
  const refused = await ask('evil.example')
  t.equal(refused.statusCode, 403)
  t.match(refused.json(), {
    detail: 'The Host header names a host that this server does not serve; add the host to mcp.allowed_hosts',
    code: 'host_not_allowed',
  })
  t.equal(
    (await get('/v1/banks', { host: 'evil.example', 'x-api-key': 'k', 'x-service-principal': 'user:ada' })).statusCode,
    200, 'other routes are as before',
  )

  const dev = await testApp(t)
  t.equal(
    (await dev.post('/mcp', rpc('tools/list'), { ...MCP_HEADERS, host: 'evil.example' })).statusCode, 403,
    'dev mode checks every route',
  )
})

t.test('the endpoint does not exist when it is switched off', async (t) => {
  const { post, get } = await testApp(t, { file: { mcp: { enabled: false } } })
  t.equal((await post('/mcp', rpc('tools/list'), MCP_HEADERS)).statusCode, 404)
  t.equal((await get('/.well-known/oauth-protected-resource')).statusCode, 404)
})
