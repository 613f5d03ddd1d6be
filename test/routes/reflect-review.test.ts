import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { buildApp } from '../../app.js'
import { filterCitations } from '../helpers/citations.js'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { EventReader } from '../helpers/events.js'
import { endless, says, startLanguageServer, UNUSED_URL } from '../helpers/language-server.js'
import { generation, hanging, remoteModel, ScriptedModel, StreamingModel, until } from './reflecting.js'

const QUESTION = { bank_id: 'bank', query: 'What does Alice drink?' }
const CALLER = { tenantId: null }

/** An app that lets one reflect a day through, and whose model says a sentence and then no more. */
async function onceADay () {
  const languageModel = new StreamingModel()
  languageModel.parts = (request) => (async function * () {
    yield { type: 'text' as const, text: 'Tea [1].\n' }
    await hanging(request)
  })()
  const app = await testApp(t, { file: { homeostasis: { quotas: { reflect_per_day: 1 } } } }, { languageModel })
  await app.retain('bank', 'Alice drinks green tea.')
  return { memory: app.app.memory, status: async () => (await app.post('/v1/reflect', QUESTION)).statusCode }
}

t.test('a caller who disconnects after the first words of an answer has used the daily quota', async (t) => {
  const { memory, status } = await onceADay()
  const events = memory.reflectStream(QUESTION, CALLER)
  t.match((await events.next()).value, { event: 'evidence' })
  t.match((await events.next()).value, { event: 'delta', data: { text: 'Tea [1].' } })
  await events.return()
  t.equal(await status(), 429)
})

t.test('a caller who disconnects during the wait for more words has used it too', async (t) => {
  const { memory, status } = await onceADay()
  const caller = new AbortController()
  const events = memory.reflectStream(QUESTION, CALLER, { signal: caller.signal })
  await events.next()
  await events.next()
  const more = events.next()
  caller.abort(new DOMException('The client left', 'AbortError'))
  await t.rejects(more)
  t.equal(await status(), 429)
})

t.test('a stream that fails after its first words has used it too', async (t) => {
  const languageModel = new StreamingModel()
  languageModel.parts = () => (async function * () {
    yield { type: 'text' as const, text: 'Tea [1].\n' }
    throw new Error('broken off')
  })()
  const { app, post, retain } = await testApp(
    t, { file: { homeostasis: { quotas: { reflect_per_day: 1 } } } }, { languageModel },
  )
  await retain('bank', 'Alice drinks green tea.')
  const events = app.memory.reflectStream(QUESTION, CALLER)
  await events.next()
  t.match((await events.next()).value, { event: 'delta' })
  await t.rejects(events.next(), { code: 'dependency_unavailable' })
  t.equal((await post('/v1/reflect', QUESTION)).statusCode, 429)
})

t.test('a long answer of a model without streaming is sent in pieces', async (t) => {
  const languageModel = new ScriptedModel()
  const answer = Array.from({ length: 1000 }, () => 'Tea [1].').join(' ')
  languageModel.answer = () => generation(answer)
  const { app, retain } = await testApp(t, {}, { languageModel })
  await retain('bank', 'Alice drinks green tea.')
  const deltas: string[] = []
  for await (const { event, data } of app.memory.reflectStream(QUESTION, CALLER)) {
    if (event === 'delta') deltas.push(data.text)
  }
  t.ok(deltas.length > 1)
  t.equal(deltas.join(''), answer)
})

t.test('a caller who disconnects before the first words has not used it', async (t) => {
  const { memory, status } = await onceADay()
  const events = memory.reflectStream(QUESTION, CALLER)
  t.match((await events.next()).value, { event: 'evidence' })
  await events.return()
  t.equal(await status(), 200)
})

t.test('a refusal by a budget of the model is counted with the other quotas', async (t) => {
  const { get, post, retain } = await testApp(t, { file: { homeostasis: { quotas: { model_calls_per_day: 1 } } } })
  await retain('bank', 'Alice drinks green tea.')
  await post('/v1/reflect', QUESTION)
  t.equal((await post('/v1/reflect', QUESTION)).statusCode, 429)
  t.match((await get('/metrics')).body, /^memory_gateway_rate_limited_total\{kind="quota_exceeded"\} 1$/m)
})

t.test('a model that is down at once is reported as down, and not late, however short the deadline is', async (t) => {
  const { post, retain } = await testApp(t, {
    file: {
      llm_provider: 'openai_compatible',
      llm_provider_config: { base_url: UNUSED_URL, model: 'remote', max_retries: 0 },
    },
  })
  await retain('bank', 'Alice drinks green tea.')
  // The first call loads what is needed for it.
  await post('/v1/reflect', QUESTION)
  t.match((await post('/v1/reflect', { ...QUESTION, timeout_ms: 199 })).json(), { code: 'dependency_unavailable' })
})

