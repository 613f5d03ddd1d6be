import { once } from 'node:events'
import { type AddressInfo } from 'node:net'
import t from 'tap'
import { RawConnection } from '../blackbox/raw.js'
import { testApp } from '../helpers/app.js'

const { app, inject, retain } = await testApp(t)
await retain('b', 'Tea.')
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const open = async () => await RawConnection.open(t, `http://127.0.0.1:${port}`)
const head = (path: string, method = 'GET') => (
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n`
)
const PATHS = ['/v1/banks', '/v1/banks/b', '/v1/banks/b/memories?limit=1', '/v1/whoami', '/v1/admin/sources', '/live']

await t.test('a chunked GET request without data is served like one without a body', async (t) => {
  const connection = await open()
  for (const path of PATHS) {
    connection.write(`${head(path)}\r\n0\r\n\r\n`)
    t.equal((await connection.response()).status, 200, path)
  }
})

await t.test('the end of the body may come later than the headers', async (t) => {
  const connection = await open()
  const arrived = once(app.server, 'request')
  connection.write(`${head('/v1/banks')}\r\n`)
  await arrived
  connection.write('0\r\n\r\n')
  const { status, body } = await connection.response()
  t.match([status, JSON.parse(body)], [200, { banks: [{ bank_id: 'b' }] }])
})

await t.test('a chunked body without members counts as none, and another is refused', async (t) => {
  const connection = await open()
  const ask = async (body: string) => {
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('')
    connection.write(`${head('/v1/banks')}Content-Type: application/json\r\n\r\n${chunks}0\r\n\r\n`)
    return await connection.response()
  }
  for (const body of ['{}', 'null']) t.equal((await ask(body)).status, 200, body)
  const { status, body } = await ask('{"limit":1}')
  t.equal(status, 400)
  t.match(JSON.parse(body), { detail: 'A GET request has no body: send parameters in the query string' })
  t.equal((await ask('')).status, 200, 'the connection is still in use')
})

await t.test('HEAD and requests of the program itself are served too', async (t) => {
  for (const method of ['GET', 'HEAD'] as const) {
    const response = await inject({ method, url: '/v1/banks', headers: { 'transfer-encoding': 'chunked' } })
    t.equal(response.statusCode, 200, method)
  }
})

await t.test('a chunked request of another method without data needs no Content-Type', async (t) => {
  const connection = await open()
  const ask = async (method: string, path: string, body = '') => {
    connection.write(`${head(path, method)}\r\n${body}0\r\n\r\n`)
    return await connection.response()
  }
  await retain('gone', 'Coffee.')
  t.match(JSON.parse((await ask('DELETE', '/v1/banks/gone')).body), { deleted_count: 1 })
  for (const path of ['/v1/banks/b/config', '/v1/admin/banks/b/config']) {
    t.equal((await ask('DELETE', path)).status, 200, path)
  }
  for (const [method, path, body] of [
    ['DELETE', '/v1/banks/b', '2\r\n{}\r\n'], ['POST', '/v1/recall', ''],
  ] as const) {
    const { status, body: refusal } = await ask(method, path, body)
    t.equal(status, 415, path)
    t.match(JSON.parse(refusal), { detail: 'Content-Type is missing: this route takes application/json' })
  }
  t.equal((await ask('GET', '/v1/banks/b')).status, 200, 'the connection is still in use')
})

await t.test('the end of such a body may come later than the headers', async (t) => {
  const connection = await open()
  const arrived = once(app.server, 'request')
  connection.write(`${head('/v1/banks/b/config', 'DELETE')}\r\n`)
  await arrived
  connection.write('0\r\n\r\n')
  t.equal((await connection.response()).status, 200)
  for (const payload of [{ payload: '' }, {}]) {
    const headers = { 'transfer-encoding': 'chunked' }
    const response = await inject({ method: 'DELETE', url: '/v1/banks/b/config', headers, ...payload })
    t.equal(response.statusCode, 200, 'nor does one of the program itself')
  }
})
