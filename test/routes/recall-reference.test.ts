import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { explain } from './explaining.js'
import { answerOf, parts, ScriptedModel, StreamingModel } from './reflecting.js'
import { textsOf } from './support.js'

const QUERY = 'What did we paint two weeks ago?'
const THEN = '2024-03-01T12:00:00Z'

/** Three fences, of which the date alone tells which is meant; the last one is of two weeks before the clock. */
async function retainFences ({ retain }: TestApp, bank = 'bank'): Promise<string[]> {
  return [
    await retain(bank, 'We painted the north fence.', { occurred_at: '2024-02-16T09:00:00Z' }),
    await retain(bank, 'We painted the south fence.', { occurred_at: '2024-08-10T09:00:00Z' }),
    await retain(bank, 'We painted the east fence.', { occurred_at: '2026-01-01T09:00:00Z' }),
  ]
}

await t.test('relative times of the query refer to reference_time, and without it to the clock', async (t) => {
  const app = await testApp(t)
  await retainFences(app)
  const first = async (more: Record<string, unknown>) => (
    textsOf(await app.post('/v1/recall', { bank_id: 'bank', query: QUERY, ...more }))[0]
  )
  t.match(await first({}), /east/)
  t.match(await first({ reference_time: null }), /east/)
  t.match(await first({ reference_time: THEN }), /north/)
  t.match(await first({ reference_time: '2024-08-25T01:00:00+02:00' }), /south/)
  t.match(
    await first({ reference_time: '2999-01-01T00:00:00Z', query: 'What did we paint on 10 August 2024?' }), /south/,
    'a date with its year is no relative time',
  )
})

await t.test('days are calendar days at the offset of reference_time', async (t) => {
  const app = await testApp(t)
  const [north] = await retainFences(app)
  const spansAt = async (reference: string) => (
    (await explain(app, north!, 'What did we paint yesterday?', { reference_time: reference })).stages.times!.spans
  )
  t.strictSame(await spansAt('2024-03-01T23:30:00-10:00'), [
    { from: '2024-02-29T10:00:00.000Z', to: '2024-03-01T10:00:00.000Z' },
  ])
  t.strictSame(await spansAt('2024-03-02T09:30:00Z'), [
    { from: '2024-03-01T00:00:00.000Z', to: '2024-03-02T00:00:00.000Z' },
  ])
})

await t.test('the years 0 to 99 are those of the first century', async (t) => {
  const app = await testApp(t)
  const first = await app.retain('bank', 'We painted the fence.', { occurred_at: '0050-06-10T12:00:00Z' })
  await app.retain('bank', 'We mended the roof.', { occurred_at: '1950-06-10T12:00:00Z' })
  for (const [time, reference] of [
    ['yesterday', '0050-06-11T12:00:00Z'], ['two days ago', '0050-06-12T12:00:00Z'],
    ['last week', '0050-06-15T12:00:00Z'], ['last month', '0050-07-15T12:00:00Z'],
    ['last year', '0051-07-15T12:00:00Z'], ['in June last year', '0051-07-15T12:00:00Z'],
    ['on 10 June', '0050-11-12T12:00:00Z'], ['on the 10th', '0050-06-12T12:00:00Z'],
    ['in June', '0050-11-12T12:00:00Z'], ['in Q2', '0050-11-12T12:00:00Z'], ['last summer', '0050-11-12T12:00:00Z'],
    ['in the first half of June', '0050-11-12T12:00:00Z'],
    ['in the second week of June', '0050-11-12T12:00:00Z'],
  ] as const) {
    const answer = await app.post('/v1/recall', {
      bank_id: 'bank', query: `What did we do ${time}?`, reference_time: reference,
    })
    t.strictSame(answer.json().hits.map((hit: { memory_id: string }) => hit.memory_id), [first], time)
  }
})

await t.test('reference_time holds for every bank of the request', async (t) => {
  const app = await testApp(t)
  await retainFences(app, 'one')
  await app.retain('two', 'We painted the west fence.', { occurred_at: '2024-02-16T10:00:00Z' })
  const texts = textsOf(await app.post('/v1/recall', { banks: ['one', 'two'], query: QUERY, reference_time: THEN }))
  t.strictSame(texts.slice(0, 2).map((text) => text.split(' ')[3]).sort(), ['north', 'west'])
})

