import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setInterval } from 'node:timers'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'

const MIB = 1_048_576
const CUT_OFF = 'a client that reads its response too slowly is disconnected'

/** More than all buffers between server and client hold. */
const BYTES = 64 * MIB

/** A listening gateway. */
async function served (t: Test, bounds = {}) {
  const app = await testApp(t, { file: { bounds: { stalled_seconds: 60, read_bytes_per_second: 1024, ...bounds } } })
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  return { ...app, port: Number(new URL(url).port) }
}

/** Both ends of a connection, so that a test sees what the server sees. */
async function connected (t: Test, { app }: TestApp, port: number): Promise<{ client: Socket, server: Socket }> {
  const arrived = once(app.server, 'connection') as Promise<[Socket]>
  const client = connect(port, '127.0.0.1')
  client.on('error', () => {})
  t.teardown(() => { client.destroy() })
  const [server] = await arrived
  return { client, server }
}

/** Something that this end tells of, which has to come before the connection goes. */
async function come (socket: Socket, event: string): Promise<void> {
  const gone = new AbortController()
  const fail = () => { gone.abort(new Error(`The connection is gone, and ${event} did not come`)) }
  if (socket.destroyed) fail()
  socket.once('close', fail)
  try {
    await once(socket, event, { signal: gone.signal })
  } finally {
    socket.off('close', fail)
  }
}

/** Until nothing has moved for so many turns of the loop that both ends share; no more can move than BYTES. */
async function settled (socket: Socket): Promise<void> {
  for (let still = 0, last = -1; still < 300;) {
    const now = socket.bytesWritten - socket.writableLength
    still = now === last ? still + 1 : 0
    last = now
    await setImmediate()
  }
}

/** A client that has begun to read an export, and then reads nothing. */
async function stopped (t: Test, app: TestApp, port: number): Promise<{ client: Socket, server: Socket }> {
  const { client, server } = await connected(t, app, port)
  client.write(EXPORT)
  await come(client, 'data')
  client.pause()
  await settled(server)
  t.ok(server.writableLength > 0, 'bytes wait to be read')
  return { client, server }
}

/** The client takes so much that the system takes 1 MiB more from the server, and stops again. */
async function takes ({ client, server }: { client: Socket, server: Socket }): Promise<void> {
  const before = server.bytesWritten - server.writableLength
  client.resume()
  while (server.bytesWritten - server.writableLength - before < MIB) await come(server, 'drain')
  client.pause()
  await settled(server)
}

/** An export, which has no length but that of its bank; its lines come from here. */
function endless (app: TestApp, line: () => Promise<string> = async () => 'x'.repeat(16_000)): void {
  const { transfer } = app.app.memory
  transfer.export = async () => ({
    async * [Symbol.asyncIterator] () { for (let sent = 0; sent < BYTES; sent += 16_000) yield await line() },
    end: () => {},
  })
}

const EXPORT = 'GET /v1/banks/b/export HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: the-export\r\n\r\n'

await t.test('a client that reads nothing is disconnected after bounds.stalled_seconds, and logged', async (t) => {
  const app = await served(t)
  endless(app)
  const { server } = await stopped(t, app, app.port)
  app.app.cutOffSlowReaders(0)
  app.app.cutOffSlowReaders(59_999)
  t.equal(server.destroyed, false)
  app.app.cutOffSlowReaders(60_000)
  t.equal(server.destroyed, true)
  t.match(app.log.filter(({ msg }) => msg === CUT_OFF), [{ level: 30, request_id: 'the-export' }])
  await settled(server)
  t.equal(app.app.activeRequests.size, 0)
  t.equal(app.app.workBytes.reservedBytes, 0)
})

await t.test('the time is that of the setting', async (t) => {
  for (const seconds of [1, 20, 300]) {
    const app = await served(t, { stalled_seconds: seconds })
    endless(app)
    const { server } = await stopped(t, app, app.port)
    app.app.cutOffSlowReaders(0)
    app.app.cutOffSlowReaders(1000 * seconds - 1)
    t.equal(server.destroyed, false)
    app.app.cutOffSlowReaders(1000 * seconds)
    t.equal(server.destroyed, true)
  }
})

