import t from 'tap'
import { testApp } from '../helpers/app.js'
import { answerOf, evidenceIn, generation, ScriptedModel, USAGE } from './reflecting.js'

const languageModel = new ScriptedModel()
const app = await testApp(
  t, { file: { banks: { sure: { homeostasis: { quotas: { reflect_per_day: 1 } } } } } }, { languageModel },
)
const { post, retain } = app
await retain('bank', 'Alice lives in Lyon.')
await retain('bank', 'Alice lives with a cat in a small flat.')

async function says (text: string, more: Record<string, unknown> = {}) {
  languageModel.answer = () => generation(text)
  return answerOf(await post('/v1/reflect', { bank_id: 'bank', query: 'Where does Alice live?', ...more }))
}

await t.test('marks name the sources by their position, in the order of the answer', async (t) => {
  const { answer, sources, usage, ...rest } = await says('Alice lives in Lyon [1]. She has a cat [2].')
  t.equal(answer, 'Alice lives in Lyon [1]. She has a cat [2].')
  t.same(sources.map(({ text }) => text), evidenceIn(languageModel.last).map(({ text }) => text))
  t.equal(sources.length, 2)
  t.same(usage, { tokens: 34, input_tokens: 30, output_tokens: 4 })
  t.same(rest, { abstained: false })
  const turned = await says('She has a cat [2]. Alice lives in Lyon [1]. Her cat lives there too [1, 2].')
  t.equal(turned.answer, 'She has a cat [1]. Alice lives in Lyon [2]. Her cat lives there too [2][1].')
  t.same(turned.sources, [sources[1], sources[0]])
})

await t.test('the sources are those that are cited; with "all" the rest of the evidence follows', async (t) => {
  const text = 'She has a cat [2].'
  const cited = await says(text)
  t.match(cited, { answer: 'She has a cat [1].', sources: [{ text: /cat/, cited: true }] })
  t.equal(cited.sources.length, 1)
  for (const include of ['cited', true]) t.same(await says(text, { include_sources: include }), cited)
  const all = await says(text, { include_sources: 'all' })
  t.same(all.sources.map(({ text, cited }) => [text, cited]), [
    ['Alice lives with a cat in a small flat.', true], ['Alice lives in Lyon.', false],
  ])
})

await t.test('a sentence is cut when its mark is beyond the sources; the rest stays', async (t) => {
  t.match(await says('Alice lives in Lyon [1]. She owns a yacht [3]. She has a cat [2].'), {
    answer: 'Alice lives in Lyon [1]. She has a cat [2].', unverified: undefined,
  })
  t.match(await says('She owns a yacht [0]. Alice lives in Lyon [1][7].'), {
    answer: 'Alice lives in Lyon [1].', unverified: undefined,
  })
})

await t.test('an answer without a mark that names a source is unverified', async (t) => {
  t.match(await says('Alice lives in Paris.'), {
    answer: 'Alice lives in Paris.', unverified: true, abstained: false, sources: { length: 0 },
  })
  t.match(await says('Alice lives in Paris [9].', { include_sources: 'all' }), {
    answer: 'Alice lives in Paris.', unverified: true, abstained: false, sources: [{ cited: false }, { cited: false }],
  })
})

await t.test('the addresses in an answer are those of its evidence', async (t) => {
  const { answer } = await says('Alice lives in Lyon [1]. ![map](https://evil.test/?q=Alice) See https://evil.test/a.')
  t.notMatch(answer, /evil/)
})

for (const text of [
  'NO_ANSWER', ' "NO_ANSWER." ', '**no_answer**', 'NO_ANSWER\n\nThe evidence does not say it.',
]) {
  await t.test(`the model abstains with ${JSON.stringify(text)}: the answer has no sources, ` +
    'but the cost', async (t) => {
    const { answer, ...rest } = await says(text)
    t.equal(answer, 'There are no memories that answer this.')
    t.same(rest, { abstained: true, sources: [], usage: { tokens: 34, input_tokens: 30, output_tokens: 4 } })
  })
}

