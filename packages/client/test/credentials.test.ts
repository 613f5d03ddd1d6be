import t from 'tap'
import { ANSWER, answering, HostileServer, refusing } from './hostile-server.js'
import { gateway } from './gateway.js'

t.test('an API key is sent with the principal', async (t) => {
  const { client } = await gateway(t, { auth: { mode: 'api_key', apiKey: 'the-secret-of-all' } })
  t.match(await client({ apiKey: 'the-secret-of-all', principal: 'user:alice' }).whoami(), { principal: 'user:alice' })
  await t.rejects(client({ apiKey: 'another' }).whoami(), { code: 'unauthenticated', status: 401 })
})

t.test('a principal may have characters beyond ASCII', async (t) => {
  const { client } = await gateway(t)
  for (const principal of ['user:zo\u00eb', 'user:\u00e0', 'user:\u0141ukasz', 'user:\u{1f600}']) {
    t.match(await client({ principal }).whoami(), { principal })
  }
})

t.test('a token function is called once more after a 401', async (t) => {
  const server = await HostileServer.start(t)
  const asked: Array<string | undefined> = []
  const { client, waits } = server.client({ token: async (rejected) => `token-${asked.push(rejected)}` })
  server.meets(refusing(401, 'unauthenticated'), answering(200, ANSWER))
  t.same(await client.retain({ bank_id: 'bank', content: 'x' }), ANSWER)
  t.same(asked, [undefined, 'token-1'])
  t.same(server.requests.map(({ headers }) => headers.authorization), ['Bearer token-1', 'Bearer token-2'])
  const [first, second] = server.requests.map(({ headers }) => headers['idempotency-key'])
  t.equal(first, second)
  t.same(waits, [])
})

t.test('a second 401 is thrown, and so is the first one when the token is a string', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(refusing(401, 'unauthenticated'))
  await t.rejects(server.client({ token: () => 'token' }).client.whoami(), {
    code: 'unauthenticated', requestId: 'r-1',
  })
  t.equal(server.requests.length, 2)
  await t.rejects(server.client({ token: 'token' }).client.whoami(), { code: 'unauthenticated', status: 401 })
  t.equal(server.requests.length, 3)
})

t.test('a token function fails with its own error, and cannot outlast the timeout of the call', async (t) => {
  const server = await HostileServer.start(t)
  const failing = server.client({ token: async () => { throw new RangeError('no token') } })
  await t.rejects(failing.client.whoami(), RangeError)
  const hanging = server.client({ token: async () => await new Promise<string>(() => {}), timeoutMs: 5 })
  await t.rejects(hanging.client.whoami(), { code: 'timed_out' })
  t.equal(server.requests.length, 0)
})

t.test('headers of the caller are sent, and an invalid header value is the fault of the caller', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(answering(200, ANSWER))
  const { client } = server.client({ headers: { 'x-mesh': 'blue' }, onBehalfOf: 'user:bob' })
  await client.whoami()
  t.match(server.requests[0]?.headers, { 'x-mesh': 'blue', 'x-service-on-behalf-of': 'user:bob' })
  await t.rejects(client.whoami({}, { requestId: 'a\nb' }), TypeError)
  t.equal(server.requests.length, 1)
})

t.test('credentials do not follow a redirect', async (t) => {
  const [server, other] = [await HostileServer.start(t), await HostileServer.start(t)]
  server.meets(answering(307, '', { location: `${other.url}/v1/whoami` }))
  await t.rejects(server.client({ apiKey: 'secret' }).client.whoami(), { code: 'unusable_answer', status: 307 })
  t.equal(other.requests.length, 0)
})

t.test('the path of the base URL is kept, and an invalid URL is refused', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(answering(200, ANSWER))
  await server.client({ baseUrl: `${server.url}/memory/` }).client.whoami()
  t.equal(server.requests[0]?.url, '/memory/v1/whoami')
  for (const baseUrl of [
    '', 'localhost', 'ftp://a', 'file:///a', 'http://a/?b=c', 'http://a/#b', 'http://ada:secret@a',
  ]) {
    t.throws(() => server.client({ baseUrl }), {
      name: 'TypeError', message: 'baseUrl must be an http or https URL without credentials, query and fragment',
    }, baseUrl)
  }
})
