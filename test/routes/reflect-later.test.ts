import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { MockEmbeddingProvider } from '../../lib/models/mock/embedding-provider.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { MemoryOverrides } from '../../lib/operations/memory-service.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { answerOf, logged } from './reflecting.js'
import { hitsOf } from './support.js'

const BERLIN = 'I live in Berlin.'
const PARIS = 'I moved to Paris last month.'
const QUESTION = { bank_id: 'bank', query: 'Where do I live?' }

interface Talk extends TestApp {
  /** Retains what somebody said on a day of January 2026; with tags and further fields when given. */
  say (text: string, day: number, more?: Record<string, unknown>): Promise<string>
  /** The texts of the evidence in its order. */
  evidence (more?: Record<string, unknown>): Promise<string[]>
}

async function talk (t: Test, file: FileConfig = {}, overrides: MemoryOverrides = {}): Promise<Talk> {
  const app = await testApp(t, { file: { embedding_provider: 'mock', ...file } }, overrides)
  return {
    ...app,
    say: async (text, day, { bank_id: bank = 'bank', ...more } = {}) => await app.retain(String(bank), text, {
      speaker: 'Ann', occurred_at: `2026-01-${String(day).padStart(2, '0')}T12:00:00Z`, ...more,
    }),
    evidence: async (more = {}) => {
      const answer = answerOf(await app.post('/v1/reflect', { ...QUESTION, include_sources: 'all', ...more }))
      return answer.sources.map(({ text }) => text)
    },
  }
}

/** The question finds the first statement alone, so that only the second search can show the later one. */
async function berlinAndParis (t: Test, file: FileConfig = {}, overrides: MemoryOverrides = {}): Promise<Talk> {
  const app = await talk(t, file, overrides)
  await app.say(BERLIN, 1)
  await app.say('The bus was late again.', 2)
  await app.say(PARIS, 5)
  return app
}

await t.test('a later statement of the same speaker is evidence, and the answer gives it first', async (t) => {
  const { post, evidence } = await berlinAndParis(t)
  t.same(hitsOf(await post('/v1/recall', { ...QUESTION, min_score: 0.2 })).map(({ text }) => text), [BERLIN])
  t.same((await evidence()).filter((text) => text !== 'The bus was late again.').sort(), [BERLIN, PARIS])
  const { sources, answer } = answerOf(await post('/v1/reflect', QUESTION))
  t.same(sources.map(({ text }) => text), [PARIS, BERLIN])
  t.match(answer, /Paris.*\[1\].*Berlin.*\[2\]/s)
})

await t.test('what was said earlier, by others or in another bank is not looked for', async (t) => {
  const { say, evidence } = await talk(t)
  await say(BERLIN, 10)
  await say('I moved to Rome last month.', 5)
  await say('I moved to Oslo last month.', 15, { speaker: 'Bob' })
  await say('I moved to Bern last month.', 15, { bank_id: 'other' })
  t.same(await evidence(), [BERLIN])
  t.same(await evidence({ bank_id: undefined, banks: ['bank', 'other'] }), [BERLIN], 'not across banks either')
  await say('I moved to Paris last month.', 15, { speaker: undefined })
  t.same((await evidence()).sort(), [BERLIN, PARIS], 'a statement of nobody is taken for one of the speaker')
})

await t.test('the filters of the request hold in the second search', async (t) => {
  const app = await talk(t, { identity: { trust: [{ principal: 'user:guest', trust: 'untrusted' }] } })
  const { say, evidence, clock, retain } = app
  await say(BERLIN, 1, { tags: ['home'], document_id: 'diary' })
  clock.advance(1000)
  const before = new Date(clock()).toISOString()
  clock.advance(1000)
  await retain('bank', PARIS, { speaker: 'Ann', occurred_at: '2026-01-05T12:00:00Z', tags: ['travel'] }, {
    'x-service-principal': 'user:guest',
  })
  t.same((await evidence()).sort(), [BERLIN, PARIS])
  for (const filter of [
    { tags: ['home'] }, { document_ids: ['diary'] }, { min_trust: 'trusted' },
    { occurred_before: '2026-01-03T00:00:00Z' }, { as_of: before },
  ]) {
    t.same(await evidence(filter), [BERLIN], JSON.stringify(filter))
  }
})

await t.test('the bounds of the evidence hold, and leave room for later statements', async (t) => {
  const crowd = async (file: FileConfig) => {
    const app = await talk(t, file)
    for (let day = 1; day <= 12; day++) await app.say(`${BERLIN} It is number ${day} where I live.`, day)
    await app.say(PARIS, 20)
    return await app.evidence()
  }
  for (const most of [1, 2, 4, 20]) {
    const texts = await crowd({ reflect: { max_evidence: most } })
    t.equal(texts.length, Math.min(most, 13), `${most}`)
    t.equal(texts.includes(PARIS), most > 1, `${most}`)
    t.ok(texts.some((text) => text.startsWith(BERLIN)), `${most}`)
  }
  const texts = await crowd({ reflect: { max_evidence_tokens: 60 } })
  t.ok(texts.length < 8, 'the tokens are used up')
  t.ok(texts.includes(PARIS))
})

await t.test('the best memory is not left out for a later statement', async (t) => {
  const { say, evidence } = await talk(t, { reflect: { max_evidence_tokens: 12 } })
  await say(`${BERLIN} I live there with a dog.`, 1)
  await say(PARIS, 5)
  t.ok((await evidence()).some((text) => text.startsWith(BERLIN)))
})

await t.test('recall has its own order, with and without a reflect before', async (t) => {
  const { post } = await berlinAndParis(t)
  const recalled = async () => hitsOf(await post('/v1/recall', QUESTION)).map(({ text }) => text)
  const before = await recalled()
  t.equal(before[0], BERLIN)
  await post('/v1/reflect', QUESTION)
  t.same(await recalled(), before)
})

await t.test('when the second search fails, the first evidence answers, and the log has a warning', async (t) => {
  const store = new InMemoryVectorStore()
  const app = await berlinAndParis(t, {}, { store })
  const search = store.search.bind(store)
  let searches = 0
  store.search = async (request) => {
    if (++searches > 1) throw new Error('down')
    return await search(request)
  }
  t.same(await app.evidence(), [BERLIN])
  t.ok(searches > 1)
  t.match(logged(app, 40).join('\n'), /without later statements of the same speaker: dependency_unavailable/)
})

await t.test('a second search that went without embeddings degrades the answer', async (t) => {
  const embeddings = new MockEmbeddingProvider()
  const { post } = await berlinAndParis(t, { retrieval: { weights: { semantic: 1 } } }, { embeddings })
  const embed = embeddings.embed.bind(embeddings)
  let calls = 0
  embeddings.embed = async (...input) => {
    if (++calls > 1) throw new Error('down')
    return await embed(...input)
  }
  t.same(answerOf(await post('/v1/reflect', QUESTION)).degraded, ['semantic'])
  t.equal(calls, 2)
})

await t.test('embeddings that failed in the first search are not asked again', async (t) => {
  const embeddings = new MockEmbeddingProvider()
  const { post } = await berlinAndParis(t, { retrieval: { weights: { semantic: 1 } } }, { embeddings })
  let calls = 0
  embeddings.embed = async () => {
    calls += 1
    throw new Error('down')
  }
  t.same(answerOf(await post('/v1/reflect', QUESTION)).degraded, ['semantic'])
  t.equal(calls, 1)
})
