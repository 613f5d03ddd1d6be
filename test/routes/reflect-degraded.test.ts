import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { ModelCallError } from '../../lib/models/remote/model-call-error.js'
import type { GenerateRequest, GenerationPart } from '../../lib/models/language-model.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { deltasOf, parseEvents } from '../helpers/events.js'
import { answerOf, generation, hanging, logged, parts, StreamingModel } from './reflecting.js'
import { refused } from './support.js'

const EVENTS = { accept: 'text/event-stream' }
const QUESTION = { bank_id: 'bank', query: 'What does Alice drink?' }
const FILE: FileConfig = {
  escalation: { circuit_breaker: { failure_threshold: 1000 } }, reflect: { timeout_ms: 60_000 },
}
const SECRET = 'api.models.test refused the key sk-123'

async function failing (t: Test, file: FileConfig = {}) {
  const languageModel = new StreamingModel()
  const app = await testApp(t, { file: { ...FILE, ...file } }, { languageModel })
  await app.retain('bank', 'Alice drinks green tea.')
  return { ...app, languageModel }
}

const extractive = await failing(t, { escalation: { ...FILE.escalation, degraded_mode: 'extractive' } })
const strict = await failing(t)

async function * breaking (error: Error, ...texts: string[]): AsyncGenerator<GenerationPart, void> {
  for (const text of texts) yield { type: 'text', text }
  throw error
}

const faults: Array<[what: string, answer: () => unknown, status: number, code: string]> = [
  ['throws', () => { throw new Error(SECRET) }, 503, 'dependency_unavailable'],
  [
    'is unreachable', () => { throw new ModelCallError('unreachable', 'The language model broke off its answer') }, 503,
    'dependency_unavailable',
  ],
  [
    'refuses the request',
    () => { throw new ModelCallError('rejected', 'The language model refused the request', { status: 400 }) }, 503,
    'dependency_unavailable',
  ],
  ['gives nothing usable', () => generation(' '), 502, 'model_output_invalid'],
]
for (const [what, answer, status, code] of faults) {
  await t.test(`the model ${what}: an error by default, sentences of memories in the extractive mode`, async (t) => {
    strict.languageModel.answer = extractive.languageModel.answer = answer
    const response = await strict.post('/v1/reflect', QUESTION)
    refused(t, response, status, code)
    t.notMatch(response.body, /models\.test|sk-123/)
    const warned = logged(extractive, 40).length
    const { sources, ...rest } = answerOf(await extractive.post('/v1/reflect', QUESTION))
    t.same(rest, {
      answer: '"Alice drinks green tea." [1]',
      abstained: false,
      degraded: ['model'],
      usage: { tokens: 0, input_tokens: 0, output_tokens: 0 },
    })
    t.equal(sources.length, 1)
    t.match(
      answerOf(await extractive.post('/v1/reflect', { ...QUESTION, max_tokens: 5 })),
      { degraded: ['model'], truncated: true },
    )
    t.equal(logged(extractive, 40).length, warned + 2)
    t.match(logged(extractive, 40).at(-1), /^reflect answers without the language model/)
    t.same(logged(extractive, 50), [])
  })

  await t.test(`the model ${what} before the first word of a stream: the same answer, as events`, async (t) => {
    const { languageModel, post } = extractive
    languageModel.parts = () => { const given = answer(); return parts(...(typeof given === 'object' ? [' '] : [])) }
    const events = parseEvents((await post('/v1/reflect', QUESTION, EVENTS)).body)
    t.same(events.map(({ event }) => event), ['evidence', 'delta', 'usage', 'done'])
    const { sources, ...rest } = events.at(-1)?.data as { sources: unknown[] }
    t.same(rest, { answer: '"Alice drinks green tea." [1]', abstained: false, degraded: ['model'] })
    t.match(sources, [{ text: 'Alice drinks green tea.', cited: true }])
    t.equal(deltasOf(events), '"Alice drinks green tea." [1]')
    strict.languageModel.parts = languageModel.parts
    const failed = parseEvents((await strict.post('/v1/reflect', QUESTION, EVENTS)).body)
    t.match(failed, [{ event: 'evidence' }, { event: 'error', data: { code, request_id: /\S/, detail: /\S/ } }])
    t.equal(failed.length, 2)
    t.notMatch(JSON.stringify(failed), /models\.test|sk-123/)
  })
}

await t.test('a model that fails after the first word of a stream is an error in either mode', async (t) => {
  for (const { languageModel, post } of [extractive, strict]) {
    languageModel.parts = () => breaking(new Error(SECRET), 'Alice drinks tea [1].\n', 'And she ')
    const events = parseEvents((await post('/v1/reflect', QUESTION, EVENTS)).body)
    t.match(events, [
      { event: 'evidence' }, { event: 'delta', data: { text: 'Alice drinks tea [1].' } },
      { event: 'error', data: { code: 'dependency_unavailable', detail: 'The language model is unavailable' } },
    ])
    t.equal(events.length, 3)
    t.notMatch(JSON.stringify(events), /models\.test|sk-123/)
  }
})

