import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { RawConnection, request } from '../blackbox/raw.js'
import { testApp } from '../helpers/app.js'

const LENGTH = 40_000
const CHUNKED = 'POST /v1/retain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
  'chunked\r\n\r\n'

/** A request whose body comes in chunks of one byte. */
function byteByByte (bankId: string): string {
  const body = JSON.stringify({ bank_id: bankId, content: 'x'.repeat(LENGTH) })
  return `${CHUNKED}${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`
}

/** A listening gateway, and how often it has held a connection. */
async function listening (t: Test) {
  const app = await testApp(t)
  const held = { count: 0 }
  app.app.server.on('connection', (socket: Socket) => { socket.on('pause', () => { held.count += 1 }) })
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  return { ...app, url, held }
}

await t.test('bodies in chunks of one byte are throttled, but read completely', async (t) => {
  const { url, held, post } = await listening(t)
  const connections = await Promise.all(Array.from({ length: 4 }, async () => await RawConnection.open(t, url)))
  for (const [index, connection] of connections.entries()) {
    connection.write(byteByByte(`paced-${index}`) + request('GET', `/v1/banks/paced-${index}`))
  }
  for (const [index, connection] of connections.entries()) {
    t.equal((await connection.response()).status, 200)
    const { status, body } = await connection.response()
    t.equal(status, 200)
    t.equal(JSON.parse(body.toString()).bank_id, `paced-${index}`)
    t.match(
      (await post('/v1/retain', { bank_id: `paced-${index}`, content: 'x'.repeat(LENGTH) })).json(),
      { deduplicated: true }, 'every byte has arrived',
    )
  }
  t.ok(held.count >= connections.length)
})

await t.test('a body in chunks that is not read does not end the connection', async (t) => {
  const { url } = await listening(t)
  const connection = await RawConnection.open(t, url)
  connection.write(byteByByte('nowhere').replace('/v1/retain', '/v1/nowhere') + request('GET', '/live'))
  t.equal((await connection.response()).status, 404)
  t.equal((await connection.response()).status, 200)
})

await t.test('every one of many connections is answered', async (t) => {
  const { url } = await listening(t)
  const connections = await Promise.all(Array.from({ length: 200 }, async () => await RawConnection.open(t, url)))
  for (const connection of connections) connection.write(request('GET', '/v1/whoami').repeat(3))
  for (const connection of connections) {
    for (let count = 0; count < 3; count++) t.equal((await connection.response()).status, 200)
  }
})
