import t from 'tap'
import { startServer } from '../helpers/server.js'
import { written } from './gate.js'
import { RawConnection, request } from './raw.js'

// Words that occur only in secrets and in the data of users.
const API_KEY = 'apikeyword-1f0c'
const ADMIN_TOKEN = 'admintokenword-2e1d'
const HOOK_SECRET = 'hooksecretword-3d2e'
const DATABASE = 'dsnword-4c3f'
const PRIVATE = [
  'contentword', 'queryword', 'tagword', 'metadataword', 'documentword', 'headerword', 'pathword', 'paramword',
  'wrongkeyword', 'bodyword', 'keyword', 'personword', 'cookieword', 'importword',
]

t.test('the log is one JSON object a line and contains no secrets and no content', async (t) => {
  const directory = t.testdir({
    'config.yaml': 'sources:\n  hook:\n    type: webhook\n    target_bank: team\n    auth: { type: hmac, secret: ' +
      `"${HOOK_SECRET}" }\n`,
  })
  const server = await startServer(t, {
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY: API_KEY,
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    DATABASE_URL: `postgres://user:${DATABASE}@localhost/x`,
    SERVICES_CONFIG_PATH: `${directory}/config.yaml`,
    SERVICES_LOG_LEVEL: 'trace',
    SERVICES_MAX_BODY_BYTES: '4096',
  })
  let count = 0
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        'x-api-key': API_KEY,
        'x-service-principal': 'user:personword',
        'x-request-id': `request-${count++}`,
        cookie: 'cookieword=1',
        'x-more': 'headerword',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    await response.text()
    return response.status
  }
  const retain = {
    bank_id: 'pathword-bank',
    content: 'The contentword sleeps.',
    tags: ['tagword'],
    metadata: { metadataword: 'metadataword' },
    document_id: 'documentword',
  }
  const statuses = [
    await send('POST', '/v1/retain', retain, { 'idempotency-key': 'keyword' }),
    await send('POST', '/v1/retain', { ...retain, content: 'bodyword' }, { 'idempotency-key': 'keyword' }),
    await send('POST', '/v1/recall', { bank_id: 'pathword-bank', query: 'queryword contentword', explain: true }),
    await send('POST', '/v1/reflect', { bank_id: 'pathword-bank', query: 'queryword contentword' }),
    await send('GET', '/v1/banks/pathword-bank/export'),
    await send('POST', '/v1/banks/pathword-bank/import', '{"importword": 1', {
      'content-type': 'application/x-ndjson',
    }),
    await send('GET', '/v1/banks/pathword-bank/memories?tags=paramword'),
    await send('GET', '/v1/whoami', undefined, { 'x-api-key': 'wrongkeyword' }),
    await send('GET', '/v1/whoami', undefined, { authorization: 'Bearer wrongkeyword', 'x-service-principal': '' }),
    await send('GET', '/v1/admin/banks', undefined, { 'x-admin-token': ADMIN_TOKEN }),
    await send('GET', '/v1/admin/banks', undefined, { 'x-admin-token': 'wrongkeyword' }),
    await send('POST', '/v1/retain', '{"bodyword": "bodyword'),
    await send('POST', '/v1/retain', { bodyword: 'bodyword' }),
    await send('POST', '/v1/retain', { ...retain, content: 'bodyword'.repeat(1000) }),
    await send('POST', '/v1/ingest/webhook/hook', { content: 'bodyword' }, { 'x-signature-256': 'wrongkeyword' }),
    await send('GET', '/pathword/nowhere?paramword=paramword'),
    await send('GET', '/v1/banks/%zzpathword'),
    await send('PUT', '/v1/banks/pathword-bank'),
    await send('GET', '/live'),
    await send('GET', '/health'),
  ]
  t.same(statuses, [200, 409, 200, 200, 200, 400, 200, 401, 401, 200, 401, 400, 400, 413, 401, 404, 400, 405, 200, 200])
  const broken = await RawConnection.open(t, server.url)
  broken.write(`GET /pathword HTTP/1.1\r\nheaderword headerword\r\n\r\n${request('GET', '/')}`)
  await broken.response()
  server.process.kill('SIGTERM')
  await written(server, /stopping/)
  await server.ended

  const lines = server.output().trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const line of lines) {
    t.match(line, { level: Number, time: Number, msg: String })
  }
  for (const word of [API_KEY, ADMIN_TOKEN, HOOK_SECRET, DATABASE, ...PRIVATE]) {
    t.notMatch(server.output(), word, `${word} is not in the log`)
  }

  const access = lines.filter(({ msg }) => msg === 'request completed')
  t.same(
    new Set(access.map(({ request_id: id }) => id)),
    new Set(Array.from({ length: count }, (_, index) => `request-${index}`)), 'each request has its line, under its id',
  )
  t.equal(access.length, count)
  t.match(
    access.find(({ request_id: id }) => id === 'request-0'),
    { level: 30, method: 'POST', route: '/v1/retain', status: 200, duration_ms: Number, principal_type: 'user' },
  )
  t.match(access.find(({ request_id: id }) => id === 'request-6'), { route: '/v1/banks/:bank_id/memories' })
  t.equal(access.find(({ request_id: id }) => id === 'request-18')?.['level'], 20, 'probes are not logged at info')
})

t.test('every problem that ends the start is reported in plain text, without the value of a secret', async (t) => {
  const directory = t.testdir({
    'config.yaml': `sources:\n  hook:\n    type: webhook\n    auth: { type: hmac, secret: "${HOOK_SECRET}", ` +
      'heder: x }\n',
  })
  const failed = await startServer(t, {
    SERVICE_API_KEY: API_KEY,
    SERVICE_ADMIN_TOKEN_FILE: '/nowhere',
    SERVICE_API_KEY_FILE: '/nowhere',
    DATABASE_URL: `postgres://user:${DATABASE}@x/y`,
    SERVICES_PG_DSN: 'other',
    SERVICES_CONFIG_PATH: `${directory}/config.yaml`,
  }).then(() => '', (error: unknown) => String(error))
  t.match(failed, /The configuration has \d+ problems/)
  for (const word of [API_KEY, HOOK_SECRET, DATABASE]) t.notMatch(failed, word)
})
