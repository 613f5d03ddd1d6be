import { on, once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { PassThrough, Writable } from 'node:stream'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { runMcpStdio, type McpStdioOptions } from '../../mcp/stdio.js'
import { testApp } from '../helpers/app.js'
import { runCli } from '../helpers/cli.js'
import { testConfig } from '../helpers/config.js'
import { addressOf, answerOf, mcpClient, refusalOf, REVISIONS, rpc, toolCall, type Revision } from '../helpers/mcp.js'

const PROGRAM = join(process.cwd(), 'dist/cli/main.js')

/** Starts the built program, as a desktop client does. */
async function startProgram (
  t: Test, revision: Revision, env: Record<string, string>, args: string[] = [],
): Promise<Client> {
  const client = mcpClient(revision)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...args],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stderr: 'pipe',
  })
  await client.connect(transport)
  t.teardown(async () => { await client.close() })
  return client
}

/** Serves in this process, over two pipes. */
function serve (options: McpStdioOptions) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const lines: string[] = []
  let waiting: Array<(line: string) => void> = []
  let rest = ''
  stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      const [first, ...others] = waiting
      waiting = others
      if (first === undefined) lines.push(line)
      else first(line)
    }
  })
  const log: string[] = []
  const ended = runMcpStdio({ ...options, stdin, stdout, log: (line) => { log.push(line) } })
  return {
    stdin,
    ended,
    log,
    send: (message: object) => { stdin.write(`${JSON.stringify(message)}\n`) },
    next: async () => JSON.parse(lines.shift() ?? await new Promise<string>((resolve) => { waiting.push(resolve) })),
  }
}

for (const revision of REVISIONS) {
  t.test(`in front of a server in the revision ${revision}`, async (t) => {
    const { app } = await testApp(t, {
      auth: { mode: 'api_key', apiKey: 'secret' },
      file: {
        access_control: { enabled: true, default_policy: 'owner_only' },
        homeostasis: { rate_limits: { retain_per_minute: 1 } },
      },
    })
    const env = {
      MEMORY_GATEWAY_URL: await addressOf(app), MEMORY_GATEWAY_API_KEY: 'secret', MEMORY_GATEWAY_PRINCIPAL: 'user:ada',
    }
    const client = await startProgram(t, revision, env)
    t.equal(client.getNegotiatedProtocolVersion(), revision)
    const call = async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args })
    const { memory_id: id } = answerOf(
      await call('retain', { bank_id: 'user-ada', content: 'Ada drinks tea.', idempotency_key: 'k' }),
    )
    t.match(
      answerOf(await call('retain', { bank_id: 'user-ada', content: 'Ada drinks tea.', idempotency_key: 'k' })),
      { stored: true, memory_id: id },
    )
    t.match(
      refusalOf(await call('retain', { bank_id: 'user-ada', content: 'more' })),
      { code: 'rate_limited', retry_after_seconds: 60, request_id: String },
    )
    t.match(refusalOf(await call('recall', { bank_id: 'user-bob', query: 'x' })), { code: 'access_denied' })
    t.match(answerOf(await call('recall', { bank_id: 'user-ada', query: 'tea', tags: ['none'] })), { memories: [] })
    t.match(
      answerOf(await call('reflect', { bank_id: 'user-ada', query: 'What does Ada drink?' })),
      { sources: [{ memory_id: id }] },
    )
    t.match(answerOf(await call('list_banks', { limit: 5 })), { banks: [{ bank_id: 'user-ada' }] })
    t.match(
      JSON.stringify(await client.readResource({ uri: `memory://banks/user-ada/memories/${String(id)}` })),
      /Ada drinks tea/,
    )
    t.match(JSON.stringify(await client.readResource({ uri: 'memory://banks/user-ada' })), /Ada drinks tea/)
    t.match(answerOf(await call('forget', { bank_id: 'user-ada', memory_ids: [id] })), { deleted_count: 1 })

    const pinned = await startProgram(t, revision, env, ['--bank', 'user-ada'])
    t.same((await pinned.listTools()).tools.map(({ name }) => name), [
      'retain', 'recall', 'reflect', 'forget', 'patch_memory', 'retire_memory', 'restore_memory', 'list_versions',
      'append_messages', 'list_messages', 'list_proposals', 'accept_proposal', 'dismiss_proposal',
    ])
    t.match(
      refusalOf(await pinned.callTool({ name: 'recall', arguments: { query: 'x', bank_id: 'user-bob' } })),
      { code: 'invalid_request' },
    )
  })
}

