import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { RunningServer } from '../helpers/server.js'
import { startGated, written, type Gate } from './gate.js'
import { RawConnection, request } from './raw.js'

const COUNT = 5000
const EXPORT = request('GET', '/v1/banks/large/export')
/** As much metadata as is allowed: 20 MB in all, more than the buffers between server and client hold. */
const FILLER = 'x'.repeat(4000)

/** A server with a bank of 5,000 memories. */
async function large (t: Test): Promise<RunningServer & { gate: Gate }> {
  const server = await startGated(t, 'WatchedStore')
  for (let start = 0; start < COUNT; start += 1000) {
    const items = Array.from(
      { length: 1000 }, (_, index) => ({ content: `Memory ${start + index}`, metadata: { filler: FILLER } }),
    )
    const response = await fetch(`${server.url}/v1/retain/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ bank_id: 'large', items }),
    })
    if (response.status !== 200) throw new Error(await response.text())
    await response.text()
  }
  return server
}

/** An export whose reader reads the first bytes and then none. */
async function stalled (t: Test, { url }: RunningServer): Promise<RawConnection> {
  const connection = await RawConnection.open(t, url)
  connection.write(EXPORT)
  await once(connection.socket, 'data')
  connection.socket.pause()
  return connection
}

/** Counts what the store has handed out: a byte for every hundred memories. */
async function progress (gate: Gate): Promise<{ read: () => number, end: Promise<unknown> }> {
  const socket = await gate.next()
  let bytes = 0
  socket.on('data', (data: Buffer) => { bytes += data.length })
  return { read: () => bytes * 100, end: once(socket, 'close') }
}

function linesOf (body: string): Array<Record<string, unknown>> {
  return body.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
}

t.test('an export of 5,000 memories', async (t) => {
  const server = await large(t)
  const get = async (path: string) => await (await fetch(`${server.url}${path}`)).text()

  await t.test('waits for a slow reader, and contains the bank as it was at the time of the request', async (t) => {
    const connection = await stalled(t, server)
    const { read, end } = await progress(server.gate)
    for (let turn = 0; turn < 100; turn++) await get('/v1/whoami')
    t.ok(read() < COUNT, `${read()} memories were read for a reader that takes none`)
    const response = await fetch(`${server.url}/v1/forget`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        bank_id: 'large', memory_ids: [JSON.parse(await get('/v1/banks/large/memories?limit=1')).memories[0].memory_id],
      }),
    })
    t.match(await response.json(), { deleted_count: 1 })

    connection.socket.resume()
    const { status, headers, body } = await connection.response()
    t.equal(status, 200)
    t.equal(headers['content-type'], 'application/x-ndjson')
    const [header, ...memories] = linesOf(body)
    t.match(header, { format: 'memory-gateway-export', memory_count: COUNT })
    t.equal(memories.length, COUNT)
    t.equal(new Set(memories.map(({ memory_id: id }) => id)).size, COUNT)
    t.same(
      memories.map(({ text }) => text), Array.from({ length: COUNT }, (_, index) => `Memory ${index}`), 'oldest first',
    )
    await end
  })

  await t.test('a client that disconnects during an export ends it, and the server continues', async (t) => {
    const readers = []
    for (let turn = 0; turn < 10; turn++) {
      const connection = await stalled(t, server)
      readers.push(await progress(server.gate))
      if (turn % 2 === 0) connection.socket.resetAndDestroy()
      else connection.socket.destroy()
    }
    await Promise.all(readers.map(async ({ end }) => await end))
    t.ok(readers.every(({ read }) => read() < COUNT), 'nothing is read to the end without a reader')
    t.equal(JSON.parse(await get('/v1/banks/large/stats')).memory_count, COUNT - 1)
    t.notMatch(server.output(), /"level":[56]0/)
  })

  await t.test('is finished when the server stops meanwhile', async (t) => {
    const probe = await RawConnection.open(t, server.url)
    probe.write(request('GET', '/live'))
    await probe.response()
    const connection = await stalled(t, server)
    server.process.kill('SIGTERM')
    await written(server, /stopping/)
    await probe.closed
    connection.socket.resume()
    t.equal(linesOf((await connection.response()).body).length, COUNT)
    t.equal(await server.ended, 0)
  })
})

t.test('bytes that are not HTTP, sent in the middle of an export, add nothing to it', async (t) => {
  const server = await startGated(t, 'GatedStore')
  for (const content of ['One.', 'Two.', 'Three.']) {
    await (await fetch(`${server.url}/v1/retain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ bank_id: 'large', content }),
    })).text()
  }
  const connection = await RawConnection.open(t, server.url)
  connection.write(EXPORT)
  const gate = await server.gate.next()
  connection.write('GARBAGE\r\n\r\n')
  // Answered after the server has read what came before.
  await (await fetch(`${server.url}/live`)).text()
  gate.end()
  const { status, body } = await connection.response()
  t.equal(status, 200)
  t.same(linesOf(body).slice(1).map(({ text }) => text), ['One.', 'Two.', 'Three.'])
  t.equal((await connection.response()).status, 400, 'their own answer comes after it')
  await connection.closed
})
