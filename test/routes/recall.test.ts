import t from 'tap'
import type { Hit } from '../../lib/operations/schemas.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { as, hitsOf, longText, ONE_PERMISSION_EACH, refused, refusedFields, textsOf } from './support.js'

const { post, retain, clock } = await testApp(t)

const TEA = [
  'Alice drinks tea.', 'Tea, tea and more tea is what Alice asks for.',
  'Bob once spilled tea over the good carpet of his aunt.', 'Nothing but tea.', 'Carol grows tea roses.',
]
for (const content of TEA) await retain('tea', content)

await t.test('a hit is the complete record of its memory with a score, and nothing else', async (t) => {
  const id = await retain('record', 'Alice moved to Lyon.', {
    tags: ['home'],
    metadata: { turn: 3 },
    occurred_at: '2025-03-01T09:00:00Z',
    expires_at: '2030-01-01T00:00:00Z',
    document_id: 'chat',
    source: 'mail',
  })
  const response = await post('/v1/recall', { bank_id: 'record', query: 'Where is Lyon?' })
  t.equal(response.statusCode, 200)
  const { hits, usage, ...rest } = response.json()
  t.same(rest, { total_available: 1, truncated: false })
  t.same(Object.keys(usage), ['tokens'])
  t.ok(usage.tokens > 2 && usage.tokens < 12)
  t.equal(hits.length, 1)
  const { score, ...record } = hits[0]
  t.ok(score > 0 && score <= 1)
  t.same(record, {
    memory_id: id,
    bank_id: 'record',
    text: 'Alice moved to Lyon.',
    tags: ['home'],
    metadata: { turn: 3 },
    occurred_at: '2025-03-01T09:00:00.000Z',
    retained_at: '2026-01-15T10:00:00.000Z',
    expires_at: '2030-01-01T00:00:00.000Z',
    document_id: 'chat',
    source: 'mail',
    speaker: null,
    trust: 'trusted',
    version: 1,
    state: 'current',
  })
})

await t.test('hits come in falling order of scores within 0 and 1', async (t) => {
  const hits = hitsOf(await post('/v1/recall', { bank_id: 'tea', query: 'alice tea' }))
  t.equal(hits.length, TEA.length)
  t.ok(hits[0]!.text.includes('Alice'))
  t.same(hits.map((hit) => hit.score), hits.map((hit) => hit.score).sort((a, b) => b - a))
  t.ok(hits.every(({ score }) => score >= 0 && score <= 1))
})

await t.test('hits of equal score are in the order of the memory ids', async (t) => {
  const ids: string[] = []
  for (const name of ['Zoe', 'Adam', 'Mia', 'Ben']) ids.push(await retain('ties', `${name} sings.`))
  const hits = hitsOf(await post('/v1/recall', { bank_id: 'ties', query: 'sings' }))
  t.equal(new Set(hits.map((hit) => hit.score)).size, 1)
  t.same(hits.map((hit) => hit.memory_id), ids)
})

await t.test('a memory that has all names of a query comes before those that have one of them', async (t) => {
  const joint = [
    'The joint Research and Development unit in Graz under Dr. Huber has 4 million euros of budget for prototypes.',
    'On days when we ship, the team lunch that follows after a release starts at 13:30 in the Gusto restaurant.',
  ]
  for (const content of [
    'The Research budget was approved in May.', 'Research has a budget freeze.',
    'The Development budget is due in June.', 'Development spent its budget.', 'Team lunch is on Thursdays at noon.',
    'The release is on Tuesdays.', ...joint,
  ]) {
    await retain('joint', content)
  }
  for (const [query, expected] of [
    ['Research and Development budget', joint[0]], ['When is the team lunch after the release?', joint[1]],
  ] as const) {
    const { hits } = (await post('/v1/recall', { bank_id: 'joint', query })).json()
    t.equal(hits[0].text, expected)
    const explained = (await post('/v1/recall/explain', { bank_id: 'joint', query, expect: hits[0].memory_id })).json()
    t.match(explained, {
      verdict: 'returned', rank: 1, score: hits[0].score, stages: { scorers: { rank: 1 }, parts: { length: 2 } },
    })
  }
})

