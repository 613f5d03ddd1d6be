import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { buildApp } from '../../app.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testConfig } from '../helpers/config.js'

/** A listening app, and what settles when it has begun to stop. */
async function listening (t: Test, store = new InMemoryVectorStore()) {
  const app = await buildApp(testConfig({ logLevel: 'silent' }), { overrides: { store } })
  t.teardown(async () => { await app.close() })
  const stopping = new Promise<void>((resolve) => { app.addHook('preClose', async () => { resolve() }) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  return { app, stopping, socket: connect(port, '127.0.0.1') }
}

/** What comes in: one settles with the first bytes, the other with everything when the server hangs up. */
function reading (socket: Socket): { first: Promise<void>, everything: Promise<string> } {
  let received = ''
  return {
    first: new Promise((resolve) => { socket.once('data', () => { resolve() }) }),
    everything: new Promise((resolve, reject) => {
      socket.on('data', (data) => { received += data.toString() })
      socket.on('close', () => { resolve(received) })
      socket.on('error', reject)
    }),
  }
}

await t.test('a request in flight finishes when the server stops', async (t) => {
  const store = new InMemoryVectorStore()
  let letGo: () => void = () => undefined
  const arrived = new Promise<void>((resolve) => {
    store.search = async () => {
      resolve()
      await new Promise<void>((resolve) => { letGo = resolve })
      return { lexical: [], total: 0 }
    }
  })
  const { app, stopping, socket } = await listening(t, store)
  const { everything } = reading(socket)
  const body = JSON.stringify({ bank_id: 'b', query: 'x' })
  socket.write('POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
    `${body.length}\r\n\r\n${body}`)
  await arrived
  const closed = app.close()
  await stopping
  letGo()
  t.match(await everything, /^HTTP\/1\.1 200 [^]*"hits":\[\]/)
  await closed
})

await t.test('a request that arrives while the server stops is refused with Retry-After', async (t) => {
  const { app, stopping, socket } = await listening(t)
  const { first, everything } = reading(socket)
  // The half of a second request keeps the connection from being idle, and so from being closed at once.
  socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\nGET /live HTTP/1.1\r\nHo')
  await first
  const closed = app.close()
  await stopping
  socket.write('st: localhost\r\n\r\n')
  const [ok, refused] = (await everything).split(/(?=HTTP\/1\.1 \d)/) as [string, string]
  t.match(ok, /^HTTP\/1\.1 200 /)
  t.match(refused, /^HTTP\/1\.1 503 /)
  t.match(refused, /\r\nretry-after: 1\r\n/i)
  t.match(refused, /\r\nconnection: close\r\n/i)
  t.match(JSON.parse(refused.split('\r\n\r\n')[1]!), {
    code: 'shutting_down', detail: /shutting down/, request_id: /\S/,
  })
  await closed
})
