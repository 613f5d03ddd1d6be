import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Executor } from '../../lib/stores/sql/executor.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import { post as postText, request } from '../blackbox/raw.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { reserveAllBut } from '../helpers/budgets.js'
import { answerOf, MCP_HEADERS, toolCall } from '../helpers/mcp.js'
import { schemaIn, sqlDatabase } from '../helpers/sql-database.js'
import { refused } from '../routes/support.js'

const MIB = 1_048_576
/** Of which one caller may use 16.5 MiB. */
const WORK_BYTES = 22 * MIB
const MEMORIES = 60
/** Larger than what the buffers of the system take of an answer that is not read. */
const CONTENT = `ferry \u{1F375} ${'harbour '.repeat(6000)}`
const LIST = '/v1/banks/big/memories?limit=200'
const RECALL = { bank_id: 'big', query: 'ferry harbour', max_results: 200 }

await t.test('rows of a database', async (t) => {
  const database = await sqlDatabase(t)
  /** Called before the statement that reads the rest of a page. */
  let beforeRest: () => Promise<void> = async () => {}
  const schema = schemaIn(t, database)
  const watched: Executor = {
    query: async (text, params, options) => await database.query(text, params, options),
    read: async <R extends object>(...given: Parameters<Executor['read']>) => {
      const [text, params = []] = given
      // A page that continues after a place, and texts by their ids.
      if ((text.includes('bytes_behind') && text.includes(') < ($')) || text.includes('from unnest($3')) {
        await beforeRest()
      }
      return await database.read<R>(text, params, given[2])
    },
    maintain: async (text) => { await database.maintain(text) },
    transaction: async (work, options) => await database.transaction(work, options),
    close: async () => {},
  }
  const store = new SqlVectorStore({ executor: watched, schema, bootstrapSchema: true, sweepIntervalMs: 0 })
  const app = await testApp(t, {
    file: { bounds: { work_bytes: WORK_BYTES }, banks: { near: { signal_quality: { dedup: { action: 'warn' } } } } },
  }, { store })
  for (let start = 0; start < MEMORIES; start += 20) {
    const items = Array.from({ length: 20 }, (_, index) => ({ content: `${CONTENT} ${start + index}` }))
    const response = await app.post('/v1/retain/batch', { bank_id: 'big', items })
    if (response.statusCode !== 200) throw new Error(response.body)
  }
  await app.app.memory.idle()
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  t.beforeEach(() => { beforeRest = async () => {} })

  await t.test('a write counts the memories that it is compared with, and releases each of them', async (t) => {
    const { app: gateway } = app
    const items = (from: number) => Array.from(
      { length: 40 }, (_, index) => ({ content: `${CONTENT} ${from + index}` }),
    )
    const seen: number[] = []
    const watched = t.capture(gateway.workBytes, 'reserve', gateway.workBytes.reserve.bind(gateway.workBytes))
    t.equal((await app.post('/v1/retain/batch', { bank_id: 'near', items: items(0) })).statusCode, 200)
    beforeRest = async () => { seen.push(gateway.workBytes.reservedBytes) }
    // 40 searches find 20 memories of 50 KB each, twice over 80 MB together; four of them at a time have room.
    t.equal((await app.post('/v1/retain/batch', { bank_id: 'near', items: items(40) })).statusCode, 200)
    t.ok(watched().length > 0)
    t.ok(seen.length >= 40 && Math.max(...seen) > 2 * MIB, `${seen.length} searches, ${Math.max(...seen)} bytes`)
    t.equal(gateway.workBytes.reservedBytes, 0)
    const all = reserveAllBut(gateway.workBytes, MIB)
    refused(t, await app.post('/v1/retain', { bank_id: 'near', content: `${CONTENT} 80` }), 503, 'server_busy')
    all.release()
    t.equal((await app.post('/v1/retain', { bank_id: 'near', content: `${CONTENT} 80` })).statusCode, 200)
  })

  await t.test('unread answers are refused beyond bounds.work_bytes, and those that end release it', async (t) => {
    for (const text of [request('GET', LIST), postText('/v1/recall', RECALL)]) {
      const readers = await Promise.all(Array.from({ length: 12 }, async () => await unread(t, url, text)))
      const admitted = readers.filter(({ status }) => status === 200)
      t.ok(admitted.length > 0, `${admitted.length}`)
      t.ok(readers.some(({ status }) => status === 503))
      // The rest of each answer is in the buffers of the system, whose size is not ours.
      t.ok(app.app.workBytes.reservedBytes > 0)
      t.ok(app.app.workBytes.reservedBytes <= WORK_BYTES)
      t.equal((await app.get('/v1/banks/big/memories?limit=1')).statusCode, 200, 'small answers are still sent')
      admitted.forEach(({ socket }, index) => {
        if (index % 2 === 0) socket.resume()
        else socket.destroy()
      })
      await whole(app)
      t.equal((await app.get(LIST)).json().memories.length, MEMORIES)
      t.equal((await app.post('/v1/recall', RECALL)).json().hits.length, MEMORIES)
      t.equal(app.app.workBytes.reservedBytes, 0)
    }
  })

  await t.test('an answer without free bytes is refused before it is read', async (t) => {
    let rests = 0
    beforeRest = async () => { rests += 1 }
    const held = reserveAllBut(app.app.workBytes, 2 * MIB)
    for (const response of [
      await app.get(LIST), await app.post('/v1/recall', RECALL),
      await app.post('/v1/reflect', { bank_id: 'big', query: 'ferry harbour' }),
      await app.inject({
        method: 'POST',
        url: '/v1/reflect',
        headers: { accept: 'text/event-stream' },
        payload: { bank_id: 'big', query: 'ferry harbour' },
      }),
      await app.post('/v1/recall/explain', {
        ...RECALL, expect: (await app.get('/v1/banks/big/memories?limit=1')).json().memories[0].memory_id,
      }),
    ]) refused(t, response, 503, 'server_busy', { retry_after_seconds: 1 })
    t.equal(rests, 0)
    held.release()
    t.equal(app.app.workBytes.reservedBytes, 0)
  })

  await t.test('a small answer from many rows holds no bytes for them', async (t) => {
    let held = 0
    beforeRest = async () => { held = app.app.workBytes.reservedBytes }
    t.equal((await app.post('/v1/recall', { ...RECALL, max_results: 1 })).statusCode, 200)
    t.ok(held > 4 * MIB, `${held}`)
    t.equal(app.app.workBytes.reservedBytes, 0)
    t.equal((await app.post('/v1/reflect', { bank_id: 'big', query: 'ferry harbour' })).statusCode, 200)
    t.equal(app.app.workBytes.reservedBytes, 0)
  })

  await t.test('a batch of MCP holds the rows of one call at a time', async (t) => {
    const seen: number[] = []
    beforeRest = async () => { seen.push(app.app.workBytes.reservedBytes) }
    const calls = Array.from({ length: 5 }, (_, id) => (
      toolCall('recall', { bank_id: 'big', query: 'ferry harbour', max_results: 50 }, id)
    ))
    const response = await app.post('/mcp', calls, { ...MCP_HEADERS, 'mcp-protocol-version': '2025-03-26' })
    for (const { result } of response.json<Array<{ result: unknown }>>()) answerOf(result)
    t.ok(seen.length >= 5 && Math.max(...seen) < 2 * seen[0]!, `${seen.join(', ')} bytes`)
    t.equal(app.app.workBytes.reservedBytes, 0)
  })

  await t.test('a client that disconnects while its rows arrive releases them when they have arrived', async (t) => {
    for (const text of [request('GET', LIST), postText('/v1/recall', RECALL)]) {
      let go = () => {}
      const held = new Promise<void>((resolve) => { go = resolve })
      const reached = new Promise<void>((resolve) => {
        beforeRest = async () => {
          resolve()
          await held
        }
      })
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write(text)
      await reached
      socket.destroy()
      while (app.app.activeRequests.size > 0) await setImmediate()
      t.ok(app.app.workBytes.reservedBytes > 4 * MIB, 'the rows have not arrived yet')
      go()
      await whole(app)
      t.pass('nothing is held')
    }
  })

  await t.test('a database that fails in the middle leaves no bytes held', async (t) => {
    beforeRest = async () => { throw new Error('gone') }
    refused(t, await app.get(LIST), 503, 'dependency_unavailable')
    refused(t, await app.post('/v1/recall', RECALL), 503, 'dependency_unavailable')
    t.equal(app.app.workBytes.reservedBytes, 0)
  })
})

/** A connection that asks, takes the first bytes of its answer, and reads no more. */
async function unread (t: Test, url: string, text: string): Promise<{ socket: Socket, status: number }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write(text)
  const [first] = await once(socket, 'data') as [Buffer]
  socket.pause()
  return { socket, status: Number(first.toString('latin1').split(' ')[1]) }
}

async function whole ({ app }: TestApp): Promise<void> {
  while (app.workBytes.reservedBytes > 0) await setImmediate()
}