await t.test('a buffered text does not count as sent', async (t) => {
  extractive.languageModel.parts = () => breaking(new Error(SECRET), 'Alice drinks ')
  t.match(parseEvents((await extractive.post('/v1/reflect', QUESTION, EVENTS)).body).at(-1), {
    event: 'done', data: { degraded: ['model'] },
  })
})

await t.test('a stream that ends without its end is unusable', async (t) => {
  strict.languageModel.parts = () => (
    (async function * (): AsyncGenerator<GenerationPart, void> { yield { type: 'text', text: 'Alice drinks tea' } })()
  )
  t.match(parseEvents((await strict.post('/v1/reflect', QUESTION, EVENTS)).body).at(-1), {
    event: 'error', data: { code: 'model_output_invalid' },
  })
})

await t.test('in the extractive mode memories replace a model that hangs until the deadline', async (t) => {
  const { languageModel, post } = extractive
  languageModel.answer = hanging
  t.match(
    answerOf(await post('/v1/reflect', { ...QUESTION, timeout_ms: 800 })), { degraded: ['model'], answer: /green tea/ },
  )
})

await t.test('an abstention in place of the model says that the model did not answer', async (t) => {
  const { languageModel, post } = extractive
  languageModel.answer = () => generation(' ')
  t.match(
    answerOf(await post('/v1/reflect', { ...QUESTION, query: 'Who repaired the green roof of the old library?' })),
    { abstained: true, degraded: ['model'], sources: [] },
  )
})

await t.test('extractive answers have no structure, so a request for a structured answer gets the fault', async (t) => {
  const { languageModel, post } = extractive
  languageModel.answer = () => { throw new Error(SECRET) }
  const schema = { type: 'object', properties: { drink: { type: 'string' } } }
  refused(t, await post('/v1/reflect', { ...QUESTION, response_schema: schema }), 503, 'dependency_unavailable')
  t.match(parseEvents((await post('/v1/reflect', { ...QUESTION, response_schema: schema }, EVENTS)).body).at(-1), {
    event: 'error', data: { code: 'dependency_unavailable' },
  })
})

await t.test('an exhausted budget is no fault of the model, and is 429 in the extractive mode too', async (t) => {
  const { languageModel, post } = await failing(t, {
    escalation: { degraded_mode: 'extractive' }, homeostasis: { quotas: { model_calls_per_day: 1 } },
  })
  t.equal((await post('/v1/reflect', QUESTION)).statusCode, 200)
  refused(t, await post('/v1/reflect', QUESTION), 429, 'quota_exceeded')
  t.equal(languageModel.asked.length, 1)
})

await t.test('a store that is down is no fault of the model either', async (t) => {
  const store = new InMemoryVectorStore()
  const { post } = await testApp(
    t, { file: { escalation: { degraded_mode: 'extractive' } } }, { store, languageModel: new StreamingModel() },
  )
  store.search = async () => { throw new Error('down') }
  refused(t, await post('/v1/reflect', QUESTION), 503, 'dependency_unavailable')
  refused(t, await post('/v1/reflect', QUESTION, EVENTS), 503, 'dependency_unavailable')
})

await t.test('a fault of the gateway is none of the model: 500, and no extractive answer', async (t) => {
  const { post, retain } = await testApp(t, { file: { escalation: { degraded_mode: 'extractive' } } }, {
    languageModel: new StreamingModel(), newBoundary: () => { throw new TypeError(SECRET) },
  })
  await retain('bank', 'Alice drinks green tea.')
  for (const headers of [{}, EVENTS]) {
    refused(t, await post('/v1/reflect', QUESTION, headers), 500, 'internal_error', { detail: 'Internal server error' })
  }
})

await t.test('the message of a custom model\'s error may contain the prompt, and is not logged', async (t) => {
  const { languageModel, post, log } = await failing(t)
  const fail = ({ messages }: GenerateRequest) => {
    throw Object.assign(new RangeError(JSON.stringify(messages)), { code: 'E_PROMPT' })
  }
  languageModel.answer = fail
  languageModel.parts = fail
  for (const headers of [{}, EVENTS]) await post('/v1/reflect', QUESTION, headers)
  const errors = log.filter(({ level }) => level === 50)
  t.equal(errors.length, 2)
  for (const { err } of errors) {
    t.match(err, {
      type: 'RangeError', message: /^RangeError \(its message/, code: 'E_PROMPT', stack: /reflect-degraded/,
    })
  }
  t.notMatch(JSON.stringify(log), /green tea|What does Alice/)
})
