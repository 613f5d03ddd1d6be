import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { startServer, type RunningServer } from '../helpers/server.js'
import { startGated, written } from './gate.js'
import { post, RawConnection, request } from './raw.js'

const RECALL = post('/v1/recall', { bank_id: 'team', query: 'otter' })
const STOPPING = /stopping: requests in flight finish/

async function retain (url: string): Promise<void> {
  const response = await fetch(`${url}/v1/retain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ bank_id: 'team', content: 'The otter sleeps.' }),
  })
  await response.text()
}

/** An idle connection, which a stopping server closes at once. */
async function idle (t: Test, url: string): Promise<RawConnection> {
  const connection = await RawConnection.open(t, url)
  connection.write(request('GET', '/live'))
  await connection.response()
  return connection
}

/**
 * Sends the signal and waits until the server has let go of its idle connections, which it does when it stops
 * listening.
 */
async function stop (server: RunningServer, probe: RawConnection, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  server.process.kill(signal)
  await written(server, STOPPING)
  await probe.closed
}

t.test('on SIGTERM requests in flight finish, new ones are refused, and the process exits with 0', async (t) => {
  const server = await startGated(t, 'GatedStore')
  await retain(server.url)
  const probe = await idle(t, server.url)
  const connection = await RawConnection.open(t, server.url)
  connection.write(RECALL)
  const search = await server.gate.next()
  await stop(server, probe)

  const { hostname, port } = new URL(server.url)
  const late = connect(Number(port), hostname)
  const [refusal] = await once(late, 'error') as [NodeJS.ErrnoException]
  // It is reset when the system had queued it before the port was closed; in neither case is it accepted.
  t.match(refusal.code, /^ECONN(REFUSED|RESET)$/)

  search.end()
  const response = await connection.response()
  t.equal(response.status, 200)
  t.equal(JSON.parse(response.body).hits[0].text, 'The otter sleeps.')
  t.equal(response.headers['connection'], 'close')
  await connection.closed
  t.equal(await server.ended, 0)
  t.notMatch(server.output(), /"level":[56]0/)
})

t.test('the server waits for a body that is still arriving when the signal comes', async (t) => {
  const server = await startServer(t)
  const probe = await idle(t, server.url)
  const connection = await RawConnection.open(t, server.url)
  const body = JSON.stringify({ bank_id: 'team', content: 'The otter sleeps.' })
  connection.write(request('POST', '/v1/retain', {
    headers: { 'content-type': 'application/json', 'content-length': String(body.length), expect: '100-continue' },
  }))
  t.equal((await connection.response()).status, 100)
  connection.write(body.slice(0, 10))
  await stop(server, probe)
  connection.write(body.slice(10))
  const response = await connection.response()
  t.equal(response.status, 200)
  t.equal(JSON.parse(response.body).stored, true)
  t.equal(await server.ended, 0)
})

t.test('a request that begins after the signal on an open connection is refused', async (t) => {
  const server = await startGated(t, 'GatedStore')
  await retain(server.url)
  const probe = await idle(t, server.url)
  const [busy, half] = [await RawConnection.open(t, server.url), await RawConnection.open(t, server.url)]
  busy.write(RECALL)
  const search = await server.gate.next()
  // When the first is answered, the beginning of the second has been read with it.
  half.write(`${request('GET', '/live')}GET /v1/whoami HTTP/1.1\r\nHost: localhost\r\n`)
  await half.response()
  await stop(server, probe)
  half.write('\r\n')
  const refused = await half.responseOrEnd()
  if (refused !== undefined) {
    t.equal(refused.status, 503)
    t.equal(JSON.parse(refused.body).code, 'shutting_down')
    t.equal(refused.headers['connection'], 'close')
    t.ok(refused.headers['retry-after'])
    t.equal(JSON.parse(refused.body).request_id, refused.headers['x-request-id'])
  }
  await half.closed

  search.end()
  t.equal((await busy.response()).status, 200)
  await busy.closed
  t.equal(await server.ended, 0)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`without requests in flight ${signal} ends the process with exit code 0`, async (t) => {
    const server = await startServer(t)
    const probe = await idle(t, server.url)
    await stop(server, probe, signal)
    t.equal(await server.ended, 0)
  })
}

t.test('a second signal ends the process immediately, with an exit code other than 0', async (t) => {
  const server = await startGated(t, 'GatedStore', { SERVICES_SHUTDOWN_TIMEOUT_MS: '600000' })
  const probe = await idle(t, server.url)
  const connection = await RawConnection.open(t, server.url)
  connection.write(RECALL)
  await server.gate.next()
  await stop(server, probe)
  server.process.kill('SIGTERM')
  t.equal(await server.ended, 1)
  t.equal(await connection.responseOrEnd(), undefined)
})

t.test('a request that exceeds the time for requests in flight ends the process with exit code 1', async (t) => {
  const server = await startGated(t, 'GatedStore', { SERVICES_SHUTDOWN_TIMEOUT_MS: '1000' })
  const connection = await RawConnection.open(t, server.url)
  connection.write(RECALL)
  await server.gate.next()
  server.process.kill('SIGTERM')
  t.equal(await server.ended, 1)
  t.match(server.output(), /killed by timeout/)
})

t.test('an uncaught error is logged and ends the process with exit code 1', async (t) => {
  const directory = t.testdir({
    'store.mjs': 'import { InMemoryVectorStore } from \'memory-gateway/lib/stores/in-memory/store.js\'\nexport class ' +
      'Store extends InMemoryVectorStore {\n  async search (request) {\n    setImmediate(() => { throw new ' +
      'Error(\'nobody catches this\') })\n    return await super.search(request)\n  }\n}\n',
    'config.yaml': 'vector_store: ./store.mjs:Store\n',
  })
  const server = await startServer(t, { SERVICES_CONFIG_PATH: `${directory}/config.yaml` })
  const connection = await RawConnection.open(t, server.url)
  connection.write(RECALL)
  t.equal((await connection.response()).status, 200)
  t.equal(await server.ended, 1)
  t.match(server.output(), /"level":60.*nobody catches this/)
})