t.test('memories in a folder are there at the next start', async (t) => {
  const folder = join(t.testdir(), 'memories')
  const client = await startProgram(t, REVISIONS[0]!, {}, ['--data', folder])
  answerOf(
    await client.callTool({ name: 'retain', arguments: { bank_id: 'b', content: 'The key is under the mat.' } }),
  )
  await client.close()
  const again = await startProgram(t, REVISIONS.at(-1)!, {}, ['--data', folder])
  t.match(
    answerOf(await again.callTool({ name: 'recall', arguments: { bank_id: 'b', query: 'Where is the key?' } })),
    { memories: [{ text: 'The key is under the mat.' }] },
  )
})

t.test('a principal beyond ASCII has its grants', async (t) => {
  const file: FileConfig = {
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [{ bank_id: 'team', principal: 'user:zoë東', permissions: ['write'] }],
  }
  const { app } = await testApp(t, { file })
  const configuration = join(t.testdir({ 'memory.yaml': JSON.stringify(file) }), 'memory.yaml')
  const env = { MEMORY_GATEWAY_PRINCIPAL: 'user:zoë東' }
  for (const client of [
    await startProgram(t, REVISIONS[0]!, { ...env, MEMORY_GATEWAY_URL: await addressOf(app) }),
    await startProgram(t, REVISIONS[0]!, env, ['--config', configuration]),
  ]) {
    const retain = async (bank: string) => (
      await client.callTool({ name: 'retain', arguments: { bank_id: bank, content: 'tea' } })
    )
    t.match(answerOf(await retain('team')), { stored: true })
    t.match(refusalOf(await retain('other')), { code: 'access_denied' })
  }
})

t.test('the .env of the folder in which an editor starts the program is not read', async (t) => {
  const asked: unknown[] = []
  const foreign = createServer((request, reply) => { asked.push(request.headers['x-api-key']); reply.end('{}') })
  t.teardown(() => { foreign.close() })
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  const { port } = foreign.address() as AddressInfo
  const cwd = t.testdir({
    '.env': `MEMORY_GATEWAY_URL=http://127.0.0.1:${port}\nSERVICES_CONFIG_PATH=foreign.yaml\n`,
    'foreign.yaml': 'embedding_provider: "./foreign.mjs:Foreign"\n',
    'foreign.mjs': 'import { writeFileSync } from "node:fs"\nwriteFileSync("loaded", "")\nexport class Foreign {}\n',
  })
  const mcp = async (args: string[]) => await runCli(['mcp', ...args], {
    cwd,
    stdin: JSON.stringify(toolCall('list_banks', {})),
    env: { MEMORY_GATEWAY_API_KEY: 'secret', XDG_CONFIG_HOME: cwd, MEMORY_GATEWAY_PROFILE: 'mine' },
  })
  mkdirSync(join(cwd, 'memory-gateway'))
  writeFileSync(join(cwd, 'memory-gateway/mine.env'), 'MEMORY_GATEWAY_URL=http://127.0.0.1:1\n', { mode: 0o600 })
  t.equal((await mcp([])).code, 0)
  t.strictSame(asked, [], 'the key stays with the server of the profile')
  t.match((await mcp(['--data', 'memories'])).stdout, /"banks\\?":\[\]/)
  t.notOk(existsSync(join(cwd, 'loaded')), 'no code of the folder is loaded')

  await mcp(['--env-file', '.env'])
  t.strictSame(asked, ['secret'], 'a file that the caller names is read')
})

