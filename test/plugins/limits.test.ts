import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { until } from '../helpers/waiting.js'
import { refused } from '../routes/support.js'

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

await t.test('beyond requests_per_caller the caller gets 429, and others are served', async (t) => {
  const { store, waiting } = waitingStore()
  const { app, post } = await testApp(t, { file: { bounds: { requests_per_caller: 6 } } }, { store })
  const ask = async (principal: string) => await post(
    '/v1/recall', { bank_id: 'b', query: 'x' }, { 'x-service-principal': principal },
  )
  const first = Array.from({ length: 6 }, async () => await ask('user:mallory'))
  await until(() => waiting.length === 6)
  const seventh = await ask('user:mallory')
  refused(t, seventh, 429, 'too_many_requests', {
    detail: 'The caller already has 6 requests in flight (bounds.requests_per_caller)', retry_after_seconds: 1,
  })
  t.equal(seventh.headers['retry-after'], '1')
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

await t.test('requests are refused while the heap is nearly full, and probes are answered', async (t) => {
  const { app, get } = await testApp(t)
  t.equal(app.isUnderPressure(), false)
  const { memoryUsage } = process
  const full = () => ({ ...memoryUsage(), heapUsed: 1e15 })
  process.memoryUsage = Object.assign(full, { rss: memoryUsage.rss })
  t.teardown(() => { process.memoryUsage = memoryUsage })
  await until(() => app.isUnderPressure())
  refused(t, await get('/v1/whoami'), 503, 'server_busy', { detail: 'The memory of the server is nearly used up' })
  t.equal((await get('/live')).statusCode, 200)
  process.memoryUsage = memoryUsage
  await until(() => !app.isUnderPressure())
  t.equal((await get('/v1/whoami')).statusCode, 200)
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

await t.test('a request whose body does not come in time is answered', async (t) => {
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
  await once(socket, 'close')
  t.match(received, /^HTTP\/1\.1 400 [^]*"detail":"The request did not arrive in time","code":"invalid_request"/)
  await until(() => app.activeRequests.size === 0)
})
