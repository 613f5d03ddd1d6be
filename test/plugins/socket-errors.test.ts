import { connect } from 'node:net'
import t from 'tap'
import { MAX_HEADERS } from '../../plugins/http-rules.js'
import { testApp } from '../helpers/app.js'

const app = (await testApp(t)).app
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as { port: number }

/** Sends bytes as they are and answers what comes back until the server hangs up. */
async function exchange (bytes: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => { socket.write(bytes) })
    socket.on('data', (data) => { received += data.toString() })
    socket.on('close', () => { resolve(received) })
    socket.on('error', reject)
  })
}

/** A request of GET /live with so many headers, and more. */
function withHeaders (count: number, more = ''): string {
  const filler = Array.from({ length: count - 1 }, (_, index) => `${index}:\r\n`).join('')
  return `GET /live HTTP/1.1\r\nHost: localhost\r\n${filler}${more}\r\n`
}

const broken: Record<string, string> = {
  'what is no HTTP at all': 'MEMORY PLEASE\r\n\r\n',
  'a header without a colon': 'GET /live HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n',
  'a method that does not exist': 'REMEMBER /live HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'two lengths': 'POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  'one header too many': withHeaders(MAX_HEADERS + 1),
  // Node keeps some of them, and not the last ones.
  'thousands of headers, then those of a body': withHeaders(4000, 'Content-Length: 2\r\n'),
  'headers that are too large': `GET /live HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`,
}

for (const [what, bytes] of Object.entries(broken)) {
  await t.test(`${what} is answered like every other error, and the connection ends`, async (t) => {
    const [head, body] = (await exchange(bytes)).split('\r\n\r\n') as [string, string]
    t.match(head, /^HTTP\/1\.1 400 Bad Request\r\n/)
    t.match(head, /\r\nContent-Type: application\/json/i)
    t.match(head, /\r\nConnection: close/i)
    const id = /\r\nX-Request-Id: ([0-9a-f-]{36})/i.exec(head)?.[1]
    t.match(JSON.parse(body), { code: 'invalid_request', detail: /^The request /, request_id: id })
    t.equal(Buffer.byteLength(body), Number(/Content-Length: (\d+)/i.exec(head)?.[1]))
  })
}

await t.test('a request may have as many headers as allowed', async (t) => {
  const answer = await exchange(`${withHeaders(MAX_HEADERS - 1, 'Connection: close\r\n')}`)
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
})
