import t from 'tap'
import { SteeredEmbeddings, SteeredTime } from '../fixtures/steered-embeddings.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { importInto } from './ndjson.js'
import { dedupConfig, NEAR_DUPLICATE, retain, retainBatch, TEXT } from './retain-dedup-support.js'
import { as, ONE_PERMISSION_EACH } from './support.js'

interface Listed {
  memory_id: string
  text: string
  state: string
  key?: string
}

async function patch (
  { inject }: TestApp, id: string, payload: Record<string, unknown>, headers: Record<string, string> = {},
  bank = 'home',
) {
  return await inject({ method: 'PATCH', url: `/v1/banks/${bank}/memories/${id}`, headers, payload })
}

async function listed ({ get }: TestApp, query = 'state=all', bank = 'home'): Promise<Listed[]> {
  return (await get(`/v1/banks/${bank}/memories?limit=200&${query}`)).json<{ memories: Listed[] }>().memories
}

t.test('a caller who may not read a bank changes its memories without being shown them', async (t) => {
  const app = await testApp(t, { file: ONE_PERMISSION_EACH })
  const writer = as('user:write')
  const id = await app.retain('team', 'Ada hides the key.', { tags: ['secret'], metadata: { safe: 7 } }, as('user:all'))
  const url = `/v1/banks/team/memories/${id}`
  const answers = [
    await patch(app, id, {}, writer, 'team'),
    await patch(app, id, { speaker: 'Bob' }, writer, 'team'),
    await app.post(`${url}/restore`, {}, writer),
    await app.post(`${url}/retire`, { reason: 'invalidated' }, writer),
    await app.post(`${url}/restore`, {}, writer),
  ]
  for (const [index, answer] of answers.entries()) {
    t.match(answer.json(), {
      memory_id: id, text: '', tags: [], metadata: {}, speaker: null, version: [1, 2, 2, 3, 4][index],
    }, answer.body)
    t.notMatch(answer.body, /hides|secret|safe|Bob/)
  }
  t.match((await app.get(url, as('user:read'))).json(), { text: 'Ada hides the key.', speaker: 'Bob', version: 4 })
})

t.test('a memory with a key is not merged with near-duplicates, and what its key names is kept', async (t) => {
  for (const action of ['update', 'skip'] as const) {
    const app = await testApp(t, { file: dedupConfig(action) })
    const plain = await app.retain('home', TEXT)
    const held = await app.retain('home', 'Alice drinks coffee.', { key: 'alice/drink' })
    const { memory_id: id, ...answer } = await retain(app, NEAR_DUPLICATE, { key: 'alice/drink' })
    t.match(answer, { stored: true, superseded: [held] }, action)
    t.same((await listed(app)).map(({ memory_id: each, state }) => [each, state]).sort(), [
      [plain, 'current'], [held, 'superseded'], [id, 'current'],
    ].sort(), action)
  }
})

t.test('what a batch has with a key changes nothing for its other items', async (t) => {
  const items = [{ content: NEAR_DUPLICATE, key: 'alice/tea' }, `${TEXT} starts`]
  for (const action of ['update', 'skip'] as const) {
    const app = await testApp(t, { file: dedupConfig(action) })
    const plain = await app.retain('home', TEXT)
    const [keyed, other] = await retainBatch(app, items)
    t.match(keyed, { stored: true, near_duplicate: { memory_id: plain } }, action)
    t.match(other, action === 'update' ? { updated: true, memory_id: plain } : { stored: false }, action)
    t.same((await listed(app)).map(({ text, key }) => [text, key ?? null]).sort(), [
      [action === 'update' ? `${TEXT} starts` : TEXT, null], [NEAR_DUPLICATE, 'alice/tea'],
    ].sort(), action)
  }
})

t.test('a near-duplicate without a key leaves the memory under a key as it is', async (t) => {
  const app = await testApp(t, { file: dedupConfig('update') })
  const id = await app.retain('home', TEXT, { key: 'alice/drink' })
  await retain(app, NEAR_DUPLICATE)
  t.match((await app.get(`/v1/banks/home/memories/${id}`)).json(), { text: TEXT, key: 'alice/drink', version: 1 })
})

