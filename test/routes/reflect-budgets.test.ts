import t from 'tap'
import { ModelCallError } from '../../lib/models/remote/model-call-error.js'
import { countTokens } from '../../lib/text/tokens.js'
import { testApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'
import { answerOf, generation, parts, StreamingModel, tenants } from './reflecting.js'
import { refused } from './support.js'

const EVENTS = { accept: 'text/event-stream' }
const QUERY = 'Where does Alice live?'
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } }
const DAY = 24 * 3_600_000

const { auth, of } = await tenants(t)
const [one, other] = [of('one'), of('other')]
const languageModel = new StreamingModel()
const { post, retain, clock } = await testApp(t, {
  auth,
  file: {
    escalation: { circuit_breaker: { failure_threshold: 1000 } },
    prices: { scripted: { input: 2, output: 10 } },
    banks: {
      'calls-*': { homeostasis: { quotas: { model_calls_per_day: 2 } } },
      'tokens-*': { homeostasis: { quotas: { model_tokens_per_day: 3000 } } },
      small: { homeostasis: { quotas: { model_tokens_per_day: 100 } } },
    },
  },
  // Random boundaries differ in their tokens, and prompts with them.
}, { languageModel, newBoundary: () => '0123456789abcdef'.repeat(2) })
for (const bank of ['free', 'small', 'calls-a', 'calls-b', 'tokens-a']) {
  await retain(bank, 'Alice lives in Lyon.', {}, one)
}
await retain('calls-a', 'Alice lives in Oslo.', {}, other)

const ask = async (bank: string, more: Record<string, unknown> = {}, headers = one) => (
  await post('/v1/reflect', { bank_id: bank, query: QUERY, ...more }, headers)
)

t.beforeEach(() => {
  clock.advance(DAY)
  languageModel.asked.length = 0
  languageModel.answer = () => generation('Lyon [1].')
  languageModel.parts = () => parts('Lyon [1].')
})

await t.test('a budget of calls belongs to a bank and a tenant, and refuses before the call', async (t) => {
  for (let index = 0; index < 2; index++) t.equal((await ask('calls-a')).statusCode, 200)
  refused(t, await ask('calls-a'), 429, 'quota_exceeded', {
    detail: /model_calls_per_day \(2\)/, retry_after_seconds: 14 * 3600,
  })
  t.equal(languageModel.asked.length, 2)
  t.equal((await ask('calls-b')).statusCode, 200, 'another bank')
  t.equal((await ask('calls-a', {}, other)).statusCode, 200, 'another tenant')
  t.equal((await ask('free')).statusCode, 200, 'a bank without a budget is not affected')
  refused(t, await ask('calls-b', { bank_id: undefined, banks: ['calls-a', 'calls-b'] }), 429, 'quota_exceeded')
  t.equal((await ask('calls-b')).statusCode, 200, 'the refused one took nothing from the other bank')
  clock.advance(DAY)
  t.equal((await ask('calls-a')).statusCode, 200, 'a new day')
})

await t.test('a stream is counted like any other, and refused as an event after its evidence', async (t) => {
  for (let index = 0; index < 2; index++) t.equal((await ask('calls-a', {}, { ...one, ...EVENTS })).statusCode, 200)
  t.match(
    parseEvents((await ask('calls-a', {}, { ...one, ...EVENTS })).body),
    [{ event: 'evidence' }, { event: 'error', data: { code: 'quota_exceeded', retry_after_seconds: Number } }],
  )
  t.equal(languageModel.asked.length, 2)
})

await t.test('a budget of tokens counts the prompt and the maximum of the answer', async (t) => {
  refused(t, await ask('small', { max_tokens: 50 }), 400, 'invalid_request', {
    detail: /more than model_tokens_per_day \(100\) allows/,
    errors: [{ field: 'max_tokens', message: String }],
  })
  t.same(languageModel.asked, [])
  t.equal((await ask('tokens-a', { max_tokens: 50 })).statusCode, 200)
  const prompt = languageModel.last.messages.reduce((sum, { content }) => sum + countTokens(content), 0)
  // Of it 34 tokens were used.
  refused(t, await ask('tokens-a', { max_tokens: 3000 - 34 - prompt + 1 }), 429, 'quota_exceeded', {
    detail: /model_tokens_per_day \(3000\) has too few tokens left/,
  })
  t.equal((await ask('tokens-a', { max_tokens: 3000 - 34 - prompt })).statusCode, 200)
})

await t.test('a call that did not reach the model costs nothing', async (t) => {
  for (const kind of ['unreachable', 'rejected', 'circuit_open', 'overloaded'] as const) {
    languageModel.answer = () => { throw new ModelCallError(kind, kind, { retryAfterMs: 120_000 }) }
    for (let index = 0; index < 3; index++) {
      t.match((await ask('calls-a')).json(), {
        code: kind === 'overloaded' ? 'overloaded' : 'dependency_unavailable', retry_after_seconds: 120,
      })
    }
  }
  languageModel.answer = () => generation('Lyon [1].')
  t.equal((await ask('calls-a')).statusCode, 200)
})

await t.test('an unusable answer was paid for', async (t) => {
  languageModel.answer = () => generation(' ')
  for (let index = 0; index < 2; index++) t.equal((await ask('calls-a')).statusCode, 502)
  refused(t, await ask('calls-a'), 429, 'quota_exceeded')
})

await t.test('without evidence nothing is counted', async (t) => {
  for (let index = 0; index < 3; index++) {
    t.match(
      answerOf(await ask('calls-a', { query: 'submarine' })),
      { abstained: true, usage: { tokens: 0, cost: undefined } },
    )
  }
  t.equal((await ask('calls-a')).statusCode, 200)
})

await t.test('the repair of a structured answer is a separate call, and fails without a budget for it', async (t) => {
  languageModel.answer = () => generation('no JSON')
  t.equal((await ask('calls-a')).statusCode, 200)
  refused(t, await ask('calls-a', { response_schema: SCHEMA }), 429, 'quota_exceeded')
  t.equal(languageModel.asked.length, 2)
})

await t.test('with a price the usage contains the cost, including that of a repair', async (t) => {
  t.same(answerOf(await ask('free')).usage, { tokens: 34, input_tokens: 30, output_tokens: 4, cost: 0.0001 })
  t.match(
    parseEvents((await ask('free', {}, { ...one, ...EVENTS })).body).find(({ event }) => event === 'usage')?.data,
    { tokens: 34, cost: 0.0001 },
  )
  const answers = ['no', JSON.stringify({ answer: 'Lyon [1].', structured: { city: 'Lyon' } })]
  languageModel.answer = () => generation(answers.shift()!)
  t.same(answerOf(await ask('free', { response_schema: SCHEMA })).usage, {
    tokens: 68, input_tokens: 60, output_tokens: 8, cost: 0.0002,
  })
  languageModel.answer = () => generation('NO_ANSWER')
  t.match(answerOf(await ask('free')), { abstained: true, usage: { cost: 0.0001 } })
})

await t.test('without a price for this model there is no cost', async (t) => {
  const { post, retain } =
    await testApp(t, { file: { prices: { other: { input: 2, output: 10 } } } }, { languageModel })
  await retain('bank', 'Alice lives in Lyon.')
  t.same(answerOf(await post('/v1/reflect', { bank_id: 'bank', query: QUERY })).usage, {
    tokens: 34, input_tokens: 30, output_tokens: 4,
  })
})
