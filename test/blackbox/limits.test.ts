import t, { type Test } from 'tap'
import { startServer } from '../helpers/server.js'
import { chunk, post, RawConnection, request, type RawResponse } from './raw.js'

const LIMIT = 2048
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const CONFIG = { SERVICES_MAX_BODY_BYTES: String(LIMIT) }

/** What every error answer has, whichever part of the process wrote it. */
function isError (t: Test, response: RawResponse, status: number, code: string): void {
  t.equal(response.status, status)
  t.match(response.headers['content-type'], /^application\/json/)
  const body = JSON.parse(response.body) as Record<string, unknown>
  t.equal(body['code'], code)
  t.type(body['detail'], 'string')
  t.equal(body['request_id'], response.headers['x-request-id'])
}

/** A retain whose body is exactly so many bytes. */
function bodyOf (bytes: number): string {
  const empty = JSON.stringify({ bank_id: 'team', content: '' })
  return JSON.stringify({ bank_id: 'team', content: 'x'.repeat(bytes - empty.length) })
}

const CHUNKED = [
  ['/v1/retain', 'application/json'],
  ['/v1/banks/team/import', 'application/x-ndjson'],
  ['/v1/ingest/webhook/hook', 'application/json'],
] as const

t.test('a body over the limit', async (t) => {
  const { url } = await startServer(t, { ...CONFIG, SERVICES_CONFIG_PATH: 'test/fixtures/limits.yaml' })

  for (const [path, type] of CHUNKED) {
    await t.test(`${path} counts the bytes of a chunked upload and answers 413 before its end`, async (t) => {
      const connection = await RawConnection.open(t, url)
      connection.write(request('POST', path, { headers: { 'content-type': type, 'transfer-encoding': 'chunked' } }))
      connection.write(chunk('x'.repeat(LIMIT - 10)))
      connection.write(chunk('x'.repeat(11)))
      isError(t, await connection.response(), 413, 'body_too_large')
      // The client goes on sending nothing, and is not waited for.
      await connection.closed
    })
  }

  await t.test('a Content-Length over the limit is answered 413 before a byte of the body', async (t) => {
    const connection = await RawConnection.open(t, url)
    connection.write(request('POST', '/v1/retain', {
      headers: { 'content-type': 'application/json', 'content-length': String(LIMIT + 1) },
    }))
    isError(t, await connection.response(), 413, 'body_too_large')
    await connection.closed
  })

  await t.test('a body of exactly the limit is accepted, with Content-Length and in chunks', async (t) => {
    const connection = await RawConnection.open(t, url)
    connection.write(request('POST', '/v1/retain', {
      headers: { 'content-type': 'application/json' }, body: bodyOf(LIMIT),
    }))
    t.equal((await connection.response()).status, 200)
    const body = bodyOf(LIMIT)
    connection.write(request('POST', '/v1/retain', {
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    }))
    for (let at = 0; at < body.length; at += 100) connection.write(chunk(body.slice(at, at + 100)))
    connection.write('0\r\n\r\n')
    t.equal((await connection.response()).status, 200)
  })

  await t.test('what follows a refused chunked upload is not read as a request', async (t) => {
    const connection = await RawConnection.open(t, url)
    connection.write(request('POST', '/v1/retain', {
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    }))
    connection.write(chunk('x'.repeat(LIMIT + 1)))
    isError(t, await connection.response(), 413, 'body_too_large')
    connection.write(chunk(post('/v1/retain', { bank_id: 'smuggled', content: 'x' })) + '0\r\n\r\n')
    connection.write(request('GET', '/live'))
    const next = await connection.responseOrEnd()
    if (next !== undefined) t.same(JSON.parse(next.body), { status: 'ok' })
    const banks = await (await fetch(`${url}/v1/banks`)).text()
    t.notMatch(banks, 'smuggled')
  })
})