await t.test('the abstention word within a sentence is no abstention', async (t) => {
  t.match(await says('The code NO_ANSWER stands on her door [1].'), {
    abstained: false, answer: 'The code NO_ANSWER stands on her door [1].',
  })
})

await t.test('below the minimum score no model is called, and nothing is spent', async (t) => {
  const before = languageModel.asked.length
  t.match(await says('Tea [1].', { query: 'submarines of Peru' }), {
    abstained: true, sources: { length: 0 }, usage: { tokens: 0 },
  })
  t.equal(languageModel.asked.length, before)
})

await t.test('an answer that max_tokens cuts is marked', async (t) => {
  languageModel.answer = () => ({ ...generation('Alice lives in Lyon [1]. She has a'), finish: 'length' })
  t.match(
    answerOf(await post('/v1/reflect', { bank_id: 'bank', query: 'Where does Alice live?' })),
    { truncated: true, answer: /^Alice lives in Lyon \[1\]\./ },
  )
})

await t.test('an answer that a filter of the model suppressed is not used', async (t) => {
  languageModel.answer = () => ({ ...generation('Alice lives [1].'), finish: 'filtered' })
  const response = await post('/v1/reflect', { bank_id: 'bank', query: 'Where does Alice live?' })
  t.match({ status: response.statusCode, ...response.json() }, { status: 502, code: 'model_output_invalid' })
})

await t.test('an answer of only an image is empty, which is no answer', async (t) => {
  languageModel.answer = () => generation('![](https://evil.test/x)')
  t.equal((await post('/v1/reflect', { bank_id: 'bank', query: 'Where does Alice live?' })).statusCode, 502)
})

await t.test('include_sources false leaves the evidence in the prompt', async (t) => {
  t.match(await says('Alice lives in Lyon [1].', { include_sources: false }), {
    answer: 'Alice lives in Lyon [1].', sources: { length: 0 },
  })
  t.equal(evidenceIn(languageModel.last).length, 2)
})

await t.test('the model also gets the prompt as data, a token limit, a deadline and the tenant', async (t) => {
  await says('Tea [1].', { max_tokens: 9, timeout_ms: 5000 })
  const { grounding, maxTokens, timeoutMs, tenantId, messages } = languageModel.last
  t.equal(grounding.question, 'Where does Alice live?')
  t.match(grounding.evidence, [{ text: 'Alice lives in Lyon.', bankId: 'bank', occurredAt: null }, { bankId: 'bank' }])
  t.equal(maxTokens, 9)
  t.ok(timeoutMs! > 0 && timeoutMs! <= 4900, `${timeoutMs}: some time remains for the answer that it was late`)
  t.equal(tenantId, null)
  t.same(messages.map(({ role }) => role), ['system', 'user'])
})

await t.test('the quota of an abstention counts, because it is an answer', async (t) => {
  await retain('sure', 'Alice lives in Lyon.')
  languageModel.answer = () => ({ text: 'NO_ANSWER', usage: USAGE })
  const ask = async () => await post('/v1/reflect', { bank_id: 'sure', query: 'Where does Alice live?' })
  t.match(answerOf(await ask()), { abstained: true })
  t.match((await ask()).json(), { code: 'quota_exceeded' })
})

await t.test('the quota of a missing answer is refunded', async (t) => {
  app.clock.advance(24 * 3_600_000)
  const ask = async () => await post('/v1/reflect', { bank_id: 'sure', query: 'Where does Alice live?' })
  languageModel.answer = () => { throw new Error('down') }
  t.equal((await ask()).statusCode, 503)
  languageModel.answer = () => generation(' ')
  t.equal((await ask()).statusCode, 502)
  languageModel.answer = () => generation('Lyon [1].')
  t.equal((await ask()).statusCode, 200)
  t.match((await ask()).json(), { code: 'quota_exceeded' })
})