const embedded: McpStdioOptions = { source: 'embedded', config: testConfig(), version: '1.0.0' }

t.test('many simultaneous calls are all answered', async (t) => {
  const { send, next, stdin, ended } = serve(embedded)
  send(rpc(
    'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }, 'i',
  ))
  t.match(await next(), { id: 'i', result: { serverInfo: { version: '1.0.0' } } })
  for (let id = 0; id < 200; id++) send(toolCall('retain', { bank_id: 'b', content: `fact ${id}` }, id))
  const answered = new Set<number>()
  for (let count = 0; count < 200; count++) {
    const { id, result } = await next()
    answerOf(result)
    answered.add(id)
  }
  t.equal(answered.size, 200)
  stdin.end()
  await ended
})

t.test('the connection ends with the input and with the signal', async (t) => {
  const stop = new AbortController()
  const stopped = serve({ ...embedded, signal: stop.signal })
  stop.abort()
  await stopped.ended
  const closed = serve(embedded)
  closed.stdin.end()
  await closed.ended
  t.strictSame([...stopped.log, ...closed.log], [])
})

t.test('a server that is missing, or is no gateway, is reported', async (t) => {
  const { app } = await testApp(t)
  const url = await addressOf(app)
  for (const [server, code] of [
    ['http://127.0.0.1:1', 'connection_lost'], [`${url}/docs/static`, 'not_found'],
    [await answeringServer(t, '<html>'), 'unusable_answer'],
    [await answeringServer(t, '{"object":"list"}'), 'unusable_answer'],
    [await answeringServer(t, '{'.padEnd(10 * 1024 * 1024 + 1)), 'unusable_answer'],
  ] as const) {
    const { send, next, stdin, ended } = serve({ source: 'server', server: { url: server }, version: '1.0.0' })
    send(toolCall('list_banks', {}))
    const refusal = refusalOf((await next()).result)
    t.match(refusal, { code })
    stdin.end()
    await ended
  }
  await t.rejects(runMcpStdio({ ...embedded, bankId: ' ' }), {
    code: 'invalid_request', detail: /^bank: must be a text of letters/,
  })
})

t.test('a refusal of the server names the wrong arguments as a tool does', async (t) => {
  const { app } = await testApp(t)
  const { send, next, stdin, ended } = serve({
    source: 'server', server: { url: await addressOf(app) }, version: '1.0.0',
  })
  const ask = async (name: string, args: Record<string, unknown>) => {
    send(toolCall(name, args))
    return refusalOf((await next()).result)
  }
  const fact = { bank_id: 'b', content: 'tea' }
  t.match(await ask('retain', { ...fact, expires_at: '2020-01-01T00:00:00Z' }), {
    code: 'invalid_request', errors: [{ field: 'expires_at', message: 'must lie in the future' }],
  })
  t.match(await ask('list_banks', { cursor: 'x' }), { code: 'invalid_request', errors: [{ field: 'cursor' }] })
  const errors = [{ field: 'idempotency_key', message: 'must be 1 to 255 printable ASCII characters' }]
  for (const key of ['', 'k€1', 'k\n1', 'ü', 'x'.repeat(256)]) {
    t.match(await ask('retain', { ...fact, idempotency_key: key }), { code: 'invalid_request', errors })
  }
  t.match(await ask('forget', { bank_id: 'b', tags: ['a'], idempotency_key: '' }), { code: 'invalid_request', errors })
  stdin.end()
  await ended
})

t.test('the calls that run when the input ends are answered', async (t) => {
  const { stdin, send, next, ended, log } = serve(embedded)
  send(rpc(
    'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }, 'i',
  ))
  for (let id = 0; id < 20; id++) send(toolCall('retain', { bank_id: 'b', content: `fact ${id}` }, id))
  // The last line has no line feed.
  stdin.end(JSON.stringify(toolCall('recall', { bank_id: 'b', query: 'fact' }, 20)))
  const ids: unknown[] = []
  for (let count = 0; count < 22; count++) ids.push((await next()).id)
  t.same(new Set(ids), new Set(['i', ...Array.from({ length: 21 }, (_, id) => id)]))
  await ended
  t.strictSame(log, [])
})