await t.test('reference_time holds for other wordings of the query', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => ({
    text: '{"queries": ["Which fence was painted two weeks ago?"]}', usage: { inputTokens: 1, outputTokens: 1 },
  })
  const file = { retrieval: { rewrite: { enabled: true } } }
  const app = await testApp(t, { file }, { languageModel: Object.assign(languageModel, { structured: true }) })
  await retainFences(app)
  const nearer = async (more: Record<string, unknown>) => (
    textsOf(await app.post('/v1/recall', { bank_id: 'bank', query: 'fence', rewrite: true, ...more }))
      .find((text) => !text.includes('north'))
  )
  t.match(await nearer({}), /east/)
  t.match(await nearer({ reference_time: '2024-08-25T00:00:00Z' }), /south/)
})

await t.test('expiry depends on the clock alone, whatever reference_time is', async (t) => {
  const app = await testApp(t)
  await app.retain('bank', 'We painted the old fence.', {
    occurred_at: '2024-02-16T09:00:00Z', expires_at: '2026-01-15T11:00:00Z',
  })
  const recall = async (reference: string) => (
    textsOf(await app.post('/v1/recall', { bank_id: 'bank', query: QUERY, reference_time: reference })).length
  )
  t.equal(await recall('2030-01-01T00:00:00Z'), 1)
  app.clock.set('2026-01-15T11:00:00Z')
  t.equal(await recall(THEN), 0)
})

await t.test('explain shows the times relative to reference_time', async (t) => {
  const app = await testApp(t)
  const [north] = await retainFences(app)
  const { rank, stages } = await explain(app, north!, QUERY, { reference_time: THEN })
  t.equal(rank, 1)
  t.strictSame(stages.times, {
    spans: [{ from: '2024-02-15T00:00:00.000Z', to: '2024-02-18T00:00:00.000Z' }], searched: true,
  })
  t.equal((await explain(app, north!, QUERY)).stages.times!.searched, false)
})

await t.test('the first and the last possible instant are accepted', async (t) => {
  const app = await testApp(t)
  const [north] = await retainFences(app)
  for (const instant of ['0000-01-01T00:00:00Z', '0099-03-01T00:00:00Z', '9999-12-31T23:59:59.999Z']) {
    for (const query of [
      QUERY, 'What did we paint yesterday?', 'What will we paint next month?', 'What did we paint in May?',
    ]) {
      t.equal((await app.post('/v1/recall', { bank_id: 'bank', query, reference_time: instant })).statusCode, 200)
      t.equal((await explain(app, north!, query, { reference_time: instant })).found, true)
    }
  }
})

await t.test('reflect finds its evidence by reference_time, and gives it to the model as the present', async (t) => {
  const languageModel = new ScriptedModel()
  const app = await testApp(t, { file: { reflect: { max_evidence: 1 } } }, { languageModel })
  await retainFences(app)
  const source = async (more: Record<string, unknown>) => (
    answerOf(await app.post('/v1/reflect', { bank_id: 'bank', query: QUERY, ...more })).sources[0]!.text
  )
  t.match(await source({}), /east/)
  t.match(languageModel.last.messages[1]!.content, /^The time is 2026-01-15T10:00:00\.000Z\.$/m)
  t.match(await source({ reference_time: '2024-03-01T13:00:00+01:00' }), /north/)
  t.match(languageModel.last.messages[1]!.content, /^The time is 2024-03-01T13:00:00\.000\+01:00\.$/m)
})

await t.test('a streamed reflect does so too', async (t) => {
  const languageModel = new StreamingModel()
  languageModel.parts = () => parts('The north fence [1].')
  const app = await testApp(t, {}, { languageModel })
  await retainFences(app)
  const response = await app.post(
    '/v1/reflect', { bank_id: 'bank', query: QUERY, reference_time: THEN }, { accept: 'text/event-stream' },
  )
  t.match(
    /data: (.*)/.exec(response.body)![1],
    /^\{"sources":\[\{"memory_id":"[^"]+","bank_id":"bank","text":"We painted the north fence/,
  )
  t.match(languageModel.last.messages[1]!.content, /^The time is 2024-03-01T12:00:00\.000Z\.$/m)
})
