import t from 'tap'
import { testApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'
import { answerOf, generation, StreamingModel } from './reflecting.js'
import { refused, refusedFields } from './support.js'

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, since: { type: ['integer', 'null'] } },
  required: ['city'],
  additionalProperties: false,
}
const GOOD = JSON.stringify({ answer: 'Alice lives in Lyon [1].', structured: { city: 'Lyon', since: 2019 } })

const languageModel = new StreamingModel()
const app = await testApp(t, { file: { homeostasis: { quotas: { model_calls_per_day: 1000 } } } }, { languageModel })
const { post, retain } = app
await retain('bank', 'Alice lives in Lyon since 2019.')

/** Asks; the model gives these answers one after the other. */
async function ask (answers: string[], more: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  languageModel.asked.length = 0
  const left = [...answers]
  languageModel.answer = () => generation(left.shift() ?? '')
  return await post(
    '/v1/reflect', { bank_id: 'bank', query: 'Where does Alice live?', response_schema: SCHEMA, ...more }, headers,
  )
}

await t.test('the answer has both a text and the object that satisfies the schema', async (t) => {
  const { sources, usage, ...rest } = answerOf(await ask([GOOD]))
  t.same(rest, { answer: 'Alice lives in Lyon [1].', abstained: false, structured: { city: 'Lyon', since: 2019 } })
  t.equal(sources.length, 1)
  t.equal(usage.tokens, 34)
  t.equal(languageModel.asked.length, 1)
})

await t.test('the model gets the schema of its whole answer in the prompt and as data', async (t) => {
  await ask([GOOD])
  const { responseSchema, messages } = languageModel.last
  t.match(responseSchema, {
    type: 'object', properties: { answer: { type: 'string' }, structured: SCHEMA }, required: ['answer', 'structured'],
  })
  t.ok(messages[0]?.content.includes(JSON.stringify(responseSchema)))
  await ask(['Lyon [1].'], { response_schema: null })
  t.equal(languageModel.last.responseSchema, undefined)
  t.notMatch(languageModel.last.messages[0]?.content, /JSON Schema/)
})

await t.test('JSON in a fence or with prose around it is read', async (t) => {
  t.match(answerOf(await ask([`Here it is:\n\`\`\`json\n${GOOD}\n\`\`\``])), { structured: { city: 'Lyon' } })
})

await t.test('a wrong answer is sent back once, with its problems and without its values', async (t) => {
  const wrong = JSON.stringify({ answer: 'Lyon [1].', structured: { since: 'long ago', secret: 'x' } })
  const { structured, usage } = answerOf(await ask([wrong, GOOD]))
  t.same(structured, { city: 'Lyon', since: 2019 })
  t.same(usage, { tokens: 68, input_tokens: 60, output_tokens: 8 }, 'both calls are reported')
  const [first, second] = languageModel.asked
  t.same(second?.messages.slice(0, 2), first?.messages)
  t.same(second?.messages[2], { role: 'assistant', content: wrong })
  const { role, content } = second!.messages[3]!
  t.equal(role, 'user')
  t.match(content, /structured: .*city/)
  t.match(content, /since/)
  t.notMatch(content, /long ago/)
  t.same(second?.responseSchema, first?.responseSchema)
})

const unusable: Record<string, string> = {
  'no JSON': 'Lyon.',
  'JSON that breaks off': GOOD.slice(0, -5),
  'no answer in words': JSON.stringify({ structured: { city: 'Lyon' } }),
  'an answer that is no text': JSON.stringify({ answer: 5, structured: { city: 'Lyon' } }),
  'no structured': JSON.stringify({ answer: 'Lyon [1].' }),
  'a list for structured': JSON.stringify({ answer: 'Lyon [1].', structured: [] }),
  'an additional property': JSON.stringify({ answer: 'Lyon [1].', structured: { city: 'Lyon', more: 1 } }),
  __proto__: '{"answer":"Lyon [1].","structured":{"city":"Lyon","__proto__":{"a":1}}}',
}
for (const [what, text] of Object.entries(unusable)) {
  await t.test(`twice ${what}: 502 after two calls`, async (t) => {
    const response = await ask([text, text])
    refused(t, response, 502, 'model_output_invalid')
    t.equal(languageModel.asked.length, 2)
    t.notMatch(response.body, /Lyon/)
  })
}

await t.test('a structured answer without a meaningful text is no answer', async (t) => {
  refused(t, await ask([JSON.stringify({ answer: ' ', structured: { city: 'Lyon' } })]), 502, 'model_output_invalid')
})

await t.test('the text is checked like any answer', async (t) => {
  t.match(
    answerOf(await ask([JSON.stringify({ answer: 'Lyon [1]. Paris [4].', structured: { city: 'Lyon' } })])),
    { answer: 'Lyon [1].', structured: { city: 'Lyon' } },
  )
  t.match(
    answerOf(await ask([JSON.stringify({ answer: 'Lyon.', structured: { city: 'Lyon' } })])), { unverified: true },
  )
})