t.test('max_tokens of a caller does not lift the bound on the bytes that are read of an answer', async (t) => {
  const server = await startLanguageServer(t)
  server.always(endless)
  const { post, retain } = await testApp(t, { file: remoteModel(server) })
  await retain('bank', 'Alice drinks green tea.')
  const response = await post('/v1/reflect', { ...QUESTION, max_tokens: Number.MAX_SAFE_INTEGER })
  t.equal(response.statusCode, 502)
  t.match(response.json(), { code: 'model_output_invalid' })
})

t.test('a caller who leaves the queue before its call has used no call', async (t) => {
  const languageModel = Object.assign(new ScriptedModel(), { limits: { maxConcurrency: 1 } })
  languageModel.answer = hanging
  const { app, post, retain } =
    await testApp(t, { file: { homeostasis: { quotas: { model_calls_per_day: 3 } } } }, { languageModel })
  await retain('bank', 'Alice drinks green tea.')
  const { memory } = app
  const [first, second] = [new AbortController(), new AbortController()]
  const asked = [first, second].map(async ({ signal }) => await memory.reflect(QUESTION, CALLER, { signal }))
  await until(
    () => languageModel.asked.length === 1 && app.memory.status().models.some(({ status }) => status.waiting === 1),
  )
  second.abort(new Error('gone'))
  await t.rejects(asked[1]!)
  first.abort(new Error('gone'))
  await t.rejects(asked[0]!)
  t.equal(languageModel.asked.length, 1)
  languageModel.answer = () => generation('Tea [1].')
  t.same(
    [
      (await post('/v1/reflect', QUESTION)).statusCode, (await post('/v1/reflect', QUESTION)).statusCode,
      (await post('/v1/reflect', QUESTION)).statusCode,
    ],
    [200, 200, 429], 'the call that was made counts, and the one that waited does not',
  )
})

t.test('the texts of a structured answer have no hidden characters', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => generation(JSON.stringify({
    answer: 'Tea [1].', structured: { drink: 'te\u200ba', all: ['gr\u{e0041}een', 1, null, true] },
  }))
  const { post, retain } = await testApp(t, {}, { languageModel })
  await retain('bank', 'Alice drinks green tea.')
  const schema = { type: 'object', properties: { drink: { type: 'string' }, all: { type: 'array' } } }
  t.same((await post('/v1/reflect', { ...QUESTION, response_schema: schema })).json().structured, {
    drink: 'tea', all: ['green', 1, null, true],
  })
})

t.test('an answer of any length equals one that is filtered in one piece', async (t) => {
  const languageModel = new ScriptedModel()
  const text = 'Alice drinks 🍵 tea, as she said [1]. She never did [7].\n'.repeat(1500).trim()
  languageModel.answer = () => generation(text)
  const { post, retain } = await testApp(t, {}, { languageModel })
  await retain('bank', 'Alice drinks green tea.')
  t.equal((await post('/v1/reflect', QUESTION)).json().answer, filterCitations(text, 1).text.trim())
})

t.test('a client that does not read its stream is disconnected', async (t) => {
  const languageModel = new StreamingModel()
  const line = `${'Alice drinks green tea '.repeat(500)}[1].\n`
  languageModel.parts = () => (async function * () { for (;;) yield { type: 'text' as const, text: line } })()
  const config = testConfig({ logLevel: 'silent', file: { bounds: { stalled_seconds: 1 } } })
  const app = await buildApp(config, { overrides: { languageModel } })
  t.teardown(async () => { await app.close() })
  await app.inject({
    method: 'POST', url: '/v1/retain', payload: { bank_id: 'bank', content: 'Alice drinks green tea.' },
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const connected = once(app.server, 'connection') as Promise<[Socket]>
  await EventReader.open(t, `${url}/v1/reflect`, QUESTION)
  const [socket] = await connected
  while (socket.writableLength === 0) await setImmediate()
  const ended = once(socket, 'close')
  await ended
  t.pass('the server has closed the connection')
})

t.test('a caller with too small max_tokens does not open the circuit for others', async (t) => {
  const server = await startLanguageServer(t)
  server.always(
    (request, response) => {
      says(request.maxTokens === 1 ? '' : 'Tea [1].', {
        finish: request.maxTokens === 1 ? 'length' : 'stop', reasoning: 'Well',
      })(request, response)
    },
  )
  const { post, retain } =
    await testApp(t, { file: { ...remoteModel(server), escalation: { circuit_breaker: { failure_threshold: 1 } } } })
  await retain('bank', 'Alice drinks green tea.')
  for (let index = 0; index < 3; index++) {
    t.equal((await post('/v1/reflect', { ...QUESTION, max_tokens: 1 })).statusCode, 502)
  }
  t.equal((await post('/v1/reflect', QUESTION)).statusCode, 200)
})