t.test('a cancelled call does not delay the end and is no fault', async (t) => {
  const { url, called } = await silentServer(t)
  for (const reason of [{}, { reason: 'no longer wanted' }]) {
    const { stdin, send, ended, log } = serve({ source: 'server', server: { url }, version: '1.0.0' })
    send(toolCall('list_banks', {}, 7))
    await called()
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, ...reason } })
    stdin.end()
    await ended
    await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(log, [], 'it is no fault')
  }
})

t.test('a line that is not JSON or not a message is answered, and so is the next one', async (t) => {
  const { stdin, send, next, ended, log } = serve(embedded)
  stdin.write('{bad\n\n[1]\nnull\n{"id":"a","method":1}\n' +
    '{"id":{},"method":"ping"}\n{"jsonrpc":"2.0","id":2,"error":0}\n')
  t.match(await next(), { jsonrpc: '2.0', id: null, error: { code: -32700, message: String } })
  for (const id of [null, null, 'a', null]) {
    t.match(await next(), { jsonrpc: '2.0', id, error: { code: -32600, message: String } })
  }
  send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  t.match(await next(), { id: 1, result: {} })
  stdin.end()
  await ended
  t.strictSame([...new Set(log)], ['the client has sent a line that is not a message of JSON-RPC'])
})

t.test('a message beyond its bound is refused, and the calls around it are answered', async (t) => {
  const { stdin, send, next, ended, log } = serve(embedded)
  const maxBytes = 1024 * 1024
  send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  t.match(await next(), { id: 1, result: {} })
  // In two parts, so that the rest arrives after the bound is exceeded.
  stdin.write('x'.repeat(maxBytes + 1))
  stdin.write('x\n')
  t.match(await next(), { id: null, error: { code: -32600, message: `A message has at most ${maxBytes} bytes` } })
  send({ jsonrpc: '2.0', id: 2, method: 'ping' })
  t.match(await next(), { id: 2, result: {} })
  stdin.end(`{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":"${'x'.repeat(maxBytes)}`)
  t.match(await next(), { id: null, error: { code: -32600 } }, 'the last line needs no end')
  await ended
  t.strictSame([...new Set(log)], [`the client has sent a message of more than ${maxBytes} bytes`])
})

/** @returns the URL of a server that gives every request the same answer */
async function answeringServer (t: Test, body: string): Promise<string> {
  const server = createServer((_request, response) => { response.end(body) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that never answers, and a function that waits for its next call. */
async function silentServer (t: Test): Promise<{ url: string, called: () => Promise<unknown> }> {
  const silent = createServer(() => {})
  t.teardown(() => { silent.closeAllConnections(); silent.close() })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  // A call may arrive before the test waits for it.
  const calls = on(silent, 'request')
  const called = async () => await calls.next()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, called }
}

t.test('a call that is not answered in time after the end of the input is no fault', async (t) => {
  const { url, called } = await silentServer(t)
  const { stdin, send, ended, log } = serve({
    source: 'server', server: { url }, version: '1.0.0', answerTimeoutMs: 100,
  })
  send(toolCall('list_banks', {}))
  await called()
  stdin.end()
  await ended
  // What the end of the call reports comes after it.
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(log, [])
})

t.test('a client that closes both its ends while a call runs is no fault', async (t) => {
  const [stdin, log] = [new PassThrough(), [] as string[]]
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => { done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })) },
  })
  const ended = runMcpStdio({ ...embedded, stdin, stdout, log: (line) => { log.push(line) } })
  stdin.end(JSON.stringify(rpc('initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' },
  }, 1)))
  await ended
  t.strictSame(log, [])
})
