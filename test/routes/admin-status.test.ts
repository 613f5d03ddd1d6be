import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { StoreHealth } from '../../lib/stores/vector-store.js'
import { testApp } from '../helpers/app.js'
import { refused } from './support.js'

const TOKEN = { 'x-admin-token': 'operator' }

await t.test('an operator sees the state of the server', async (t) => {
  const { get, app, clock } = await testApp(t, {
    adminToken: 'operator', auth: { mode: 'api_key' }, file: { access_control: { enabled: true } },
  }, { store: new InMemoryVectorStore() })
  const startedAt = new Date(clock()).toISOString()
  clock.advance(60_000)
  refused(t, await get('/v1/admin/status'), 401, 'unauthenticated', { detail: 'Invalid or missing X-Admin-Token' })
  const answer = await get('/v1/admin/status', TOKEN)
  t.equal(answer.statusCode, 200)
  const { version, vector_store: store, ...rest } = answer.json()
  t.same(rest, {
    started_at: startedAt,
    auth: { mode: 'api_key', missing: ['SERVICE_API_KEY'] },
    access_control: true,
    embedding: { provider: 'mock', model: null, dimensions: app.memory.dimensions, status: 'ok' },
    language_model: { provider: 'mock', model: null, status: 'ok' },
  })
  t.match(version, /^\d+\.\d+\.\d+/)
  t.match(store, { provider: 'custom', status: 'ok', latency_ms: Number })
  t.notOk('connections' in store, 'a store in memory has none')
})

await t.test('a model is named with its provider, and the path of a module is not', async (t) => {
  const { get } = await testApp(t, {
    file: { embedding_provider: './test/helpers/of-an-operator.js:Vectors', reranker: './of-an-operator.js:Ranks' },
  }, {
    embeddings: {
      model: 'vectors-2', dimensions: 3, fusionWeight: 1, embed: async (texts) => texts.map(() => new Float32Array(3)),
    },
    reranker: { rerank: async (_query, texts) => texts.map(() => 0) },
    languageModel: {
      model: 'writer-1', generate: async () => ({ text: '', usage: { inputTokens: 0, outputTokens: 0 } }),
    },
  })
  const answer = await get('/v1/admin/status')
  t.match(answer.json(), {
    embedding: { provider: 'custom', model: 'vectors-2', dimensions: 3, status: 'unknown' },
    language_model: { provider: 'custom', model: 'writer-1', status: 'unknown' },
    reranker: { provider: 'custom', model: null, status: 'unknown' },
  })
  t.notMatch(answer.body, /of-an-operator/)
})

/** A store whose health is what a test says. */
class AskedStore extends InMemoryVectorStore {
  answer: () => Promise<StoreHealth> = async () => ({ healthy: true })

  override async health (): Promise<StoreHealth> {
    return await this.answer()
  }
}

await t.test('a store that is down is reported with status 200, without its cause', async (t) => {
  const store = new AskedStore()
  const { get } = await testApp(t, { healthTimeoutMs: 20 }, { store })
  const faults: Record<string, () => Promise<StoreHealth>> = {
    unhealthy: async () => ({ healthy: false, message: 'the pool of db.internal is exhausted' }),
    failed: async () => { throw new Error('password authentication failed for user "gateway" at db.internal') },
    timed_out: async () => await new Promise(() => undefined),
  }
  for (const [status, answer] of Object.entries(faults)) {
    store.answer = answer
    const found = await get('/v1/admin/status')
    t.equal(found.statusCode, 200)
    t.same(found.json().vector_store, { provider: 'custom', status, latency_ms: null })
    t.notMatch(found.body, /db\.internal|password/)
  }
})