await t.test('a memory without a common word is not a hit', async (t) => {
  const response = await post('/v1/recall', { bank_id: 'tea', query: 'submarine' })
  t.same(response.json(), { hits: [], total_available: 0, truncated: false, usage: { tokens: 0 } })
})

await t.test('a bank that does not exist is empty', async (t) => {
  t.same((await post('/v1/recall', { bank_id: 'nowhere', query: 'tea' })).json(), {
    hits: [], total_available: 0, truncated: false, usage: { tokens: 0 },
  })
})

await t.test('total_available and the first hits are the same for every max_results', async (t) => {
  const all = hitsOf(await post('/v1/recall', { bank_id: 'tea', query: 'tea' }))
  for (const max of [1, 2, 3]) {
    const answer = (await post('/v1/recall', { bank_id: 'tea', query: 'tea', max_results: max })).json()
    t.same(answer.hits, all.slice(0, max))
    t.match(answer, { total_available: TEA.length, truncated: false })
  }
})

await t.test('usage counts the tokens of the returned hits', async (t) => {
  const tokens = async (max: number) => (
    (await post('/v1/recall', { bank_id: 'tea', query: 'tea', max_results: max })).json().usage.tokens as number
  )
  const single = await Promise.all(TEA.map(async (content, index) => {
    await retain(`tea-${index}`, content)
    return (await post('/v1/recall', { bank_id: `tea-${index}`, query: 'tea' })).json().usage.tokens as number
  }))
  t.equal(await tokens(10), single.reduce((sum, one) => sum + one))
  t.ok(await tokens(1) < await tokens(2))
})

await t.test('max_results is 10 by default and clamped to 1–1000', async (t) => {
  const batch = (from: number, count: number) => ({
    bank_id: 'many', items: Array.from({ length: count }, (_, index) => ({ content: `Note ${from + index}.` })),
  })
  t.equal((await post('/v1/retain/batch', batch(0, 1000))).statusCode, 200)
  t.equal((await post('/v1/retain/batch', batch(1000, 5))).statusCode, 200)
  for (const [asked, given] of [
    [undefined, 10], [null, 10], [-5, 1], [0, 1], [1, 1], [11, 11], [1000, 1000], [1001, 1000], [1e9, 1000],
  ]) {
    const answer = (await post('/v1/recall', { bank_id: 'many', query: 'note', max_results: asked })).json()
    t.equal(answer.hits.length, given, String(asked))
    t.equal(answer.total_available, 1005)
  }
})

await t.test('several banks compete in one ranking, each hit naming its bank', async (t) => {
  await retain('left', 'The violin is a violin.')
  await retain('right', 'She plays the violin in the evenings when the shop has closed and the children are asleep.')
  await retain('third', 'A violin.')
  const hits = hitsOf(await post('/v1/recall', { banks: ['right', 'left', 'empty', 'right'], query: 'violin' }))
  t.same(hits.map((hit) => hit.bank_id).sort(), ['left', 'right'])
  t.ok(hits[0]!.score >= hits[1]!.score)
})

await t.test('a memory that was split is one hit with its whole text and the passages that matched', async (t) => {
  const text = longText(120)
  await retain('split', text)
  await retain('split', 'A short word about number77.')
  const hit = hitsOf(await post('/v1/recall', { bank_id: 'split', query: 'number77 repaired' }))
    .find((hit) => hit.passages !== undefined)!
  t.equal(hit.text, text)
  t.ok(hit.passages!.length >= 1)
  t.ok(hit.passages![0]!.text.includes('number77'))
  for (const passage of hit.passages!) t.equal(passage.text, text.slice(passage.start, passage.end))
  t.same(hit.passages!.map(({ score }) => score), hit.passages!.map(({ score }) => score).sort((a, b) => b - a))
  t.equal(hitsOf(await post('/v1/recall', { bank_id: 'split', query: 'lighthouse' })).length, 1)
})

await t.test('min_score excludes lower scores, and is inclusive', async (t) => {
  const all = hitsOf(await post('/v1/recall', { bank_id: 'tea', query: 'alice tea' }))
  const bound = all[1]!.score
  const expected = all.filter((hit) => hit.score >= bound)
  t.ok(expected.length < all.length)
  const answer = (await post('/v1/recall', { bank_id: 'tea', query: 'alice tea', min_score: bound })).json()
  t.same(answer.hits, expected)
  t.match(answer, { total_available: all.length, truncated: false })
  t.same(hitsOf(await post('/v1/recall', { bank_id: 'tea', query: 'alice tea', min_score: 0 })), all)
})

