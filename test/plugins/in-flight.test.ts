import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { turns } from '../../lib/concurrency/turn-budget.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { until } from '../helpers/waiting.js'
import { refused } from '../routes/support.js'
import { openSource } from '../routes/webhooks.js'

/** A store in which every search waits until the test releases it. */
function waitingStore () {
  const store = new InMemoryVectorStore()
  const waiting: Array<() => void> = []
  const search = store.search.bind(store)
  store.search = async (...given) => {
    await new Promise<void>((resolve) => { waiting.push(resolve) })
    return await search(...given)
  }
  return { store, waiting }
}

await t.test('beyond requests_in_flight a request gets Retry-After, and probes are answered', async (t) => {
  const { store, waiting } = waitingStore()
  const { app, post, get } = await testApp(t, { file: { bounds: { requests_in_flight: 2 } } }, { store })
  const first = [post('/v1/recall', { bank_id: 'b', query: 'x' }), post('/v1/recall', { bank_id: 'b', query: 'x' })]
  await until(() => waiting.length === 2)
  const third = await get('/v1/whoami')
  refused(t, third, 503, 'server_busy', { detail: /bounds\.requests_in_flight/, retry_after_seconds: 1 })
  t.equal(third.headers['retry-after'], '1')
  refused(t, await post('/v1/retain', { bank_id: 'b', content: 'x' }), 503, 'server_busy')
  refused(t, await get('/openapi.json'), 503, 'server_busy')
  for (const url of ['/live', '/health/live', '/health', '/metrics']) t.equal((await get(url)).statusCode, 200, url)
  for (const letGo of waiting) letGo()
  t.same((await Promise.all(first)).map(({ statusCode }) => statusCode), [200, 200])
  t.equal((await get('/v1/whoami')).statusCode, 200)
  t.equal(app.activeRequests.size, 0)
})

await t.test('one caller has three quarters of requests_in_flight, and others the rest', async (t) => {
  const { store, waiting } = waitingStore()
  const { app, post } = await testApp(t, { file: { bounds: { requests_in_flight: 8 } } }, { store })
  const ask = async (principal: string) => await post(
    '/v1/recall', { bank_id: 'b', query: 'x' }, { 'x-service-principal': principal },
  )
  const first = Array.from({ length: 6 }, async () => await ask('user:mallory'))
  await until(() => waiting.length === 6)
  refused(t, await ask('user:mallory'), 503, 'server_busy', {
    detail: 'The server is already processing 6 requests of the caller, the maximum of its share ' +
      '(bounds.requests_in_flight)',
    retry_after_seconds: 1,
  })
  const other = ask('user:ada')
  await until(() => waiting.length === 7)
  for (const letGo of waiting) letGo()
  t.same((await Promise.all([...first, other])).map(({ statusCode }) => statusCode), Array(7).fill(200))
  const again = Array.from({ length: 6 }, async () => await ask('user:mallory'))
  await until(() => waiting.length === 13)
  for (const letGo of waiting) letGo()
  t.ok((await Promise.all(again)).every(({ statusCode }) => statusCode === 200), 'they no longer count')
  t.equal(app.activeRequests.size, 0)
})

await t.test('bodies of one address that never end leave room for the requests of others', async (t) => {
  const file = {
    bounds: { requests_in_flight: 40 },
    sources: { tickets: openSource() },
  }
  const { app, post } = await testApp(t, { file })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  for (let index = 0; index < 50; index++) {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => { socket.destroy() })
    socket.on('error', () => {})
    socket.write('POST /v1/ingest/webhook/tickets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      'Content-Length: 100\r\n\r\n{')
  }
  await until(() => app.activeRequests.size >= 30)
  t.equal((await post('/v1/recall', { bank_id: 'b', query: 'x' })).statusCode, 200)
})

await t.test('the number of connections is limited, and a further one is closed immediately', async (t) => {
  const { app } = await testApp(t, { file: { bounds: { connections: 2 } } })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => { socket.destroy() })
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  const [first, second] = [await open(), await open()]
  const third = await open()
  third.resume()
  await once(third, 'close')
  second.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(second, 'data')
  first.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [answer] = await once(first, 'data') as [Buffer]
  t.match(answer.toString(), /^HTTP\/1\.1 200 /)
})

await t.test('the turns learn of each accepted connection, also of one above the limit', async (t) => {
  const { app } = await testApp(t, { file: { bounds: { connections: 1 } } })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const accepted = t.capture(turns, 'connectionAccepted')
  const first = connect(port, '127.0.0.1')
  t.teardown(() => { first.destroy() })
  first.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(first, 'data')
  t.equal(accepted().length, 1)
  const second = connect(port, '127.0.0.1')
  second.on('error', () => {})
  second.resume()
  await once(second, 'close')
  t.equal(accepted().length, 1)
})

await t.test('a request whose body does not come in time is answered, and its bytes are released', async (t) => {
  const { app } = await testApp(t, { file: { bounds: { request_seconds: 1 } } })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  t.equal(app.server.requestTimeout, 1000)
  t.equal(app.server.headersTimeout, 1000)
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (data) => { received += data.toString() })
  socket.write('POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
    `100000\r\n\r\n${' '.repeat(70_000)}`)
  await until(() => app.workBytes.reservedBytes > 0)
  await once(socket, 'close')
  t.match(received, /^HTTP\/1\.1 400 [^]*"detail":"The request did not arrive in time","code":"invalid_request"/)
  await until(() => app.workBytes.reservedBytes === 0 && app.activeRequests.size === 0)
})

await t.test('many simultaneous requests are all admitted, over several turns of the event loop', async (t) => {
  const { post } = await testApp(t)
  const body = { bank_id: 'b', content: 'Tea. '.repeat(2000) }
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => post(
    '/v1/retain', { ...body, metadata: { index } },
  )))
  t.ok(answers.every(({ statusCode }) => statusCode === 200))
})

await t.test('many requests of one caller do not delay another caller behind the same address', async (t) => {
  const store = new InMemoryVectorStore()
  const list = store.list.bind(store)
  // Longer than a slice of the event loop.
  store.list = async (...given) => {
    for (const until = performance.now() + 3; performance.now() < until;);
    return await list(...given)
  }
  const { get } = await testApp(t, {}, { store })
  const ask = async (principal: string) => await get('/v1/banks/b/memories', { 'x-service-principal': principal })
  let answered = 0
  const requests = Promise.all(Array.from({ length: 40 }, async () => {
    await ask('user:mallory')
    answered++
  }))
  t.equal((await ask('user:ada')).statusCode, 200)
  t.ok(answered < 20, `${answered} of the requests were answered first`)
  await requests
})
