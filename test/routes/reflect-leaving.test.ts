import { request } from 'node:http'
import t, { type Test } from 'tap'
import { type ModelCallRecord, NO_TELEMETRY } from '../../lib/base/telemetry.js'
import { testApp } from '../helpers/app.js'
import { EventReader } from '../helpers/events.js'
import { piecemeal, silent, startLanguageServer, stallInTheMiddle } from '../helpers/language-server.js'
import { listening, logged, remoteModel } from './reflecting.js'

const QUESTION = { bank_id: 'bank', query: 'Where does Alice live?' }

const server = await startLanguageServer(t)
const calls: ModelCallRecord[] = []
const told: Array<() => void> = []
const app = await testApp(t, {
  file: { ...remoteModel(server), retrieval: { rewrite: { enabled: true, timeout_ms: 60_000 } } },
}, {
  telemetry: {
    ...NO_TELEMETRY,
    modelCall: (record) => {
      if (record.kind !== 'llm') return
      calls.push(record)
      for (const tell of told.splice(0)) tell()
    },
  },
})
const url = await listening(app)
await app.retain('bank', 'Alice lives in Lyon.')

/** Sends a POST that is never answered. @returns what breaks its connection */
function post (t: Test, address: string, body: unknown): () => void {
  const sent = request(address, { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } })
  sent.on('error', () => {})
  sent.end(JSON.stringify(body))
  t.teardown(() => { sent.destroy() })
  return () => { sent.destroy() }
}

/** Settles when so many calls of the model have been told of. */
async function callsTold (count: number): Promise<void> {
  while (calls.length < count) await new Promise<void>((resolve) => { told.push(resolve) })
}

await t.test('a client that disconnects while the model works ends its call, which is no fault', async (t) => {
  server.next(silent)
  const leave = post(t, url, QUESTION)
  const call = await server.received(server.requests.length + 1)
  leave()
  t.equal(await call.over, 'left')
  await callsTold(1)
  t.equal(calls[0]?.outcome, 'aborted')
  t.same(logged(app, 40), [])
})

await t.test('a client that disconnects before the first word of a stream does so too', async (t) => {
  server.next(silent)
  const reader = await EventReader.open(t, url, QUESTION)
  await reader.until('evidence')
  const call = await server.received(2)
  reader.leave()
  t.equal(await call.over, 'left')
  await callsTold(2)
  t.equal(calls[1]?.outcome, 'aborted')
  t.same(logged(app, 40), [])
})

await t.test('a client that disconnects in the middle of a stream does so too', async (t) => {
  server.next(stallInTheMiddle('Alice lives in Lyon. [1]\n', 'She '))
  const reader = await EventReader.open(t, url, QUESTION)
  await reader.until('delta')
  reader.leave()
  t.equal(await server.requests[2]?.over, 'left')
  await callsTold(3)
  t.equal(calls[2]?.outcome, 'aborted')
  t.same(logged(app, 40), [])
})

await t.test('a client that disconnects while the model rewrites the query of a recall does so too', async (t) => {
  server.next(silent)
  const leave = post(t, url.replace('reflect', 'recall'), { ...QUESTION, rewrite: true })
  const call = await server.received(4)
  leave()
  t.equal(await call.over, 'left')
  await callsTold(4)
  t.match(calls[3], { outcome: 'aborted', purpose: 'rewrite' })
  t.same(logged(app, 40), [])
})

await t.test('a client that stays gets its answer, although its body was read to the end', async (t) => {
  const { behaviour, say, finish } = piecemeal()
  server.next(behaviour)
  const reader = await EventReader.open(t, url, QUESTION)
  t.equal((await reader.next())?.event, 'evidence')
  await server.received(5)
  say('Alice lives in Lyon. [1]')
  finish()
  t.match((await reader.until('done')).data, { answer: 'Alice lives in Lyon. [1]', abstained: false })
  t.equal(calls[4]?.outcome, 'ok')
})

await t.test('requests of disconnected clients hold no permit: the model has no call in progress', async (t) => {
  t.match(app.app.memory.status().models.find(({ kind }) => kind === 'llm')?.status, {
    running: 0, waiting: 0, breaker: { state: 'closed' },
  })
})
