import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import fastJson from 'fast-json-stringify'
import t, { type Test } from 'tap'
import { MemoriesAnswer, RecallAnswer, type Hit } from '../../lib/memory/schemas.js'
import { post as postText, RawConnection, request } from '../blackbox/raw.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { reserveAllBut } from '../helpers/budgets.js'
import type { TestConfig } from '../helpers/config.js'
import { as, refused } from '../routes/support.js'

const MIB = 1_048_576
/** Memories of about 50 kB, as UTF-8; some characters are more than one byte. */
async function filled (t: Test, count: number, file: TestConfig['file'] = {}): Promise<TestApp> {
  const app = await testApp(t, { file, logLevel: 'info' })
  const items = Array.from(
    { length: count }, (_, index) => ({ content: `Tea ${index} caf\u00e9 \ud83c\udf75 ${'"lorem"\n'.repeat(5500)}` }),
  )
  if ((await app.post('/v1/retain/batch', { bank_id: 'big', items })).statusCode !== 200) throw new Error('not stored')
  return app
}

/** Makes a recall return this number of hits, however few memories exist. */
function multiplyHits ({ app: { memory } }: TestApp, count: number, change = (_hit: Hit, _index: number) => {}): void {
  const { recall } = memory
  const answerInPlace: typeof recall = async (...given) => {
    const answer = await recall(...given)
    const hits = Array.from({ length: Math.min(count, given[0].max_results!) }, (_, index) => ({
      ...answer.hits[index % answer.hits.length]!,
    }))
    hits.forEach(change)
    return { ...answer, hits }
  }
  Object.assign(memory, { recall: answerInPlace })
}

const all = { bank_id: 'big', query: 'tea', max_results: 1000 }

