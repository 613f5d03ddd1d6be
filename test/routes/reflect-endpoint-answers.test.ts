import t, { type Test } from 'tap'
import { testApp } from '../helpers/app.js'
import { deltasOf, parseEvents } from '../helpers/events.js'
import {
  answering, says, startLanguageServer, USUAL_ANSWER, type Behaviour,
} from '../helpers/language-server.js'
import { streamedAnswer } from '../helpers/language-protocols.js'
import { sendJson } from '../helpers/scripted-server.js'
import { answerOf, modelStatus, remoteModel } from './reflecting.js'
import { refused } from './support.js'

const QUESTION = { bank_id: 'bank', query: 'Where does Alice live?' }
const EVENTS = { accept: 'text/event-stream' }
const FAILURES = 3

async function gateway (t: Test, settings: Record<string, unknown> = {}, provider = 'openai_compatible') {
  const server = await startLanguageServer(t)
  const app = await testApp(t, {
    file: {
      ...remoteModel(server, settings),
      llm_provider: provider,
      escalation: { circuit_breaker: { failure_threshold: FAILURES } },
    },
  })
  await app.retain('bank', 'Alice lives in Lyon.')
  const ask = async (headers: Record<string, string> = {}) => await app.post('/v1/reflect', QUESTION, headers)
  return { app, server, ask }
}

/** An answer of OpenAI's models that refuse: it ends like any other, and another member has the text. */
const refusing: Behaviour = (_request, response) => {
  const choice = { index: 0, message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'stop' }
  sendJson(response, { id: '1', object: 'chat.completion', created: 1, model: 'remote', choices: [choice] })
}

const refusingStream: Behaviour = (_request, response) => {
  const chunk = (delta: object, reason: string | null) => `data: ${JSON.stringify({
    id: '1',
object: 'chat.completion.chunk',
created: 1,
model: 'remote',
    choices: [{ index: 0, delta, finish_reason: reason }],
  })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end([
    chunk({ role: 'assistant', content: null, refusal: 'N' }, null), chunk({ refusal: 'o.' }, null), chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ].join(''))
}

t.test('questions that the model refuses do not open the circuit for others', async (t) => {
  const { app, server, ask } = await gateway(t)
  server.always(refusing)
  for (let time = 0; time <= FAILURES; time++) refused(t, await ask(), 502, 'model_output_invalid')
  server.always(refusingStream)
  for (let time = 0; time <= FAILURES; time++) {
    t.match(parseEvents((await ask(EVENTS)).body).at(-1), { event: 'error', data: { code: 'model_output_invalid' } })
  }
  t.match(modelStatus(app), { breaker: { state: 'closed' } })
  server.always(says(USUAL_ANSWER))
  t.equal(answerOf(await ask()).answer, USUAL_ANSWER)
})

for (const [provider, body] of [
  ['openai_compatible', { error: { code: 429, message: 'Upstream limit' } }],
  ['openai_compatible', { error: { code: 502, message: 'Upstream fault' } }],
  ['anthropic', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
] as const) {
  t.test(`${provider}: ${JSON.stringify(body)} with status 200 is a fault and tried again`, async (t) => {
    const { server, ask } = await gateway(t, { max_retries: 1 }, provider)
    server.next(answering(200, JSON.stringify(body)))
    t.equal(answerOf(await ask()).answer, USUAL_ANSWER)
    t.equal(server.requests.length, 2)
    server.always(answering(200, JSON.stringify(body)))
    refused(t, await ask(), 503, 'dependency_unavailable')
  })
}

t.test('a stream of the Messages API may have events of types that are not known yet', async (t) => {
  const { server, ask } = await gateway(t, {}, 'anthropic')
  const added = 'event: added_later\ndata: {"type":"added_later","index":0}\n\n'
  const broken = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":"x"}\n\n'
  const sends = (event: string): Behaviour =>
    (request, response) => {
      const { opening, deltas, ending } = streamedAnswer(request, { text: USUAL_ANSWER })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end([...opening, event, ...deltas, event, ...ending, event].join(''))
    }

  server.always(sends(added))
  const events = parseEvents((await ask(EVENTS)).body)
  t.equal(deltasOf(events), USUAL_ANSWER)
  t.equal(events.at(-1)?.event, 'done')
  server.always(sends(broken))
  t.match(parseEvents((await ask(EVENTS)).body).at(-1), { event: 'error', data: { code: 'model_output_invalid' } })
})

t.test('a stream that ends with an error without the member "error" is a fault, and no answer', async (t) => {
  const { server, ask } = await gateway(t)
  const fault = { object: 'error', message: 'The engine died', type: 'InternalServerError', param: null, code: 500 }
  server.always((request, response) => {
    const { opening, deltas } = streamedAnswer(request, { text: USUAL_ANSWER })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end([...opening, ...deltas.slice(0, 1), `data: ${JSON.stringify(fault)}\n\n`, 'data: [DONE]\n\n'].join(''))
  })
  t.match(parseEvents((await ask(EVENTS)).body).at(-1), { event: 'error', data: { code: 'dependency_unavailable' } })
})

t.test('a pause that an endpoint asks for is at most a day, however long its number', async (t) => {
  const { server, ask } = await gateway(t)
  const sent: string[] = []
  for (const value of ['7', '86401', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
    server.always(answering(429, '', { 'retry-after': value }))
    const response = await ask()
    refused(t, response, 503, 'dependency_unavailable')
    const header = String(response.headers['retry-after'])
    t.equal(response.json<Record<string, unknown>>()['retry_after_seconds'], Number(header))
    sent.push(header)
  }
  t.same(sent, ['7', '86400', '86400', '86400'])
})
