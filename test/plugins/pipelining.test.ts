import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { post, RawConnection, request } from '../blackbox/raw.js'
import { testApp } from '../helpers/app.js'
import { latch } from '../routes/reflecting.js'

const WHOAMI = request('GET', '/v1/whoami')
const CUT_OFF = 'a client that sends requests without reading the responses is disconnected'

/** A listening gateway that lists no banks until the test says so. */
async function held (t: Test) {
  const app = await testApp(t)
  const { opened, open } = latch()
  const { banks } = app.app.memory
  const list = banks.list.bind(banks)
  banks.list = async (...given) => {
    await opened
    return await list(...given)
  }
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const until = async (condition: () => boolean) => { while (!condition()) await setImmediate() }
  return { ...app, open, url, until }
}

const HELD = request('GET', '/v1/banks')

await t.test('32 requests may wait for an answer, again and again', async (t) => {
  const app = await held(t)
  const connection = await RawConnection.open(t, app.url)
  connection.write(HELD + WHOAMI.repeat(32))
  await app.until(() => app.app.activeRequests.size === 33)
  app.open()
  for (let index = 0; index < 33; index++) t.equal((await connection.response()).status, 200)
  connection.write(HELD + WHOAMI.repeat(32))
  for (let index = 0; index < 33; index++) t.equal((await connection.response()).status, 200)
})

await t.test('requests that wait are served one after the other', async (t) => {
  const app = await held(t)
  const connection = await RawConnection.open(t, app.url)
  const retain = post('/v1/retain', { bank_id: 'b', content: 'x' })
  connection.write(HELD + retain)
  await app.until(() => app.app.activeRequests.size === 2)
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  t.equal((await app.get('/v1/banks/b/memories')).json<{ memories: unknown[] }>().memories.length, 0)
  app.open()
  for (let index = 0; index < 2; index++) t.equal((await connection.response()).status, 200)
  t.equal((await app.get('/v1/banks/b/memories')).json<{ memories: unknown[] }>().memories.length, 1)
})

await t.test('a client that sends more requests is disconnected, and none of its requests remains', async (t) => {
  const app = await held(t)
  let seen = 0
  app.app.server.on('request', () => { seen++ })
  const connection = await RawConnection.open(t, app.url)
  connection.write(HELD + WHOAMI.repeat(1000))
  await connection.closed
  app.open()
  await app.until(() => app.app.activeRequests.size === 0)
  t.equal(app.log.filter(({ msg }) => msg === CUT_OFF).length, 1)
  t.equal(seen, 34, 'Node parses no more of them')
  t.equal((await app.get('/v1/whoami')).statusCode, 200)
})

await t.test('a client that disconnects ends the requests that wait for others, too', async (t) => {
  const app = await held(t)
  const connection = await RawConnection.open(t, app.url)
  connection.write(HELD + WHOAMI.repeat(4))
  await app.until(() => app.app.activeRequests.size === 5)
  connection.socket.destroy()
  await app.until(() => app.app.activeRequests.size === 0)
  app.open()
})
