import { connect } from 'node:net'
import t from 'tap'
import { testApp } from '../helpers/app.js'
import { refused } from '../routes/support.js'

const HEADERS = { 'content-type': 'application/json' }

const served = [
  'localhost', 'LOCALHOST', 'localhost.', 'localhost:80', 'localhost:65535', 'app.localhost', 'a.b.localhost.:8080',
  '127.0.0.1', '127.0.0.1:8080', '127.255.0.9', '[::1]', '[::1]:8080', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]',
]
const foreign = [
  'evil.example', 'evil.example:8080', 'localhost.evil.example', 'notlocalhost', 'xlocalhost', '.localhost',
  'localhost..', '10.0.0.1', '0.0.0.0',
  '127.0.0.1.evil.example', '[::2]', '[2001:db8::1]:80', 'localhost@evil.example', 'evil.example@localhost',
  'user:word@localhost', 'localhost:80@evil.example',
  'localhost/evil', 'localhost,evil.example', 'localhost evil.example', 'localhost:evil', '::1', '[::1', '::1]',
  '[localhost]', ' ', '*', '*.localhost', 'http://localhost',
]

await t.test('dev mode serves loopback names and addresses', async (t) => {
  const { inject } = await testApp(t)
  for (const host of served) t.equal((await inject({ url: '/v1/whoami', headers: { host } })).statusCode, 200, host)
})

await t.test('any other Host is refused, and the connection ends', async (t) => {
  const { inject } = await testApp(t)
  for (const host of foreign) {
    const response = await inject({ url: '/v1/whoami', headers: { host } })
    refused(t, response, 403, 'host_not_allowed', {
      detail: 'The Host header names a host that this server does not serve; add the host to SERVICES_ALLOWED_HOSTS',
    })
    t.equal(response.headers.connection, 'close', host)
  }
})

await t.test('every route refuses it, whatever its method and its guard', async (t) => {
  const { inject, app } = await testApp(t, { adminToken: 'token' })
  const paths = app.routeTable.flatMap(({ method, url }) => [method].flat().map(
    (name) => ({ method: name as 'GET', url: url.replaceAll(/:\w+/g, 'x').replace('*', 'x') }),
  ))
  const others = [
    { method: 'GET' as const, url: '/nothing' }, { method: 'OPTIONS' as const, url: '/v1/recall' },
    { method: 'DELETE' as const, url: '/live' },
  ]
  t.ok(paths.some(({ url }) => url === '/openapi.json') && paths.some(({ url }) => url.startsWith('/docs')))
  for (const request of [...paths, ...others]) {
    const response = await inject({ ...request, headers: { host: 'evil.example', origin: 'http://evil.example' } })
    t.equal(response.statusCode, 403, `${request.method} ${request.url}`)
    if (request.method as string !== 'HEAD') t.equal(response.json().code, 'host_not_allowed')
  }
})

await t.test('no body is read for a refused Host', async (t) => {
  const { inject } = await testApp(t)
  refused(
    t, await inject({ method: 'POST', url: '/v1/recall', headers: { ...HEADERS, host: 'evil.example' }, payload: '{' }),
    403, 'host_not_allowed',
  )
})

await t.test('names in the configuration are served too, and similar names are not', async (t) => {
  const { inject } = await testApp(t, {
    allowedHosts: ['gateway.internal', '*.example.com', '10.0.0.1', '2001:db8::1'],
  })
  const status = async (host: string) => (await inject({ url: '/live', headers: { host } })).statusCode
  for (const host of [
    'gateway.internal', 'GATEWAY.internal.:8080', 'a.example.com', 'a.b.Example.com:1', '10.0.0.1:80',
    '[2001:DB8::0:1]:80', 'localhost',
  ]) {
    t.equal(await status(host), 200, host)
  }
  for (const host of [
    'internal', 'x.gateway.internal', 'example.com', '.example.com', 'evilexample.com', 'example.com.evil', '10.0.0.2',
    '[2001:db8::2]',
  ]) {
    t.equal(await status(host), 403, host)
  }
})

await t.test('a name that was accepted on one connection has no effect on another', async (t) => {
  const { inject } = await testApp(t)
  for (const host of ['localhost', 'evil.example', 'localhost', 'evil.example']) {
    t.equal((await inject({ url: '/live', headers: { host } })).statusCode, host === 'localhost' ? 200 : 403)
  }
})

await t.test('other modes authenticate callers, and accept any name', async (t) => {
  const { inject } = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' } })
  t.equal((await inject({ url: '/live', headers: { host: 'evil.example' } })).statusCode, 200)
  t.equal((await inject({ url: '/v1/whoami', headers: { host: 'evil.example' } })).statusCode, 401)
})

await t.test('the address at which a connection arrived is accepted, so that probes by address work', async (t) => {
  const { app } = await testApp(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  // On another machine the address is another one.
  app.server.prependListener(
    'connection', (socket) => { Object.defineProperty(socket, 'localAddress', { value: '::ffff:10.1.2.3' }) },
  )
  const ask = async (head: string) => await new Promise<string>((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => { socket.write(`GET /live ${head}\r\nConnection: close\r\n\r\n`) })
    socket.on('data', (data) => { received += data.toString() })
    socket.on('close', () => { resolve(received.slice(9, 12)) })
    socket.on('error', reject)
  })
  t.equal(await ask('HTTP/1.1\r\nHost: 10.1.2.3:8080'), '200')
  t.equal(await ask('HTTP/1.1\r\nHost: [::ffff:10.1.2.3]'), '403')
  t.equal(await ask('HTTP/1.1\r\nHost: 10.1.2.4'), '403')
  t.equal(await ask('HTTP/1.0'), '200', 'no Host at all, which no browser does')
  t.equal(await ask('HTTP/1.0\r\nHost: evil.example'), '403')
  t.equal(await ask('HTTP/1.1\r\nHost: '), '403')
})