await t.test('a client that continues to read is not disconnected until it stops', async (t) => {
  const app = await served(t)
  endless(app)
  const ends = await stopped(t, app, app.port)
  const { server } = ends
  let now = 0
  app.app.cutOffSlowReaders(now)
  // It stops in the middle of a window in which it has read enough.
  for (let minute = 0; minute < 3; minute++) {
    await takes(ends)
    app.app.cutOffSlowReaders(now += 50_000)
    t.equal(server.destroyed, false)
  }
  app.app.cutOffSlowReaders(now + 59_999)
  t.equal(server.destroyed, false)
  app.app.cutOffSlowReaders(now + 60_000)
  t.equal(server.destroyed, true)
})

await t.test('a client that reads fewer than bounds.read_bytes_per_second is disconnected', async (t) => {
  const app = await served(t, { read_bytes_per_second: 1_000_000 })
  endless(app)
  const ends = await stopped(t, app, app.port)
  const { server } = ends
  app.app.cutOffSlowReaders(0)
  await takes(ends)
  app.app.cutOffSlowReaders(30_000)
  t.equal(server.destroyed, false)
  app.app.cutOffSlowReaders(60_000)
  t.equal(server.destroyed, true)
})

await t.test('what a client has read before does not count for the following time', async (t) => {
  const app = await served(t, { read_bytes_per_second: 200_000 })
  endless(app)
  const ends = await stopped(t, app, app.port)
  const { server } = ends
  const before = server.bytesWritten - server.writableLength
  app.app.cutOffSlowReaders(0)
  while (server.bytesWritten - server.writableLength - before < 12_000_000) await takes(ends)
  app.app.cutOffSlowReaders(60_000)
  t.equal(server.destroyed, false)
  await takes(ends)
  app.app.cutOffSlowReaders(119_999)
  t.equal(server.destroyed, false)
  app.app.cutOffSlowReaders(120_000)
  t.equal(server.destroyed, true)
})

await t.test('no client is slow while no bytes wait to be read', async (t) => {
  const app = await served(t)
  let more = () => {}
  endless(app, async () => await new Promise((resolve) => { more = () => { resolve('one line\n') } }))
  const { client, server } = await connected(t, app, app.port)
  client.pause()
  client.write(EXPORT)
  const idle = await connected(t, app, app.port)
  await settled(server)
  for (let hour = 0; hour < 5; hour++) {
    app.app.cutOffSlowReaders(hour * 3_600_000)
    more()
    await settled(server)
  }
  t.equal(server.destroyed, false, 'an answer that is not complete')
  t.equal(idle.server.destroyed, false, 'a connection without a request')
})

await t.test('an unread answer that belongs to no known request ends the connection, too', async (t) => {
  const app = await served(t)
  const { client, server } = await connected(t, app, app.port)
  client.pause()
  // What a probe or a refusal writes belongs to no exchange that is known.
  server.write(Buffer.alloc(BYTES))
  await settled(server)
  app.app.cutOffSlowReaders(0)
  app.app.cutOffSlowReaders(60_000)
  t.equal(server.destroyed, true)
  t.match(app.log.filter(({ msg }) => msg === CUT_OFF), [{ request_id: undefined }])
})

await t.test('a listening gateway checks periodically, with a monotonic clock, until it is closed', async (t) => {
  const timers: Array<{ look: () => void, everyMs: number | undefined, timer: NodeJS.Timeout }> = []
  t.intercept(globalThis, 'setInterval', {
    value: (look: () => void, everyMs?: number) => {
      const timer = setInterval(() => {}, 2 ** 31 - 1)
      timers.push({ look, everyMs, timer })
      return timer
    },
  })
  const app = await served(t)
  const sweep = timers.find(({ everyMs }) => everyMs === 5000)!
  const { cutOffSlowReaders } = app.app
  const lookAt = async (instant: number) => {
    const looked = new Promise<void>((resolve) => {
      app.app.cutOffSlowReaders = (...given) => {
        cutOffSlowReaders(...given)
        resolve()
      }
    })
    const clock = t.capture(performance, 'now', () => instant)
    sweep.look()
    clock.restore()
    await looked
  }
  endless(app)
  const { server } = await stopped(t, app, app.port)
  await lookAt(1_000_000)
  await lookAt(1_050_000)
  t.equal(server.destroyed, false)
  // Something may have been acknowledged between the first two looks.
  await lookAt(1_110_000)
  t.equal(server.destroyed, true)
  t.match(app.log.filter(({ msg }) => msg === CUT_OFF), [{ request_id: 'the-export' }])
  const ended = t.capture(globalThis, 'clearInterval', globalThis.clearInterval)
  await app.app.close()
  t.ok(ended().some(({ args }) => args[0] === sweep.timer))
})
