import t from 'tap'
import { testApp } from '../helpers/app.js'
import { explain, NOBODY } from './explaining.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

await t.test('a missing, expired or foreign memory is reported only as not in the bank', async (t) => {
  const app = await testApp(t)
  const elsewhere = await app.retain('other', 'Alice drinks tea.')
  const expiring = await app.retain('bank', 'Alice drinks tea.', { expires_at: '2026-01-15T11:00:00Z' })
  const { retain, explainRecall: explainIn } = app.app.memory
  const acme = { principal: 'user:ada', tenantId: 'acme' }
  const { memory_id: foreign } = await retain({ bank_id: 'bank', content: 'Alice drinks green tea.' }, acme)
  t.equal((await explainIn({ bank_id: 'bank', query: 'tea', expect: foreign }, acme)).verdict, 'returned')
  t.equal((await explain(app, expiring, 'tea')).verdict, 'returned')
  app.clock.set('2026-01-15T11:00:00Z')
  for (const id of [NOBODY, elsewhere, expiring, foreign]) {
    t.strictSame(await explain(app, id, 'tea'), {
      memory_id: id, found: false, verdict: 'not_in_bank', rank: null, score: null, stages: {},
    })
  }
})

await t.test('a time in the query is shown, with whether the memory matches it', async (t) => {
  const app = await testApp(t)
  const then = await app.retain('bank', 'We painted the fence.', { occurred_at: '2025-03-10T09:00:00Z' })
  const later = await app.retain('bank', 'We painted the gate.', { occurred_at: '2025-08-10T09:00:00Z' })
  const query = 'What was painted in March 2025?'
  t.strictSame((await explain(app, then, query)).stages.times, {
    spans: [{ from: '2025-03-01T00:00:00.000Z', to: '2025-04-01T00:00:00.000Z' }], searched: true,
  })
  t.equal((await explain(app, later, query)).stages.times!.searched, false)
  t.equal((await explain(app, later, 'What was painted?')).stages.times, undefined)
  // RFC 3339 has no such year.
  t.equal((await explain(app, later, 'What was painted 3000 years ago?')).stages.times, undefined)
})

await t.test('a query that asks for two things is explained by its parts', async (t) => {
  const app = await testApp(t)
  const ann = await app.retain('bank', 'Ann likes plums.')
  await app.retain('bank', 'Bob likes pears.')
  const cleo = await app.retain('bank', 'Cleo sings.')
  const { verdict, stages } = await explain(app, ann, 'What do Ann and Bob like?')
  t.equal(verdict, 'returned')
  t.match(stages.parts, { length: 2 })
  t.match(stages.parts![0]!.query, /Ann/)
  t.equal(stages.parts![0]!.rank, 1)
  t.strictSame(
    (await explain(app, cleo, 'What do Ann and Bob like?')).stages.parts!.map(({ rank }) => rank), [null, null],
  )
  t.notOk('parts' in (await explain(app, ann, 'What does Ann like?')).stages)
})

await t.test('ids may be in upper case', async (t) => {
  const app = await testApp(t)
  const id = await app.retain('bank', 'Tea.')
  t.match(await explain(app, id.toUpperCase(), 'tea'), { memory_id: id, verdict: 'returned' })
})

await t.test('null counts as absent', async (t) => {
  const app = await testApp(t)
  const id = await app.retain('bank', 'Tea.')
  t.match(
    await explain(app, id, 'tea', {
      max_results: null,
      max_tokens: null,
      tags: null,
      tags_match: 'all',
      metadata: null,
      occurred_after: null,
      occurred_before: null,
      as_of: null,
      reference_time: null,
      min_score: null,
    }),
    { verdict: 'returned' },
  )
})

const wrong: Array<[what: string, field: string, body: Record<string, unknown>]> = [
  ['no expected memory', 'expect', { expect: undefined }],
  ['an expected memory that is no UUID', 'expect', { expect: 'tea' }],
  ['no bank', 'bank_id', { bank_id: undefined }],
  ['several banks', 'banks', { banks: ['bank'] }],
  ['no query', 'query', { query: undefined }],
  ['a blank query', 'query', { query: ' ' }],
  ['an instant that is none', 'as_of', { as_of: 'yesterday' }],
  ['a reference that is none', 'reference_time', { reference_time: '2024-02-30T00:00:00Z' }],
  ['a min_score over 1', 'min_score', { min_score: 1.01 }],
  ['an unknown field', 'explain', { explain: true }],
]
await t.test('refuses', async (t) => {
  const { post } = await testApp(t)
  for (const [what, field, body] of wrong) {
    await t.test(
      what,
      async (t) => {
        refusedFields(
          t, await post('/v1/recall/explain', { bank_id: 'bank', query: 'tea', expect: NOBODY, ...body }), field,
        )
      },
    )
  }
})

await t.test('an explanation requires the permission read on the bank', async (t) => {
  const { post } = await testApp(t, { file: ONE_PERMISSION_EACH })
  const body = { bank_id: 'team', query: 'x', expect: NOBODY }
  for (const principal of ['user:write', 'user:forget', 'user:admin']) {
    refused(t, await post('/v1/recall/explain', body, as(principal)), 403, 'access_denied')
  }
  t.equal((await post('/v1/recall/explain', body, as('user:read'))).statusCode, 200)
})

await t.test('an explanation counts as a recall', async (t) => {
  const { post } = await testApp(t, { file: { homeostasis: { rate_limits: { recall_per_minute: 2 } } } })
  const body = { bank_id: 'bank', query: 'x' }
  t.equal((await post('/v1/recall', body)).statusCode, 200)
  t.equal((await post('/v1/recall/explain', { ...body, expect: NOBODY })).statusCode, 200)
  refused(t, await post('/v1/recall/explain', { ...body, expect: NOBODY }), 429, 'rate_limited')
})
