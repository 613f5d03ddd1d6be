import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { buildApp } from '../../app.js'
import { ListenError } from '../../http/listen-error.js'
import { RawConnection, request } from '../blackbox/raw.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { testConfig, type TestConfig } from '../helpers/config.js'
import { readExposition, valueOf } from '../helpers/exposition.js'
import { refused } from '../routes/support.js'

async function withOwnPort (t: Test, config: TestConfig = {}): Promise<TestApp & { url: string }> {
  const app = await testApp(t, { metricsPort: 0, adminToken: 'admin', ...config })
  const told = app.log.map(({ msg }) => (
    /^Metrics are served at (http:\/\/127\.0\.0\.1:\d+\/metrics)$/.exec(String(msg))?.[1]
  )).filter((url) => url !== undefined)
  t.equal(told.length, 1)
  return { ...app, url: told[0]! }
}

/** @returns the body, in the format of all errors */
async function refusedBy (t: Test, response: Response, status: number, code: string): Promise<{ request_id: string }> {
  t.equal(response.status, status)
  t.match(response.headers.get('content-type'), 'application/json')
  const body = await response.json() as { request_id: string }
  t.match(body, { detail: String, code, request_id: response.headers.get('x-request-id') ?? 'missing' })
  return body
}

await t.test('with a separate port the metrics are served there without a token, and not on the ' +
  'gateway\'s port', async (t) => {
  const { url, get } = await withOwnPort(t)
  await get('/health')
  const response = await fetch(url)
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const samples = readExposition(await response.text())
  t.equal(
    valueOf(samples, 'memory_gateway_http_request_duration_seconds_count', { route: '/health', status: '200' }), 1,
  )
  t.equal(valueOf(samples, 'memory_gateway_http_requests_in_flight'), 0, 'the scrape is not counted as a request')
  refused(t, await get('/metrics', { 'x-admin-token': 'admin' }), 404, 'not_found')
})

await t.test('that port serves nothing else', async (t) => {
  const { url } = await withOwnPort(t)
  for (const path of ['/', '/v1/banks', '/health', '/metrics/', '/metrics/x', '/v1/admin/banks']) {
    await refusedBy(t, await fetch(new URL(path, url)), 404, 'not_found')
  }
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const response = await fetch(url, { method })
    t.equal(response.headers.get('allow'), 'GET, HEAD')
    await refusedBy(t, response, 405, 'method_not_allowed')
  }
  await refusedBy(t, await fetch(new URL('/x', url), { method: 'POST' }), 404, 'not_found')
  const asked = await fetch(new URL('/x', url), { headers: { 'x-request-id': 'mine' } })
  t.equal((await refusedBy(t, asked, 404, 'not_found')).request_id, 'mine')
  t.ok((await fetch(url)).headers.get('x-request-id'))
  t.equal((await fetch(`${url}?x=1`)).status, 200)
  const head = await fetch(url, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.equal(await head.text(), '')
})

await t.test('in dev mode that port serves loopback names and allowed ones only', async (t) => {
  const status = async (url: string, host: string) => {
    const connection = await RawConnection.open(t, url)
    connection.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    return (await connection.response()).status
  }
  const { url } = await withOwnPort(t, { allowedHosts: ['metrics.example'] })
  for (const host of ['localhost:9464', '127.0.0.1', 'metrics.example']) t.equal(await status(url, host), 200, host)
  for (const host of ['evil.example', 'localhost.evil.example:80']) t.equal(await status(url, host), 403, host)
  const other = await withOwnPort(t, { auth: { mode: 'api_key', apiKey: 'key' } })
  t.equal(await status(other.url, 'evil.example'), 200, 'in other modes every name is served')
})

await t.test('a connection that does not wait for its answer is closed', async (t) => {
  const { url } = await withOwnPort(t)
  const connection = await RawConnection.open(t, url)
  connection.write(request('GET', '/metrics').repeat(500))
  await connection.closed
  t.equal(connection.rest, '')
})

await t.test('the number of connections is bounded', async (t) => {
  const { url } = await withOwnPort(t)
  for (let count = 0; count < 32; count++) await RawConnection.open(t, url)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'close')
  t.pass('one more is closed')
})

await t.test('the port is closed with the gateway', async (t) => {
  const { url, app } = await withOwnPort(t)
  await (await fetch(url)).text()
  await app.close()
  await t.rejects(fetch(url))
})

await t.test('a port that is in use ends the start, and the message names the variable', async (t) => {
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  t.teardown(() => { taken.close() })
  const app = await buildApp(testConfig({ logLevel: 'silent', metricsPort: port }))
  t.teardown(async () => { await app.close() })
  const error: unknown = await app.ready().then(() => undefined, (error: unknown) => error)
  t.ok(error instanceof ListenError)
  t.equal(
    (error as Error).message,
    `SERVICES_HOST, SERVICES_METRICS_PORT: cannot listen on 127.0.0.1, port ${port}: the port is in use`,
  )
})
