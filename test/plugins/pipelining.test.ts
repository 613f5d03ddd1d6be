import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { RawConnection, request } from '../blackbox/raw.js'
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

await t.test('a client that sends more of them is cut off, and nothing of its requests is kept', async (t) => {
  const app = await held(t)
  const connection = await RawConnection.open(t, app.url)
  connection.write(HELD + WHOAMI.repeat(1000))
  await connection.closed
  app.open()
  await app.until(() => app.app.activeRequests.size === 0)
  t.equal(app.log.filter(({ msg }) => msg === CUT_OFF).length, 1)
  t.equal((await app.get('/v1/whoami')).statusCode, 200)
})

await t.test('a client that leaves ends the requests that wait for others, too', async (t) => {
  const app = await held(t)
  const connection = await RawConnection.open(t, app.url)
  connection.write(HELD + WHOAMI.repeat(3) + request('GET', '/openapi.json'))
  await app.until(() => app.app.activeRequests.size === 5 && app.app.workBytes.held > 100_000)
  connection.socket.destroy()
  await app.until(() => app.app.activeRequests.size === 0)
  t.equal(app.app.workBytes.held, 0, 'answers that waited hold nothing any more')
  app.open()
})
