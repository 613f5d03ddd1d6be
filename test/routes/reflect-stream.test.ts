import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp } from '../helpers/app.js'
import { deltasOf, EventReader, parseEvents, type ReceivedEvent } from '../helpers/events.js'
import { endsEarly, failsInTheMiddle, piecemeal, says, startLanguageServer } from '../helpers/language-server.js'
import { streamedAnswer } from '../helpers/language-protocols.js'
import { generation, listening, remoteModel, ScriptedModel } from './reflecting.js'
import { as, refused, refusedFields } from './support.js'

const EVENTS = { accept: 'text/event-stream' }
const QUESTION = { bank_id: 'bank', query: 'Where does Alice live?' }

async function streaming (t: Test, file: FileConfig = {}) {
  const server = await startLanguageServer(t)
  const app = await testApp(t, { file: { ...remoteModel(server), ...file } })
  await app.retain('bank', 'Alice lives in Lyon with a cat named Tom.')
  const url = await listening(app)
  return {
    server,
    app,
    ask: async (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      await EventReader.open(t, url, { ...QUESTION, ...more }, headers),
  }
}

const { server, app, ask } = await streaming(t, { escalation: { circuit_breaker: { failure_threshold: 1000 } } })

const languageModel = new ScriptedModel()
const limited = await testApp(t, {
  file: {
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [{ bank_id: 'bank', principal: 'user:alice', permissions: ['*'] }],
    banks: { bank: { homeostasis: { rate_limits: { reflect_per_minute: 3 } } } },
  },
}, { languageModel })
await limited.retain('bank', 'Alice lives in Lyon.', {}, as('user:alice'))
const asAlice = { ...EVENTS, ...as('user:alice') }

function namesOf (events: readonly ReceivedEvent[]): string[] {
  return events.map(({ event }) => event)
}

await t.test('the evidence comes before the first word of the model, each sentence when it is complete, then the ' +
  'cost, then the end', async (t) => {
  const { behaviour, say, finish } = piecemeal()
  server.next(behaviour)
  const reader = await ask({}, { 'x-request-id': 'stream-1' })
  t.equal(reader.status, 200)
  t.match(reader.headers, {
    'content-type': /^text\/event-stream/,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    'x-request-id': 'stream-1',
  })
  t.equal(reader.headers['content-length'], undefined)
  t.match(await reader.next(), {
    event: 'evidence', data: { sources: [{ text: /Lyon/, bank_id: 'bank', memory_id: /-/, score: Number }] },
  })
  await server.received(1)
  say('Alice lives ')
  say('in Lyon [1].')
  say(' She ')
  t.same(await reader.next(), { event: 'delta', data: { text: 'Alice lives in Lyon [1].' } })
  say('has a cat [1]. She owns a yacht [7].')
  finish()
  const rest = await reader.all()
  const { sources: [source] } = rest.at(-1)?.data as { sources: Array<{ cited: boolean }> }
  t.match(source, { text: /Lyon/, cited: true })
  t.same(rest, [
    ...rest.filter(({ event }) => event === 'delta'),
    { event: 'usage', data: { tokens: 18, input_tokens: 11, output_tokens: 7 } },
    {
      event: 'done',
      data: {
        answer: 'Alice lives in Lyon [1]. She has a cat [1].', abstained: false, sources: [source],
      },
    },
  ])
  t.equal(deltasOf(rest).trim(), 'She has a cat [1].')
})

await t.test('the texts together are the answer at the end', async (t) => {
  server.next(says('Alice lives in Lyon. [1]\n\n- She has a cat [1]\n- named Tom [1]\n\n'))
  const events = await (await ask()).all()
  t.equal(deltasOf(events).trim(), (events.at(-1)?.data as { answer: string }).answer)
})

await t.test('include_sources false leaves the evidence event empty', async (t) => {
  const events = await (await ask({ include_sources: false })).all()
  t.same(events[0], { event: 'evidence', data: { sources: [] } })
  t.match(events.at(-1), { event: 'done', data: { sources: { length: 0 } } })
})

await t.test('an abstention of the model is no text, and no part of its word is shown', async (t) => {
  const { behaviour, say, finish } = piecemeal()
  server.next(behaviour)
  const reader = await ask()
  for (const piece of ['NO', '_AN', 'SWER', '.']) say(piece)
  finish()
  const events = await reader.all()
  t.same(namesOf(events), ['evidence', 'delta', 'usage', 'done'])
  t.same(events[3]?.data, { answer: 'There are no memories that answer this.', abstained: true, sources: [] })
  t.equal(deltasOf(events), 'There are no memories that answer this.')
})

await t.test('without evidence the stream says so, and no model is called', async (t) => {
  const before = server.requests.length
  t.same(await (await ask({ query: 'submarine' })).all(), [
    { event: 'evidence', data: { sources: [] } },
    { event: 'usage', data: { tokens: 0, input_tokens: 0, output_tokens: 0 } },
    { event: 'done', data: { answer: 'There are no memories that answer this.', abstained: true, sources: [] } },
  ])
  t.equal(server.requests.length, before)
})

await t.test('a character that arrives in halves, or byte by byte, is one character', async (t) => {
  server.next((request, response) => {
    const { opening, deltas, ending } = streamedAnswer(request, {
      text: '', pieces: ['Alice lives in L', 'yon 🏠 – \ud83c', '\udf75 東京 [1].'],
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Each byte in a chunk of its own.
    for (const byte of Buffer.from([...opening, ...deltas, ...ending].join(''))) response.write(Buffer.of(byte))
    response.end()
  })
  const events = await (await ask()).all()
  t.match(events.at(-1), { event: 'done', data: { answer: 'Alice lives in Lyon 🏠 – 🍵 東京 [1].' } })
})

for (const [what, behaviour, code] of [
  ['breaks off', endsEarly('Alice lives in Lyon [1].\n', 'She'), 'dependency_unavailable'],
  ['sends an error', failsInTheMiddle('server_error', 'Alice lives in Lyon [1].\n', 'She'), 'dependency_unavailable'],
] as const) {
  await t.test(`a model that ${what} in the middle ends the stream properly, with an error`, async (t) => {
    server.next(behaviour)
    const events = await (await ask({}, { 'x-request-id': 'broken' })).all()
    t.same(namesOf(events), ['evidence', 'delta', 'error'])
    t.match(events[2]?.data, { code, detail: /\S/, request_id: 'broken' })
  })
}

await t.test('each answer is logged as one line', (t) => {
  const lines = app.log.filter(({ request_id: request, msg }) => request === 'stream-1' && msg === 'request completed')
  t.equal(lines.length, 1)
  t.match(lines[0], { status: 200, route: '/v1/reflect' })
  const failures = app.log.filter(({ request_id: request, level }) => request === 'broken' && level === 50)
  t.same(failures.map(({ msg }) => /^request failed: The language model /.test(String(msg))), [true, true])
  t.notMatch(JSON.stringify(app.log), /Lyon|Where does Alice/)
  t.end()
})

await t.test('a stream in progress when the server stops is completed', async (t) => {
  const { server, app, ask } = await streaming(t)
  const { behaviour, say, finish } = piecemeal()
  server.next(behaviour)
  const reader = await ask()
  await reader.until('evidence')
  const closed = app.app.close()
  await server.received(1)
  say('Alice lives in Lyon [1].')
  finish()
  t.match((await reader.all()).at(-1), { event: 'done', data: { answer: 'Alice lives in Lyon [1].' } })
  await closed
})

await t.test('an error before the first event is an ordinary error', async (t) => {
  refusedFields(t, await limited.post('/v1/reflect', { ...QUESTION, query: ' ' }, asAlice), 'query')
  refused(t, await limited.post('/v1/reflect', QUESTION, { ...EVENTS, ...as('user:bob') }), 403, 'access_denied')
  const statuses: number[] = []
  for (let index = 0; index < 3; index++) {
    statuses.push((await limited.post('/v1/reflect', QUESTION, asAlice)).statusCode)
  }
  t.same(statuses, [200, 200, 200])
  const late = await limited.post('/v1/reflect', QUESTION, asAlice)
  refused(t, late, 429, 'rate_limited')
  t.match(late.headers['content-type'], /^application\/json/)
  t.ok(Number(late.headers['retry-after']) > 0)
})

await t.test('a model that cannot stream gives its answer in one piece', async (t) => {
  limited.clock.advance(60_000)
  languageModel.answer = () => generation('Alice lives in Lyon [1]. She has a yacht [2].')
  const response = await limited.post('/v1/reflect', QUESTION, asAlice)
  const events = parseEvents(response.body)
  t.same(namesOf(events), ['evidence', 'delta', 'usage', 'done'])
  t.equal(deltasOf(events), 'Alice lives in Lyon [1].')
  t.match(
    (await limited.post('/v1/reflect', QUESTION, {
      ...asAlice, accept: 'application/json, text/event-stream;q=0.5',
    })).json(),
    { answer: 'Alice lives in Lyon [1].' },
  )
})