await t.test('a large answer equals the output of the serializer of its schema, and is sent in pieces', async (t) => {
  const app = await filled(t, 5)
  const recall = await app.post('/v1/recall', all)
  t.equal(recall.statusCode, 200)
  t.equal(recall.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(recall.headers['transfer-encoding'], 'chunked')
  t.type(recall.headers['x-request-id'], 'string')
  t.equal(recall.json().hits.length, 5)
  t.ok(recall.body === fastJson(RecallAnswer)(recall.json()), 'the same text')

  const list = await app.get('/v1/banks/big/memories?limit=200')
  t.equal(list.headers['content-type'], 'application/json; charset=utf-8')
  t.ok(list.body === fastJson(MemoriesAnswer)(list.json()), 'the same text')
  t.equal(app.app.workBytes.reservedBytes, 0)
})

await t.test('a small answer has a Content-Length and is sent in one piece', async (t) => {
  const app = await filled(t, 1)
  const recall = await app.post('/v1/recall', all)
  t.equal(recall.headers['content-length'], String(Buffer.byteLength(recall.body)))
  t.equal(recall.headers['transfer-encoding'], undefined)
})

await t.test('HEAD requests, HTTP/1.0 and pipelined requests get correct responses', async (t) => {
  const app = await filled(t, 3)
  const path = '/v1/banks/big/memories?limit=200'
  const expected = (await app.get(path)).body
  const head = await app.inject({ method: 'HEAD', url: path })
  t.equal(head.statusCode, 200)
  t.equal(head.body, '')
  t.equal(head.headers['content-type'], 'application/json; charset=utf-8')

  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const old = await RawConnection.open(t, url)
  old.write(`GET ${path} HTTP/1.0\r\n\r\n`)
  await old.closed
  t.ok(
    old.rest.slice(old.rest.indexOf('\r\n\r\n') + 4) === expected, 'the whole answer, then the end of the connection',
  )
  t.notMatch(old.rest.slice(0, 1000), /transfer-encoding/i)

  const connection = await RawConnection.open(t, url)
  connection.write(
    request('GET', path) + request('HEAD', path) + request('GET', '/v1/whoami') + request('GET', '/openapi.json'),
  )
  t.ok((await connection.response()).body === expected)
  const { status, headers } = await connection.response()
  t.match({ status, headers }, { status: 200, headers: { 'content-type': /json/ } })
  t.equal((await connection.response()).status, 200)
  const { body } = await connection.response()
  t.same(JSON.parse(body), app.app.swagger())
  t.equal(app.app.workBytes.reservedBytes, 0)
})

await t.test('an answer beyond bounds.answer_bytes is refused before any of it is sent', async (t) => {
  const app = await filled(t, 24, { bounds: { answer_bytes: MIB } })
  for (const response of [await app.post('/v1/recall', all), await app.get('/v1/banks/big/memories?limit=200')]) {
    refused(t, response, 413, 'answer_too_large', { detail: /bounds\.answer_bytes.*max_results, max_tokens or limit/ })
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }
  t.equal((await app.post('/v1/recall', { ...all, max_results: 10 })).statusCode, 200)
  t.equal((await app.get('/v1/banks/big/memories?limit=10')).statusCode, 200)
  t.equal((await app.get('/v1/banks/big/export')).statusCode, 200, 'exports are not counted')
  t.equal(app.app.workBytes.reservedBytes, 0)
})

await t.test('escaped control characters count towards bounds.answer_bytes', async (t) => {
  const app = await testApp(t, { file: { bounds: { answer_bytes: MIB } } })
  const fill = async (bankId: string, unit: string) => {
    const items = Array.from({ length: 8 }, (_, index) => ({
      content: `${index}${unit.repeat(49_000)}.`,
    }))
    t.equal((await app.post('/v1/retain/batch', { bank_id: bankId, items })).statusCode, 200)
  }
  await fill('plain', 'a')
  await fill('controls', '\u0001')
  t.equal((await app.get('/v1/banks/plain/memories')).statusCode, 200)
  refused(t, await app.get('/v1/banks/controls/memories'), 413, 'answer_too_large')
})

/** A connection that asks and takes only the first bytes of the answer. */
async function unread (t: Test, url: string, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write(text)
  await once(socket, 'data')
  socket.pause()
  return socket
}

await t.test('unread answers occupy their bytes, and a request without free bytes is refused ' +
  'immediately', async (t) => {
  const app = await filled(t, 4, { bounds: { work_bytes: 16 * MIB } })
  multiplyHits(app, 240)
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const released = async () => { while (app.app.workBytes.reservedBytes > 0) await setImmediate() }
  const reader = await unread(t, url, postText('/v1/recall', all))
  t.ok(app.app.workBytes.reservedBytes > 10 * MIB, `${app.app.workBytes.reservedBytes}`)
  refused(t, await app.post('/v1/recall', all), 503, 'server_busy', { retry_after_seconds: 1 })
  t.equal((await app.post('/v1/recall', { ...all, max_results: 1 })).statusCode, 200, 'small answers are still sent')
  reader.resume()
  await released()
  t.equal(reader.destroyed, false, 'it gets its answer')
  const leaver = await unread(t, url, postText('/v1/recall', all))
  leaver.destroy()
  await released()
  t.equal((await app.post('/v1/recall', all)).statusCode, 200)
  t.equal(app.app.workBytes.reservedBytes, 0)
})

await t.test('the answer of a write is sent even when the byte budget is exhausted', async (t) => {
  const app = await testApp(t, { file: { bounds: { work_bytes: 16 * MIB } } })
  const { workBytes, memory } = app.app
  const items = Array.from({ length: 1000 }, (_, index) => ({ content: `Memory ${index}` }))
  // When the work is done, nothing is left for the answer: its body has held its part before.
  let held = reserveAllBut(workBytes, workBytes.limit)
  const { retainBatch } = memory
  const withoutRoom: typeof retainBatch = async (...given) => {
    const answer = await retainBatch(...given)
    held = reserveAllBut(workBytes, 0)
    return answer
  }
  Object.assign(memory, { retainBatch: withoutRoom })
  const response = await app.post('/v1/retain/batch', { bank_id: 'b', items })
  t.equal(response.statusCode, 200)
  t.ok(response.body.length > 65_536)
  t.equal(response.json().results.length, 1000)
  refused(t, await app.get('/openapi.json'), 503, 'server_busy')
  held.release()
  t.equal((await app.get('/openapi.json')).statusCode, 200)
})

await t.test('large metrics are sent even when the byte budget is exhausted', async (t) => {
  const { app, get } = await testApp(t)
  Object.assign(app.metrics, { render: async () => 'x'.repeat(100_000) })
  const held = reserveAllBut(app.workBytes, 0)
  const response = await get('/metrics')
  t.equal(response.statusCode, 200)
  t.equal(response.body.length, 100_000)
  held.release()
})

await t.test('an answer that fails in its middle ends the connection', async (t) => {
  const app = await filled(t, 4)
  multiplyHits(app, 100, (hit, index) => {
    // Not enumerable, so that it breaks when it is written, and not when it is weighed.
    if (index === 90) {
      Object.defineProperty(hit, 'text', { enumerable: false, get: () => { throw new Error('broken') } })
    }
  })
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const connection = await RawConnection.open(t, url)
  connection.write(postText('/v1/recall', all, as('user:alice')))
  await connection.closed
  t.match(connection.rest.slice(0, 100), /^HTTP\/1\.1 200/)
  t.notMatch(connection.rest.slice(-10), /\r\n0\r\n\r\n$/, 'no end of the chunks')
  while (app.app.workBytes.reservedBytes > 0) await setImmediate()
  t.pass('and holds nothing')
})
