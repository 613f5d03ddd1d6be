import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { post, RawConnection, request } from '../blackbox/raw.js'
import { testApp } from '../helpers/app.js'
import { until } from '../helpers/waiting.js'
import { latch } from '../routes/reflecting.js'

const WHOAMI = request('GET', '/v1/whoami')
const CUT_OFF = 'a client that sends a request before the answer to its last one is disconnected'

await t.test('a connection that sends a request before the answer to its last one is closed', async (t) => {
  const app = await testApp(t)
  const { opened, open } = latch()
  const { memory } = app.app
  const { run } = memory
  memory.run = async (operation, request, call) => {
    if (operation.name === 'listBanks') await opened
    return await run(operation, request, call)
  }
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const connection = await RawConnection.open(t, url)
  connection.write(request('GET', '/v1/banks') + post('/v1/retain', { bank_id: 'b', content: 'x' }) +
    WHOAMI.repeat(1000))
  await connection.closed
  t.equal(connection.rest, '')
  open()
  await until(() => app.app.activeRequests.size === 0)
  t.equal(app.log.filter(({ msg }) => msg === CUT_OFF).length, 1)
  t.equal((await app.get('/v1/banks/b')).json<{ memory_count: number }>().memory_count, 0, 'it was not executed')
})

await t.test('requests that wait for the answers before them are served on one connection', async (t) => {
  const app = await testApp(t)
  const connection = await RawConnection.open(t, await app.app.listen({ port: 0, host: '127.0.0.1' }))
  for (let index = 0; index < 3; index++) {
    connection.write(WHOAMI)
    t.equal((await connection.response()).status, 200)
  }
})

await t.test('a client that does not read its answer is disconnected, and one that reads slowly is not', async (t) => {
  const app = await testApp(t, { file: { bounds: { stalled_seconds: 3 } } })
  const items = Array.from({ length: 1000 }, (_, index) => ({ content: `${index} ${'x'.repeat(1000)}` }))
  for (let bank = 0; bank < 30; bank++) {
    t.equal((await app.post('/v1/retain/batch', {
      bank_id: 'big',
      items: items.map(({ content }) => (
        { content: `${bank} ${content}` }
      )),
    })).statusCode, 200)
  }
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const asking = async () => {
    const accepted = once(app.app.server, 'connection') as Promise<[Socket]>
    const client = connect(Number(new URL(url).port), '127.0.0.1')
    t.teardown(() => { client.destroy() })
    client.on('error', () => {})
    client.write(request('GET', '/v1/banks/big/export'))
    const [server] = await accepted
    await once(client, 'data')
    client.pause()
    return { client, server }
  }
  const idle = await asking()
  const slow = await asking()
  const reading = setInterval(() => { slow.client.read(65_536) }, 100)
  t.teardown(() => { clearInterval(reading) })
  await once(idle.server, 'close')
  t.equal(slow.server.destroyed, false)
})

await t.test('a handler that computes for long is not disconnected', async (t) => {
  const app = await testApp(t, { file: { bounds: { stalled_seconds: 1 } } })
  const { memory } = app.app
  const { run } = memory
  memory.run = async (operation, request, call) => {
    if (operation.name === 'listBanks') await new Promise((resolve) => { setTimeout(resolve, 2500) })
    return await run(operation, request, call)
  }
  const connection = await RawConnection.open(t, await app.app.listen({ port: 0, host: '127.0.0.1' }))
  connection.write(request('GET', '/v1/banks'))
  t.equal((await connection.response()).status, 200)
})
