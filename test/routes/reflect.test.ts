import t from 'tap'
import { testApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'
import { generation, ScriptedModel } from './reflecting.js'
import { as, hitsOf, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

const FACTS = [
  'Alice drinks green tea. She never liked coffee.', 'Bob drinks coffee with Alice on Mondays.',
  'The bakery opens at seven.',
]

const languageModel = new ScriptedModel()
const scripted = await testApp(t, {
  file: {
    escalation: { circuit_breaker: { failure_threshold: 1000 } },
    homeostasis: { reflect_max_tokens: 100 },
    banks: { tight: { homeostasis: { reflect_max_tokens: 10 } } },
  },
}, { languageModel })
for (const fact of FACTS) await scripted.retain('bank', fact)

const app = await testApp(t)
for (const fact of FACTS) await app.retain('bank', fact)
const { post, retain } = app

await t.test('the answer consists of sentences of the evidence, each cited by its number', async (t) => {
  const response = await post('/v1/reflect', { bank_id: 'bank', query: 'What does Alice drink?' })
  t.equal(response.statusCode, 200)
  const { answer, sources, abstained, usage, ...rest } = response.json()
  t.same(rest, {})
  t.equal(abstained, false)
  const lines = (answer as string).split('\n')
  const cited = lines.map((line) => /^"(.+)" \[(\d+)\]$/.exec(line))
  t.notOk(cited.includes(null), 'each line is a quotation with a mark')
  t.same(cited.map((line) => line?.[2]), lines.map((_, index) => String(index + 1)))
  for (const line of cited) t.ok(sources[Number(line?.[2]) - 1].text.includes(line?.[1]))
  t.match(answer, /Alice drinks green tea\./)
  t.equal(usage.tokens, usage.input_tokens + usage.output_tokens)
  t.ok(usage.input_tokens > 0 && usage.output_tokens > 0)
})

await t.test('an answer that max_tokens cuts says so, as JSON and as a stream', async (t) => {
  const body = { bank_id: 'bank', query: 'What does Alice drink?' }
  for (const max of [1, 8, 12]) {
    const { answer, truncated, usage } = (await post('/v1/reflect', { ...body, max_tokens: max })).json()
    t.ok(usage.output_tokens <= max, answer)
    t.equal(truncated, true, answer)
  }
  t.notOk(Object.hasOwn((await post('/v1/reflect', { ...body, max_tokens: 100 })).json(), 'truncated'))
  const stream = await post('/v1/reflect', { ...body, max_tokens: 8 }, { accept: 'text/event-stream' })
  t.match(parseEvents(stream.body).at(-1), { event: 'done', data: { truncated: true } })
})

await t.test('the evidence is the hits of a recall', async (t) => {
  const body = { bank_id: 'bank', query: 'What does Alice drink?' }
  const hits = hitsOf(await post('/v1/recall', body))
  t.ok(hits.length > 0)
  const { sources } = (await post('/v1/reflect', { ...body, include_sources: 'all' })).json()
  t.same(new Set(sources.map(({ cited: _, ...hit }: { cited: boolean }) => hit)), new Set(hits))
})

await t.test('include_sources false omits the sources and leaves the answer unchanged', async (t) => {
  const body = { bank_id: 'bank', query: 'What does Alice drink?' }
  const { answer } = (await post('/v1/reflect', body)).json()
  t.match((await post('/v1/reflect', { ...body, include_sources: false })).json(), {
    answer, sources: { length: 0 }, abstained: false,
  })
})

for (const [what, body] of Object.entries({
  'a bank that does not exist': { bank_id: 'nowhere', query: 'tea' },
  'a question that nothing matches': { bank_id: 'bank', query: 'submarine' },
  'filters that nothing passes': { bank_id: 'bank', query: 'tea', tags: ['none'] },
})) {
  await t.test(`${what} gives no evidence: the answer says so and no model is called`, async (t) => {
    const before = languageModel.asked.length
    const response = await scripted.post('/v1/reflect', body)
    t.equal(response.statusCode, 200)
    const { answer, ...rest } = response.json()
    t.match(answer, /no memories/)
    t.same(rest, { sources: [], abstained: true, usage: { tokens: 0, input_tokens: 0, output_tokens: 0 } })
    t.equal(languageModel.asked.length, before)
  })
}

await t.test('the evidence is from the named banks, and passes the filters', async (t) => {
  await retain('left', 'The left harbour is foggy.', { tags: ['a'] })
  await retain('right', 'The right harbour is sunny.', { tags: ['a', 'b'] })
  await retain('other', 'The other harbour is closed.', { tags: ['a', 'b'] })
  const texts = async (more: Record<string, unknown>) => (
    (await post('/v1/reflect', { query: 'harbour', ...more })).json().sources.map(
      (hit: { bank_id: string }) => hit.bank_id,
    ).sort()
  )
  t.same(await texts({ banks: ['left', 'right'] }), ['left', 'right'])
  t.same(await texts({ banks: ['left', 'right'], tags: ['a', 'b'] }), ['left', 'right'])
  t.same(await texts({ banks: ['left', 'right'], tags: ['a', 'b'], tags_match: 'all' }), ['right'])
  t.same(await texts({ banks: ['left', 'right'], tags_match: 'all' }), await texts({ banks: ['left', 'right'] }))
  t.same(await texts({ bank_id: 'left' }), ['left'])
})

await t.test('a forgotten memory is not evidence', async (t) => {
  const id = await retain('forgetful', 'The password hint is a llama.')
  await post('/v1/forget', { bank_id: 'forgetful', memory_ids: [id] })
  t.match((await post('/v1/reflect', { bank_id: 'forgetful', query: 'password hint' })).json(), { abstained: true })
})

await t.test('max_tokens bounds the answer', async (t) => {
  for (const max of [8, 12, 20]) {
    const { answer, usage } = (await post('/v1/reflect', {
      bank_id: 'bank', query: 'What does Alice drink?', max_tokens: max,
    })).json()
    t.ok(usage.output_tokens <= max, `${usage.output_tokens} tokens: ${answer}`)
    t.match(answer, /\[\d\]/)
  }
})

await t.test('the model gets the token limit: that of the request, below that of the bank', async (t) => {
  await scripted.retain('tight', 'Alice drinks water.')
  const ceiling = async (body: Record<string, unknown>) => {
    await scripted.post('/v1/reflect', { query: 'What does Alice drink?', ...body })
    return languageModel.last.maxTokens
  }
  t.equal(await ceiling({ bank_id: 'bank' }), 100)
  t.equal(await ceiling({ bank_id: 'bank', max_tokens: 7 }), 7)
  t.equal(await ceiling({ bank_id: 'bank', max_tokens: '7' }), 7)
  t.equal(await ceiling({ bank_id: 'bank', max_tokens: 5000 }), 100)
  t.equal(await ceiling({ bank_id: 'tight' }), 10)
  t.equal(await ceiling({ banks: ['bank', 'tight'], max_tokens: 50 }), 10)
})

await t.test('the answer and the usage of the model are passed on', async (t) => {
  languageModel.answer = () => generation('Tea [1].')
  t.match((await scripted.post('/v1/reflect', { bank_id: 'bank', query: 'tea' })).json(), {
    answer: 'Tea [1].', abstained: false, usage: { tokens: 34, input_tokens: 30, output_tokens: 4 },
  })
})

await t.test('a model that fails gives 503 without its message', async (t) => {
  languageModel.answer = () => { throw new Error('api.models.test refused the key sk-123') }
  const response = await scripted.post('/v1/reflect', { bank_id: 'bank', query: 'tea' })
  refused(t, response, 503, 'dependency_unavailable')
  t.notMatch(response.body, /models\.test|sk-123/)
})

const unusable: Record<string, unknown> = {
  nothing: undefined,
  'no text': { usage: { inputTokens: 1, outputTokens: 1 } },
  'blank text': { text: ' \n', usage: { inputTokens: 1, outputTokens: 1 } },
  'text that is none': { text: 5, usage: { inputTokens: 1, outputTokens: 1 } },
  'no usage': { text: 'Tea.' },
  'usage that is no number': { text: 'Tea.', usage: { inputTokens: NaN, outputTokens: 1 } },
}
for (const [what, given] of Object.entries(unusable)) {
  await t.test(`a model that answers with ${what} gives 502`, async (t) => {
    languageModel.answer = () => given
    refused(t, await scripted.post('/v1/reflect', { bank_id: 'bank', query: 'tea' }), 502, 'model_output_invalid')
  })
}

const wrong: Array<[what: string, field: string, body: Record<string, unknown>]> = [
  ['no query', 'query', { query: undefined }],
  ['a blank query', 'query', { query: ' ' }],
  ['a query of 8193 characters', 'query', { query: 'q'.repeat(8193) }],
  ['neither bank_id nor banks', '', { bank_id: undefined }],
  ['both bank_id and banks', '', { banks: ['b'] }],
  ['65 banks', 'banks', { bank_id: undefined, banks: Array.from({ length: 65 }, (_, index) => `b${index}`) }],
  ['max_tokens 0', 'max_tokens', { max_tokens: 0 }],
  ['an empty list of tags', 'tags', { tags: [] }],
  ['a text for include_sources', 'include_sources', { include_sources: 'no' }],
  ['an unknown level of trust', 'min_trust', { min_trust: 'blind' }],
  ['a time that is none', 'as_of', { as_of: 'yesterday' }],
  ['a reference without an offset', 'reference_time', { reference_time: '2024-02-29T00:00:00' }],
  ['blank instructions', 'instructions', { instructions: '' }],
  ['a list for response_schema', 'response_schema', { response_schema: [] }],
  ['timeout_ms 0', 'timeout_ms', { timeout_ms: 0 }],
  ['a bound of recall', 'max_results', { max_results: 5 }],
  ['an unknown field', 'schema', { schema: {} }],
]
for (const [what, field, body] of wrong) {
  await t.test(`refuses ${what}`, async (t) => {
    refusedFields(t, await post('/v1/reflect', { query: 'tea', bank_id: 'bank', ...body }), field)
  })
}

await t.test('null counts as an absent field', async (t) => {
  const nothing = {
    banks: null,
    max_tokens: null,
    tags: null,
    tags_match: null,
    include_sources: null,
    min_trust: null,
    as_of: null,
    reference_time: null,
    instructions: null,
    response_schema: null,
    timeout_ms: null,
  }
  t.ok((await post('/v1/reflect', { query: 'tea', bank_id: 'bank', ...nothing })).json().sources.length > 0)
})

await t.test('a reflect requires the permission read on every bank', async (t) => {
  const { post } = await testApp(t, { file: ONE_PERMISSION_EACH })
  for (const principal of ['user:write', 'user:forget', 'user:admin']) {
    refused(t, await post('/v1/reflect', { query: 'x', bank_id: 'team' }, as(principal)), 403, 'access_denied', {
      detail: `Principal '${principal}' is denied 'read' on bank 'team'`,
    })
  }
  refused(
    t, await post('/v1/reflect', { query: 'x', banks: ['team', 'private'] }, as('user:read')), 403, 'access_denied',
    { detail: "Principal 'user:read' is denied 'read' on bank 'private'" },
  )
  t.equal((await post('/v1/reflect', { query: 'x', bank_id: 'team' }, as('user:read'))).statusCode, 200)
})