await t.test('explain gives rank and score per strategy and the time of each stage, and changes no hit', async (t) => {
  const { post, retain } = await testApp(t, { file: { retrieval: { weights: { lexical: 1, semantic: 1 } } } })
  for (const content of TEA) await retain('tea', content)
  const body = { bank_id: 'tea', query: 'alice drinks tea' }
  const plain = (await post('/v1/recall', body)).json()
  t.notOk('trace' in plain || plain.hits.some((hit: Hit) => 'scores' in hit))
  const { trace, hits, ...rest } = (await post('/v1/recall', { ...body, explain: true })).json()
  t.same(hits.map(({ scores, ...hit }: Hit) => hit), plain.hits)
  t.same({ hits: plain.hits, ...rest }, plain)
  for (const strategy of ['lexical', 'semantic'] as const) {
    const ranks = hits.map((hit: Hit) => hit.scores![strategy]!.rank)
    t.same([...ranks].sort(), [1, 2, 3, 4, 5])
    t.ok(hits.every((hit: Hit) => hit.scores![strategy]!.score >= 0 && hit.scores![strategy]!.score <= 1))
  }
  t.ok(trace.stages.length >= 3)
  t.ok(trace.stages.every((stage: { name: unknown, duration_ms: unknown }) => (
    typeof stage.name === 'string' && Number(stage.duration_ms) >= 0
  )))
  t.same(trace.strategies.map(({ name }: { name: string }) => name), ['lexical', 'semantic'])
})

await t.test('an expired memory is no hit and not counted', async (t) => {
  await retain('expiry', 'The code is 1234.', { expires_at: '2026-01-15T11:00:00Z' })
  await retain('expiry', 'The code changes daily.')
  t.equal(hitsOf(await post('/v1/recall', { bank_id: 'expiry', query: 'code' })).length, 2)
  clock.set('2026-01-15T11:00:00Z')
  t.match((await post('/v1/recall', { bank_id: 'expiry', query: 'code' })).json(), {
    total_available: 1, hits: [{ text: 'The code changes daily.' }],
  })
})

const wrong: Array<[what: string, field: string, body: Record<string, unknown>]> = [
  ['no query', 'query', { query: undefined }],
  ['an empty query', 'query', { query: '' }],
  ['a blank query', 'query', { query: ' \n' }],
  ['a query of 8193 characters', 'query', { query: 'q'.repeat(8193) }],
  ['neither bank_id nor banks', '', { bank_id: undefined }],
  ['both bank_id and banks', '', { banks: ['b'] }],
  ['no banks at all', 'banks', { bank_id: undefined, banks: [] }],
  ['65 banks', 'banks', { bank_id: undefined, banks: Array.from({ length: 65 }, (_, index) => `b${index}`) }],
  ['a pattern for a bank', 'banks[1]', { bank_id: undefined, banks: ['a', 'b*'] }],
  ['a fraction for max_results', 'max_results', { max_results: 1.5 }],
  ['a min_score over 1', 'min_score', { min_score: 1.01 }],
  ['a min_score under 0', 'min_score', { min_score: -0.01 }],
  ['a text for explain', 'explain', { explain: 'true' }],
  ['an unknown field', 'top_k', { top_k: 3 }],
]
for (const [what, field, body] of wrong) {
  await t.test(`refuses ${what}`, async (t) => {
    refusedFields(t, await post('/v1/recall', { query: 'tea', bank_id: 'tea', ...body }), field)
  })
}

await t.test('a recall accepts a query of 8192 characters, 64 banks, and null for optional fields', async (t) => {
  const banks = ['tea', ...Array.from({ length: 63 }, (_, index) => `b${index}`)]
  const nothing = {
    bank_id: null,
    max_results: null,
    max_tokens: null,
    tags: null,
    tags_match: null,
    metadata: null,
    occurred_after: null,
    occurred_before: null,
    as_of: null,
    reference_time: null,
    min_score: null,
    explain: null,
  }
  t.equal(textsOf(await post('/v1/recall', { query: 'tea '.repeat(2048), banks, ...nothing })).length, TEA.length)
})

