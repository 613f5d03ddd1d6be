import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'

const REFERENCE = '2026-11-23T12:00:00Z'

async function appWithDiary (t: Test): Promise<TestApp> {
  const app = await testApp(t)
  const memories: Array<[text: string, occurredAt: string | undefined, tag: string]> = [
    ['We went to the zoo.', '2026-05-05T10:00:00Z', 'family'],
    ['Lena had her recital.', '2026-05-05T18:00:00Z', 'music'],
    ['We may move 5 boxes to the cellar.', '2026-02-05T18:00:00Z', 'family'],
    ['Yesterday I watched a film about whales.', '2026-03-05T18:00:00Z', 'family'],
    ['Paid the rent.', '2026-11-22T09:00:00Z', 'family'],
    ['Tea is better than coffee.', undefined, 'family'],
  ]
  for (const [text, occurredAt, tag] of memories) {
    await app.retain('home', text, { tags: [tag], ...(occurredAt !== undefined && { occurred_at: occurredAt }) })
  }
  return app
}

async function recall (app: TestApp, query: string, more: object = {}): Promise<string[]> {
  const answer = await app.post('/v1/recall', { bank_id: 'home', query, reference_time: REFERENCE, ...more })
  const { hits, total_available: total } = answer.json()
  assert.ok(total >= hits.length)
  return hits.map(({ text }: { text: string }) => text)
}

t.test('a question that names only a time finds the memories of that time, whatever their words', async (t) => {
  const app = await appWithDiary(t)
  t.strictSame(await recall(app, 'What did we do on 5 May?'), [
    'We went to the zoo.', 'Lena had her recital.', 'We may move 5 boxes to the cellar.',
  ])
  t.strictSame(await recall(app, 'What happened yesterday?'), [
    'Paid the rent.', 'Yesterday I watched a film about whales.',
  ])
})

t.test('a question for a time up to the present, or between dates, finds the memories of every day', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'The boiler was repaired.', { occurred_at: '2026-11-23T10:00:00Z' })
  await app.retain('home', 'Bought bread.', { occurred_at: '2026-11-22T20:00:00Z' })
  await app.retain('home', 'Sold the boat.', { occurred_at: '1990-05-05T10:00:00Z' })
  for (const query of [
    'What happened in the last 24 hours?', 'What happened within the past thirty-six hours?',
    'What happened between 2026-11-20 and 2026-11-23?', 'What happened between 2026-11-20 and now?',
    'What happened from 2026-11-20 until 2026-11-23?', 'What happened from 2026-11-20 through 2026-11-23?',
    'What happened from 2026-11-20 till today?', 'What happened between yesterday and today?',
  ]) {
    t.strictSame(new Set(await recall(app, query)), new Set(['The boiler was repaired.', 'Bought bread.']), query)
  }
  t.strictSame(await recall(app, 'What happened the previous day?'), ['Bought bread.'])
})

t.test('with embeddings, memories of the time are found by the time at which they were retained, too', async (t) => {
  const app = await testApp(t, { file: { retrieval: { weights: { semantic: 1 } } } })
  app.clock.set('2026-11-22T09:00:00Z')
  await app.retain('home', 'Paid the rent.')
  app.clock.set('2026-11-23T09:00:00Z')
  for (let index = 0; index < 150; index++) await app.retain('home', `Entry ${index} says what happened yesterday.`)
  t.equal((await recall(app, 'What happened yesterday?'))[0], 'Paid the rent.')
})

t.test('explain tells that a memory was found by the time at which it was retained', async (t) => {
  const app = await testApp(t)
  app.clock.set('2026-11-22T09:00:00Z')
  const id = await app.retain('home', 'Paid the rent.')
  const searched = async (query: string) => {
    const request = { bank_id: 'home', query, reference_time: REFERENCE, expect: id }
    return (await app.post('/v1/recall/explain', request)).json().stages.times.searched
  }
  t.equal(await searched('What happened yesterday?'), true)
  t.equal(await searched('What happened on 3 November 2026?'), false)
  t.equal(await searched('Who paid the rent yesterday?'), false)
})

