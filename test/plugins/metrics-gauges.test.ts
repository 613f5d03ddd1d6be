import t from 'tap'
import type { ModelStatus } from '../../lib/models/health.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { SteeredEmbeddings } from '../fixtures/steered-embeddings.js'
import { testApp } from '../helpers/app.js'
import { scrape, valueOf } from '../helpers/exposition.js'

/** Embeddings with the state that a test sets. */
class StandingEmbeddings extends SteeredEmbeddings {
  standing: () => ModelStatus = () => ({})

  status (): ModelStatus {
    return this.standing()
  }
}

await t.test('the metrics of breaker, queue and cache are the state of the provider at the scrape', async (t) => {
  const embeddings = new StandingEmbeddings()
  const app = await testApp(t, {}, { embeddings })
  const states = { closed: 0, half_open: 1, open: 2 } as const
  for (const state of ['closed', 'open', 'half_open'] as const) {
    embeddings.standing = () => ({
      breaker: { state, tenantsOpen: 3 }, running: 4, waiting: 5, cache: { hits: 60, misses: 7 },
    })
    const samples = await scrape(app)
    t.equal(valueOf(samples, 'memory_gateway_breaker_state', { kind: 'embedding' }), states[state])
    t.equal(valueOf(samples, 'memory_gateway_breaker_tenants_open', { kind: 'embedding' }), 3)
    t.equal(valueOf(samples, 'memory_gateway_model_queue_running', { kind: 'embedding' }), 4)
    t.equal(valueOf(samples, 'memory_gateway_model_queue_waiting', { kind: 'embedding' }), 5)
    t.equal(valueOf(samples, 'memory_gateway_cache_hits_total', { cache: 'embedding' }), 60)
    t.equal(valueOf(samples, 'memory_gateway_cache_misses_total', { cache: 'embedding' }), 7)
  }
})

await t.test('a provider that does not report its state has no samples', async (t) => {
  const samples = await scrape(await testApp(t, {}, { embeddings: new SteeredEmbeddings() }))
  t.equal(valueOf(samples, 'memory_gateway_breaker_state', { kind: 'embedding' }), undefined)
  t.equal(valueOf(samples, 'memory_gateway_cache_hits_total', { cache: 'embedding' }), undefined)
})

await t.test('a provider that fails to report its state does not affect the others', async (t) => {
  const embeddings = new StandingEmbeddings()
  embeddings.standing = () => { throw new Error('sk-secret') }
  const reranker = { rerank: async () => [], status: () => ({ running: 1 }) }
  const app = await testApp(t, {}, { embeddings, reranker })
  const response = await app.get('/metrics')
  t.equal(response.statusCode, 200)
  t.notMatch(response.body, /sk-secret/)
  const samples = await scrape(app)
  t.equal(valueOf(samples, 'memory_gateway_model_queue_running', { kind: 'embedding' }), undefined)
  t.equal(valueOf(samples, 'memory_gateway_model_queue_running', { kind: 'reranker' }), 1)
})

await t.test('connections of the store are counted by state, if the store has some', async (t) => {
  const store = Object.assign(new InMemoryVectorStore(), { poolStatus: () => ({ size: 10, inUse: 3, waiting: 2 }) })
  const samples = await scrape(await testApp(t, {}, { store }))
  t.equal(valueOf(samples, 'memory_gateway_db_pool_connections', { state: 'size' }), 10)
  t.equal(valueOf(samples, 'memory_gateway_db_pool_connections', { state: 'in_use' }), 3)
  t.equal(valueOf(samples, 'memory_gateway_db_pool_connections', { state: 'waiting' }), 2)
  const without = await scrape(await testApp(t, {}, { store: new InMemoryVectorStore() }))
  t.equal(valueOf(without, 'memory_gateway_db_pool_connections', { state: 'size' }), undefined)
})

await t.test('memories that wait for their vectors are counted until they have them', async (t) => {
  const embeddings = new SteeredEmbeddings()
  const app = await testApp(t, {}, { embeddings, store: new InMemoryVectorStore() })
  t.equal(valueOf(await scrape(app), 'memory_gateway_vectors_pending'), 0)
  const release = embeddings.hold()
  const called = embeddings.called()
  await app.retain('b', 'The doctor drives a car.')
  await called
  await app.retain('b', 'It rains.')
  t.equal(valueOf(await scrape(app), 'memory_gateway_vectors_pending'), 2)
  release()
  await app.app.memory.idle()
  t.equal(valueOf(await scrape(app), 'memory_gateway_vectors_pending'), 0)
})