await t.test('a recall requires the permission read on every bank', async (t) => {
  const { post } = await testApp(t, { file: ONE_PERMISSION_EACH })
  for (const principal of ['user:write', 'user:forget', 'user:admin']) {
    refused(t, await post('/v1/recall', { query: 'x', bank_id: 'team' }, as(principal)), 403, 'access_denied', {
      detail: `Principal '${principal}' is denied 'read' on bank 'team'`,
    })
  }
  t.equal((await post('/v1/recall', { query: 'x', banks: ['team', 'team-2'] }, as('user:read'))).statusCode, 200)
  const response = await post('/v1/recall', { query: 'x', banks: ['team', 'private', 'team-2'] }, as('user:read'))
  refused(t, response, 403, 'access_denied', { detail: "Principal 'user:read' is denied 'read' on bank 'private'" })
})

await t.test('a store that fails gives 503 without its message', async (t) => {
  const store = new InMemoryVectorStore()
  store.search = async () => { throw new Error('connect ECONNREFUSED db.internal:5432') }
  const { post } = await testApp(t, {}, { store })
  const response = await post('/v1/recall', { query: 'x', bank_id: 'b' })
  refused(t, response, 503, 'dependency_unavailable')
  t.notMatch(response.body, /ECONN|internal|5432/)
})

await t.test('a store whose scores are no finite numbers gives 503, and the log names the fault', async (t) => {
  const store = new InMemoryVectorStore()
  const search = store.search.bind(store)
  const { post, retain, log } = await testApp(t, {}, { store })
  const id = await retain('b', 'Alice drinks tea.')
  const ask = async (change: (found: { total: unknown, lexical?: unknown, candidate: object }) => unknown) => {
    store.search = async (request) => {
      const result = await search(request)
      return change({ ...result, candidate: result.lexical![0]! }) as typeof result
    }
    return await post('/v1/recall', { query: 'tea', bank_id: 'b' })
  }
  t.match(await ask(({ candidate: _, ...result }) => result), { statusCode: 200 })
  const logged = (found: string) => {
    const message = `The vector store returned an unusable search result: ${found}`
    return log.find(({ err }) => (err as { message?: string } | undefined)?.message === message)
  }
  const of = (member: string) => `lexical: ${member} of memory ${id}`
  const passage = { start: 0, end: 3, score: Number.NaN }
  for (const [change, found] of [
    [{ score: Number.NaN }, `${of('score')} is NaN`],
    [{ score: Infinity }, `${of('score')} is Infinity`],
    [{ score: '0.5' }, `${of('score')} is of type string`],
    [{ score: undefined }, `${of('score')} is of type undefined`],
    [{ scores: null }, `${of('scores')} is null`],
    [{ scores: undefined }, `${of('scores')} is of type undefined`],
    [{ scores: { lexical: Number.NaN } }, `${of('scores.lexical')} is NaN`],
    [{ scores: { lexical: 1, own: '1' } }, `${of('scores.own')} is of type string`],
    [{ scores: { lexical: 1, own: 1, semantic: null } }, `${of('scores.semantic')} is null`],
    [{ passages: undefined }, `${of('passages')} is of type undefined`],
    [{ passages: [passage, passage] }, `${of('the score of a passage')} is NaN`],
  ] as const) {
    const response = await ask(({ candidate, total }) => ({ total, lexical: [{ ...candidate, ...change }] }))
    refused(t, response, 503, 'dependency_unavailable', { detail: 'The vector store is unavailable' })
    t.match(logged(found), { code: 'dependency_unavailable', request_id: response.headers['x-request-id'] }, found)
  }
  for (const [change, found] of [
    [{ total: Number.NaN }, 'total is NaN'], [{ total: '1' }, 'total is of type string'],
    [{ lexical: {} }, 'lexical is of type object'],
  ] as const) {
    refused(t, await ask(({ candidate: _, ...result }) => ({ ...result, ...change })), 503, 'dependency_unavailable')
    t.match(logged(found), { code: 'dependency_unavailable' }, found)
  }
})