const BROKEN: ReadonlyArray<readonly [what: string, bytes: string]> = [
  ['bytes that are no HTTP', 'GARBAGE\r\n\r\n'],
  ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown version', 'GET /live HTTP/9.9\r\nHost: localhost\r\n\r\n'],
  ['an unknown method', 'BREW /live HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a space in a header name', 'GET /live HTTP/1.1\r\nHost: localhost\r\nBad Name: y\r\n\r\n'],
  ['a NUL in a header', 'GET /live HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n'],
  ['a folded header', 'GET /live HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n'],
  [
    'a Content-Length that is not a number',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ten\r\n\r\n',
  ],
  [
    'a negative Content-Length',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n',
  ],
  [
    'two lengths',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
      '2\r\nContent-Length: 3\r\n\r\n{}',
  ],
  [
    'Content-Length beside Transfer-Encoding',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
      '2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'an unknown transfer coding',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
      'rot13\r\n\r\n{}',
  ],
  [
    'a chunk whose size is not a number',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
      'chunked\r\n\r\nxyz\r\n',
  ],
  [
    'a chunk that is longer than it says',
    'POST /v1/retain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
      'chunked\r\n\r\n1\r\nabcdef\r\n0\r\n\r\n',
  ],
  ['no Host header', 'GET /v1/whoami HTTP/1.1\r\n\r\n'],
  ['two Host headers', 'GET /v1/whoami HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['headers of 40 KiB', `GET /live HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(40_960)}\r\n\r\n`],
  [
    'two thousand headers',
    'GET /live HTTP/1.1\r\nHost: ' +
      `localhost\r\n${Array.from({ length: 2000 }, (_, index) => `X-Header-Number-${index}: x\r\n`).join('')}\r\n`,
  ],
  ['a URL of 40 KiB', `GET /${'x'.repeat(40_960)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['an invalid escape in the URL', 'GET /v1/banks/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
]

t.test('a request that is not HTTP', async (t) => {
  const { url } = await startServer(t, CONFIG)
  for (const [what, bytes] of BROKEN) {
    await t.test(`${what} is answered 400 in the form of every error`, async (t) => {
      const connection = await RawConnection.open(t, url)
      connection.socket.end(Buffer.from(bytes, 'latin1'))
      const response = await connection.response()
      isError(t, response, 400, 'invalid_request')
      t.match(response.headers['x-request-id'], UUID)
      await connection.closed
      t.equal(connection.rest, '', 'one answer and nothing after it')
    })
  }

  await t.test('an unknown Expect header is ignored', async (t) => {
    const connection = await RawConnection.open(t, url)
    connection.write(request('GET', '/v1/whoami', { headers: { expect: 'a-miracle' } }))
    t.equal((await connection.response()).status, 200)
  })

  await t.test('an HTTP/1.0 request needs no Host', async (t) => {
    const connection = await RawConnection.open(t, url)
    connection.write('GET /v1/whoami HTTP/1.0\r\n\r\n')
    t.equal((await connection.response()).status, 200)
  })

  await t.test('the server continues to answer', async (t) => {
    t.same(await (await fetch(`${url}/live`)).json(), { status: 'ok' })
  })
})

t.test('several requests on one connection', async (t) => {
  const { url } = await startServer(t, CONFIG)

  await t.test('each after the answer to the one before are served', async (t) => {
    const connection = await RawConnection.open(t, url)
    for (let index = 0; index < 20; index++) {
      connection.write(request('GET', '/v1/banks/pipe', { headers: { 'x-request-id': `r${index}` } }))
      const response = await connection.response()
      t.equal(response.status, 200)
      t.equal(response.headers['x-request-id'], `r${index}`)
    }
  })

  await t.test('a request before the answer to the last one ends the connection', async (t) => {
    const connection = await RawConnection.open(t, url)
    connection.write(Array.from({ length: 20 }, (_, index) => (
      post('/v1/retain', { bank_id: 'pipe', content: `Memory ${index}` })
    )).join(''))
    await connection.closed
    const bank = await (await fetch(`${url}/v1/banks/pipe`)).json() as { memory_count: number }
    t.ok(bank.memory_count <= 1, 'at most the first was executed')
  })
})
