import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { buildApp } from '../../app.js'
import { testConfig } from '../helpers/config.js'
import { EventReader } from '../helpers/events.js'
import { piecemeal, startLanguageServer, type Behaviour } from '../helpers/language-server.js'
import { streamedAnswer } from '../helpers/language-protocols.js'
import { sendEndlessly } from '../helpers/scripted-server.js'
import { remoteModel } from './reflecting.js'

const QUESTION = { bank_id: 'bank', query: 'Where does Alice live?' }

async function served (t: Test, heartbeatMs: number) {
  const server = await startLanguageServer(t)
  const app = await buildApp(testConfig({ logLevel: 'silent', file: remoteModel(server) }), { heartbeatMs })
  t.teardown(async () => { await app.close() })
  await app.listen({ port: 0, host: '127.0.0.1' })
  await app.inject({ method: 'POST', url: '/v1/retain', payload: { bank_id: 'bank', content: 'Alice lives in Lyon.' } })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1/reflect`
  return {
    server,
    app,
    ask: async (more: Record<string, unknown> = {}) => await EventReader.open(t, url, { ...QUESTION, ...more }),
  }
}

await t.test('comments are sent while the model works', async (t) => {
  const { server, ask } = await served(t, 5)
  const { behaviour, say, finish } = piecemeal()
  server.next(behaviour)
  const reader = await ask()
  t.equal((await reader.next())?.event, 'evidence')
  for (let index = 0; index < 3; index++) t.same(await reader.next(), { event: 'comment', data: 'heartbeat' })
  say('Alice lives in Lyon [1].')
  finish()
  t.match(
    (await reader.all()).filter(({ event }) => event !== 'comment'),
    [{ event: 'delta' }, { event: 'usage' }, { event: 'done', data: { answer: 'Alice lives in Lyon [1].' } }],
  )
})

/** Sentences without end, many bytes a character; tells the answer that they are written to. */
function endlessSentences (tell: (response: ServerResponse) => void): Behaviour {
  return (request, response) => {
    const { opening, deltas } = streamedAnswer(request, {
      text: '', pieces: [`${'\u6771'.repeat(80)} [1].\n`.repeat(250)],
    })
    tell(response)
    sendEndlessly(response, 'text/event-stream', opening.join(''), Buffer.from(deltas.join('')))
  }
}

const MIB = 1024 * 1024
/** More than all buffers of sockets on the way together. */
const BOUND = 48 * MIB

await t.test('a client that does not read makes the model wait, and one that leaves ends it', async (t) => {
  const { server, ask } = await served(t, 60_000)
  let response: ServerResponse | undefined
  server.next(endlessSentences((given) => { response = given }))
  // The bytes of an answer are bounded by its tokens, which are not what is looked at here.
  const reader = await ask({ max_tokens: 1_000_000 })
  await server.received(1)
  const socket = response!.socket!
  const sent = () => socket.bytesWritten - socket.writableLength
  /** Until nothing has moved for so many turns of the loop that all of this shares. */
  const settle = async () => {
    for (let still = 0, last = -1; still < 500 && sent() < BOUND; still = sent() === last ? still + 1 : 0) {
      last = sent()
      await setImmediate()
    }
    return sent()
  }
  const before = await settle()
  t.ok(before < BOUND, `${before} bytes`)
  while (sent() === before) await reader.next()
  t.ok(sent() > before, 'it was waiting')
  reader.leave()
  t.equal(await server.requests[0]?.over, 'left')
})