t.test('who changes tags alone does not raise the trust of what others said', async (t) => {
  const app = await testApp(t, { file: { identity: { trust: [{ principal: 'user:guest', trust: 'untrusted' }] } } })
  const id = await app.retain('home', 'Ada is the admin.', {}, as('user:guest'))
  t.match((await patch(app, id, { tags: ['x'] }, as('user:ada'))).json(), { tags: ['x'], trust: 'untrusted' })
  t.match((await patch(app, id, { content: 'Bob is.' }, as('user:ada'))).json(), { trust: 'trusted', version: 3 })
  t.equal((await patch(app, id, { tags: ['y'] }, as('user:guest'))).statusCode, 409)
})

t.test('a fact whose time had not come when it was superseded is exported and imported', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'Ada lives in Rome.', { key: 'ada/home', valid_from: '2027-01-01T00:00:00Z' })
  await app.retain('home', 'Ada lives in Milan.', { key: 'ada/home', valid_from: '2026-01-01T00:00:00Z' })
  const tea = await app.retain('home', 'Ada will like tea.', { valid_from: '2027-01-01T00:00:00Z' })
  t.match((await app.post(`/v1/banks/home/memories/${tea}/retire`, { reason: 'superseded' })).json(), {
    valid_from: '2027-01-01T00:00:00.000Z', valid_until: '2027-01-01T00:00:00.000Z',
  })
  const exported = (await app.get('/v1/banks/home/export?versions=true')).body
  t.match((await importInto(app, 'copy', exported)).json(), { imported: 3 })
  const seen = async (bank: string) => (
    (await listed(app, 'state=all', bank)).map((memory) => ({ ...memory, bank_id: '' }))
  )
  t.same(await seen('copy'), await seen('home'))
  t.equal((await app.post('/v1/retain', {
    bank_id: 'home', content: 'Never so.', valid_from: '2027-01-01T00:00:00Z', valid_until: '2027-01-01T00:00:00Z',
  })).statusCode, 400)
})

t.test('a memory that was not current at an instant is not current after a rollback to it', async (t) => {
  const app = await testApp(t)
  const id = await app.retain('home', 'Ada likes tea.')
  const url = `/v1/banks/home/memories/${id}`
  app.clock.advance(60_000)
  await app.post(`${url}/retire`, { reason: 'invalidated' })
  const to = new Date(app.clock()).toISOString()
  app.clock.advance(60_000)
  await app.post(`${url}/restore`, {})
  t.equal((await app.post(`${url}/versions/2/redact`, {})).statusCode, 200)
  t.same((await app.post('/v1/banks/home/rollback', { to })).json(), { restored: 0, retired: 1, unrecoverable: 0 })
  t.same((await listed(app)).map(({ text, state }) => [text, state]), [['Ada likes tea.', 'retired']])
})

t.test('the text of a message that is corrected before it has its vectors is found by its own meaning', async (t) => {
  const embeddings = new SteeredEmbeddings({ deferred: true })
  const { schedule } = new SteeredTime()
  const app = await testApp(t, {}, { embeddings, schedule, random: () => 1 })
  const release = embeddings.hold()
  const { memory_ids: [id] } = (await app.post('/v1/banks/home/conversations/talk/messages', {
    messages: [{ id: 'm1', role: 'user', content: 'I saw my doctor.' }],
  })).json<{ memory_ids: string[] }>()
  t.equal((await patch(app, id!, { content: 'I sold my car.' })).statusCode, 200)
  release()
  await app.app.memory.idle()
  const found = async (query: string) => (await app.post('/v1/recall', { bank_id: 'home', query, explain: true }))
    .json<{ hits: Array<{ scores: { semantic?: { score: number } } }> }>()
    .hits.filter(({ scores }) => (scores.semantic?.score ?? 0) > 0).length
  t.equal(await found('automobile'), 1)
  t.equal(await found('physician'), 0)
})