await t.test('an abstention has no object, whatever the model returned as one', async (t) => {
  for (const structured of [{}, { city: 'Lyon' }, null]) {
    const { answer, ...rest } = answerOf(await ask([JSON.stringify({ answer: 'NO_ANSWER', structured })]))
    t.same(rest, { abstained: true, sources: [], usage: { tokens: 34, input_tokens: 30, output_tokens: 4 } })
    t.match(answer, /no memories/)
  }
})

await t.test('the word of an abstention without JSON is an abstention and not sent back', async (t) => {
  for (const text of ['NO_ANSWER', ' **NO_ANSWER.**\n', '```\nNO_ANSWER\n```']) {
    t.match(answerOf(await ask([text])), { abstained: true, structured: undefined })
    t.equal(languageModel.asked.length, 1)
  }
  refused(t, await ask(['NO_ANSWER [1].', 'The NO_ANSWER.']), 502, 'model_output_invalid')
})

await t.test('without evidence there is no call, and no object', async (t) => {
  t.same(Object.keys(answerOf(await ask([GOOD], { query: 'submarine' }))).sort(), [
    'abstained', 'answer', 'sources', 'usage',
  ])
  t.same(languageModel.asked, [])
})

await t.test('a stream has the text in one piece and the object at its end', async (t) => {
  const response = await ask([GOOD], {}, { accept: 'text/event-stream' })
  t.match(response.headers['content-type'], /^text\/event-stream/)
  const events = parseEvents(response.body)
  t.same(events.map(({ event }) => event), ['evidence', 'delta', 'usage', 'done'])
  t.same(events[1]?.data, { text: 'Alice lives in Lyon [1].' })
  const { sources, ...rest } = events[3]?.data as { sources: unknown[] }
  t.same(rest, { answer: 'Alice lives in Lyon [1].', abstained: false, structured: { city: 'Lyon', since: 2019 } })
  t.match(sources, [{ text: 'Alice lives in Lyon since 2019.', cited: true }])
})

await t.test('a stream whose object stays wrong ends with the error', async (t) => {
  const events = parseEvents((await ask(['no', 'no'], {}, { accept: 'text/event-stream' })).body)
  t.match(events, [{ event: 'evidence' }, { event: 'error', data: { code: 'model_output_invalid', request_id: /\S/ } }])
  t.equal(events.length, 2)
})

const bad: Array<[what: string, field: string, schema: unknown]> = [
  ['a list', 'response_schema', []],
  ['no type', 'response_schema.type', {}],
  ['another type', 'response_schema.type', { type: 'array' }],
  ['a reference', 'response_schema.$ref', { type: 'object', $ref: '#/a' }],
  [
    'a pattern', 'response_schema.properties.a.pattern',
    { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
  ],
  [
    'an unknown type within', 'response_schema.properties.a.type',
    { type: 'object', properties: { a: { type: 'date' } } },
  ],
  ['more than 16 KiB', 'response_schema', { type: 'object', description: 'x'.repeat(16 * 1024) }],
  [
    '257 properties', 'response_schema',
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`p${index}`, {}])) },
  ],
]
for (const [what, field, schema] of bad) {
  await t.test(`refuses a schema with ${what}`, async (t) => {
    refusedFields(t, await ask([GOOD], { response_schema: schema }), field)
    t.same(languageModel.asked, [])
  })
}

await t.test('a schema of nine levels is refused, and one of eight is accepted', async (t) => {
  const nested = (depth: number): Record<string, unknown> => (
    depth === 1 ? { type: 'object' } : { type: 'object', properties: { a: nested(depth - 1) } }
  )
  const of = (depth: number) => JSON.stringify({ answer: 'Lyon [1].', structured: depth > 0 ? {} : { a: 1 } })
  t.equal((await ask([of(8)], { response_schema: nested(8) })).statusCode, 200)
  t.match((await ask([of(9)], { response_schema: nested(9) })).json(), { code: 'invalid_request' })
})

await t.test('a bad schema is refused before the recall, also for a client that requests events', async (t) => {
  refusedFields(t, await ask([GOOD], { response_schema: {} }, { accept: 'text/event-stream' }), 'response_schema.type')
})

await t.test('a model without structured answers gives 501, before a quota is charged', async (t) => {
  const { post, retain } = await testApp(t, { file: { homeostasis: { quotas: { reflect_per_day: 1 } } } })
  await retain('bank', 'Alice lives in Lyon.')
  const body = { bank_id: 'bank', query: 'Where does Alice live?' }
  refused(t, await post('/v1/reflect', { ...body, response_schema: SCHEMA }), 501, 'not_supported', {
    detail: /llm_provider \(openai_compatible or anthropic\) and llm_provider_config/,
  })
  t.equal((await post('/v1/reflect', body)).statusCode, 200)
})