t.test('memories of the time rank before those of a day close to it that have its words', async (t) => {
  const app = await testApp(t)
  for (const [text, occurredAt] of [
    ['Blood test on 4 November 2026.', '2026-11-06T10:00:00Z'],
    ['Slept badly.', '2026-11-03T10:00:00Z'],
    ['I was ill yesterday.', '2026-11-21T10:00:00Z'],
    ['Went to the cinema.', '2026-11-22T10:00:00Z'],
  ] as const) await app.retain('home', text, { occurred_at: occurredAt })
  t.equal((await recall(app, 'What happened on 3 November 2026?'))[0], 'Slept badly.')
  t.equal((await recall(app, 'What did I do yesterday?'))[0], 'Went to the cinema.')
})

t.test('a month without a year is the latest and the next', async (t) => {
  const app = await appWithDiary(t)
  await app.retain('home', 'The school closes early.', { occurred_at: '2027-05-20T10:00:00Z' })
  await app.retain('home', 'Visited Rome.', { occurred_at: '2024-05-20T10:00:00Z' })
  t.strictSame((await recall(app, 'What did we do in May?')).sort(), [
    'Lena had her recital.', 'The school closes early.', 'We may move 5 boxes to the cellar.', 'We went to the zoo.',
  ])
})

t.test('a memory without a time of its own belongs to the day on which it was retained', async (t) => {
  const app = await appWithDiary(t)
  const { body } = await app.get('/v1/banks/home/memories?limit=1')
  const [{ retained_at: retainedAt }] = JSON.parse(body).memories
  const answer = await app.post('/v1/recall', {
    bank_id: 'home', query: 'What did I tell you today?', reference_time: retainedAt,
  })
  t.strictSame(answer.json().hits.map(({ text }: { text: string }) => text), ['Tea is better than coffee.'])
})

t.test('a memory without a time of its own is found among many later ones of other times', async (t) => {
  const app = await testApp(t)
  app.clock.set('2026-11-22T09:00:00Z')
  await app.retain('home', 'Paid the rent.')
  app.clock.set('2026-11-22T10:00:00Z')
  const memories = Array.from({ length: 101 }, (_, index) => (
    { content: `Line ${index} of an old diary.`, occurred_at: '2019-01-01T10:00:00Z' }
  ))
  await app.post('/v1/retain/batch', { bank_id: 'home', items: memories })
  t.strictSame(await recall(app, 'What happened yesterday?'), ['Paid the rent.'])
})

t.test('a memory retained in the time ranks before memories that merely have the words of the question', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'Today I tell you a tale of Rome.', { occurred_at: '2025-03-03T10:00:00Z' })
  await app.retain('home', 'Tea is better than coffee.')
  const { memories } = (await app.get('/v1/banks/home/memories?limit=1')).json()
  const question = { bank_id: 'home', query: 'What did I tell you today?', reference_time: memories[0].retained_at }
  const { hits } = (await app.post('/v1/recall', question)).json()
  t.strictSame(hits.map(({ text }: { text: string }) => text), [
    'Tea is better than coffee.', 'Today I tell you a tale of Rome.',
  ])
  const events = parseEvents((await app.post('/v1/reflect', question, { accept: 'text/event-stream' })).body)
  t.match(events[0], { event: 'evidence', data: { sources: [{ text: 'Tea is better than coffee.' }] } })
})

t.test('the filters of the request apply to the memories of the time', async (t) => {
  const app = await appWithDiary(t)
  const tags = { tags: ['music'] }
  t.strictSame(await recall(app, 'What did we do on 5 May?', tags), ['Lena had her recital.'])
  const until = { occurred_before: '2026-05-05T12:00:00Z', tags: ['family'] }
  t.strictSame((await recall(app, 'What did we do on 5 May?', until))[0], 'We went to the zoo.')
  t.strictSame(await recall(app, 'What happened yesterday?', { occurred_before: '2026-01-01T00:00:00Z' }), [])
})

t.test('a question with other words finds only memories that share one with it', async (t) => {
  const app = await appWithDiary(t)
  t.strictSame(await recall(app, 'Which elephants died yesterday?'), ['Yesterday I watched a film about whales.'])
})

t.test('the explanation of a memory found by its time has its rank, and no lexical match', async (t) => {
  const app = await appWithDiary(t)
  const query = { bank_id: 'home', query: 'What happened yesterday?', reference_time: REFERENCE }
  const [hit] = (await app.post('/v1/recall', query)).json().hits
  const explained = (await app.post('/v1/recall/explain', { ...query, expect: hit.memory_id })).json()
  t.match(explained, {
    found: true, rank: 1, verdict: 'returned', stages: { lexical: { state: 'no_match' }, times: { searched: true } },
  })
  t.equal(explained.score, hit.score)
})
