import t from 'tap'
import type { FileConfig } from '../lib/config/schema.js'
import { makeProvider, ProviderError } from '../lib/config/providers/registry.js'
import { vectorStores } from '../lib/stores/registry.js'
import { vectorStoreContract } from './contract/vector-store.js'
import { testApp, type TestApp } from './helpers/app.js'

const STORES = './test/fixtures/journal-store.mjs'
const EMBEDDINGS = './test/fixtures/concept-embeddings.mjs'
const MODELS = './test/fixtures/language-models.mjs'
/** What the fixtures' errors say, which is for the log alone. */
const CAUSE = /internal|sk-secret|postgres|ECONNREFUSED|\b(429|401)\b/

vectorStoreContract('a store from a file', async () => (
  await makeProvider(vectorStores, `${STORES}:JournalStore`, {}, process.cwd())
))

/** What the log tells under the id of the request. */
function linesOf (log: TestApp['log'], requestId: unknown): string[] {
  return log.filter((line) => line['request_id'] === requestId).map((line) => JSON.stringify(line))
}

t.test('a store class from a file serves the gateway', async (t) => {
  const calls: string[] = []
  const { app, retain, post, get } = await testApp(t, {
    file: { vector_store: `${STORES}:JournalStore`, vector_store_config: { calls } }, baseDirectory: process.cwd(),
  })
  const id = await retain('home', 'Alice lives in Lyon.')
  t.strictSame(calls, ['insert'])

  const recalled = (await post('/v1/recall', { bank_id: 'home', query: 'Lyon' })).json()
  t.strictSame(
    recalled.hits.map((hit: { memory_id: string, text: string }) => [hit.memory_id, hit.text]),
    [[id, 'Alice lives in Lyon.']],
  )
  t.strictSame(calls, ['insert', 'search'])

  await get('/v1/banks')
  await get('/v1/banks/home/stats')
  await get('/v1/banks/home/memories')
  await get(`/v1/banks/home/memories/${id}`)
  await get('/v1/banks/home/export')
  await post('/v1/forget', { bank_id: 'home', memory_ids: [id] })
  await get('/health')
  t.strictSame(calls.slice(2), ['listBanks', 'statistics', 'list', 'get', 'scan', 'remove', 'health'])
  await app.close()
  t.equal(calls.at(-1), 'close', 'the store is closed with the gateway')
})

t.test('a store that is down is 503, and the log has its stack without its message', async (t) => {
  const { post, get, log } = await testApp(t, {
    file: { vector_store: `${STORES}:BrokenStore` }, baseDirectory: process.cwd(),
  })
  for (const answer of [
    await post('/v1/retain', { bank_id: 'home', content: 'one' }),
    await post('/v1/recall', { bank_id: 'home', query: 'one' }),
    await post('/v1/reflect', { bank_id: 'home', query: 'one' }),
    await get('/health'),
  ]) {
    t.equal(answer.statusCode, 503)
    t.equal(answer.json().code, 'dependency_unavailable')
    t.notMatch(answer.body, CAUSE)
    const lines = linesOf(log, answer.json().request_id)
    t.ok(lines.some((line) => line.includes('journal-store.mjs')), 'the stack tells where it was thrown')
    t.notOk(lines.some((line) => /db\.internal|user=postgres/.test(line)), 'the message may contain a secret')
  }
})

t.test('embeddings from a file find a memory by its meaning, without a common word', async (t) => {
  const file = { embedding_provider: `${EMBEDDINGS}:ConceptEmbeddings` }
  const { retain, post } = await testApp(t, { file, baseDirectory: process.cwd() })
  const id = await retain('home', 'Alice saw her doctor on Monday.')
  await retain('home', 'Bob parked the car.')
  await retain('home', 'It will rain.')
  const {
    hits, total_available: total, trace,
  } = (await post('/v1/recall', { bank_id: 'home', query: 'physician', max_results: 1, explain: true })).json()
  t.equal(hits.length, 1)
  t.equal(hits[0].memory_id, id)
  t.match(
    hits[0].scores, { lexical: { score: 0 }, semantic: { rank: 1, score: 1 } }, 'only one of the strategies found it',
  )
  t.notOk('rank' in hits[0].scores.lexical)
  t.ok(hits[0].score > 0 && hits[0].score < 1)
  t.equal(total, 3)
  t.strictSame(
    trace.strategies.map(({ name, weight }: { name: string, weight: number }) => [name, weight]),
    [['lexical', 1], ['semantic', 1]],
  )

  const blind = await testApp(t)
  await blind.retain('home', 'Alice saw her doctor on Monday.')
  t.strictSame(
    (await blind.post('/v1/recall', { bank_id: 'home', query: 'physician' })).json().hits, [],
    'the lexical strategy finds nothing',
  )
})

t.test('a filter holds for hits by meaning too', async (t) => {
  const { retain, post } = await testApp(t, {
    file: { embedding_provider: `${EMBEDDINGS}:ConceptEmbeddings` }, baseDirectory: process.cwd(),
  })
  await retain('home', 'Alice saw her doctor.')
  await retain('home', 'The surgeon called.', { tags: ['call'] })
  const { hits } = (await post('/v1/recall', { bank_id: 'home', query: 'physician', tags: ['call'] })).json()
  t.strictSame(hits.map(({ text }: { text: string }) => text), ['The surgeon called.'])
})

const FAILING = [
  ['ShortEmbeddings', 502, 'model_output_invalid'], ['BrokenEmbeddings', 503, 'dependency_unavailable'],
] as const

t.test('without the lexical strategy unusable embeddings are 502 and a failing provider is 503', async (t) => {
  for (const [name, status, code] of FAILING) {
    const file: FileConfig = {
      vector_store: `${STORES}:JournalStore`,
      embedding_provider: `${EMBEDDINGS}:${name}`,
      retrieval: { weights: { lexical: 0 } },
    }
    const { post, get } = await testApp(t, { file, baseDirectory: process.cwd() })
    for (const answer of [
      await post('/v1/retain', { bank_id: 'home', content: 'one' }),
      await post('/v1/recall', { bank_id: 'home', query: 'one' }),
    ]) {
      t.equal(answer.statusCode, status, name)
      t.equal(answer.json().code, code)
      t.notMatch(answer.json().detail, CAUSE)
    }
    t.strictSame(
      (await get('/v1/banks')).json().banks, [], 'nothing is stored, because the store takes no late vectors',
    )
  }
})

t.test('with both strategies the lexical hits remain without usable embeddings, and the answer says so', async (t) => {
  for (const [name] of FAILING) {
    const { retain, post } = await testApp(t, {
      file: { embedding_provider: `${EMBEDDINGS}:${name}` }, baseDirectory: process.cwd(),
    })
    const id = await retain('home', 'one')
    const answer = await post('/v1/recall', { bank_id: 'home', query: 'one' })
    t.equal(answer.statusCode, 200, name)
    t.match(answer.json(), { hits: [{ memory_id: id }], degraded: ['semantic'] })
    t.notMatch(answer.body, CAUSE)
  }
})

t.test('embeddings that do not say their dimensions end the start', async (t) => {
  await t.rejects(
    testApp(t, { file: { embedding_provider: `${EMBEDDINGS}:NoDimensions` }, baseDirectory: process.cwd() }),
    new ProviderError('embedding_provider: dimensions must be a positive integer'),
  )
})

/** An app with one memory and a model from the fixtures. */
async function appWithModel (
  t: Parameters<typeof testApp>[0], className: string, config: Record<string, unknown> = {},
): Promise<TestApp> {
  const file: FileConfig = { llm_provider: `${MODELS}:${className}`, llm_provider_config: config }
  const gateway = await testApp(t, { file, baseDirectory: process.cwd() })
  await gateway.retain('home', 'Alice lives in Lyon.')
  return gateway
}

t.test('a language model from a file answers a reflect', async (t) => {
  const { post } = await appWithModel(t, 'EchoModel', {
    answer: { text: 'In Lyon. [1]', usage: { inputTokens: 5, outputTokens: 4 } },
  })
  const answer = (await post('/v1/reflect', { bank_id: 'home', query: 'Where does Alice live?' })).json()
  t.equal(answer.answer, 'In Lyon. [1]')
  t.strictSame(answer.usage, { tokens: 9, input_tokens: 5, output_tokens: 4 })
})

t.test('a language model with an unusable answer is 502', async (t) => {
  const usage = { inputTokens: 1, outputTokens: 1 }
  for (const answer of [
    undefined, null, 7, 'text', [], {}, { text: 'x' }, { text: ' ', usage }, { text: 7, usage },
    { text: 'x', usage: null }, { text: 'x', usage: { inputTokens: 1 } },
    { text: 'x', usage: { inputTokens: 1.5, outputTokens: NaN } },
  ]) {
    const { post } = await appWithModel(t, 'EchoModel', { answer })
    const response = await post('/v1/reflect', { bank_id: 'home', query: 'Where does Alice live?' })
    t.equal(response.statusCode, 502, JSON.stringify(answer))
    t.equal(response.json().code, 'model_output_invalid')
  }
})

t.test('a language model that throws or rejects is 503, and the log has its stack without its message', async (t) => {
  for (const name of ['ThrowingModel', 'RejectingModel']) {
    const { post, log } = await appWithModel(t, name)
    const response = await post('/v1/reflect', { bank_id: 'home', query: 'Where does Alice live?' })
    t.equal(response.statusCode, 503, name)
    const { detail, code, request_id: requestId } = response.json()
    t.equal(code, 'dependency_unavailable')
    t.notMatch(detail, CAUSE)
    t.notMatch(response.body, /sk-secret|models\.internal/)
    const lines = linesOf(log, requestId)
    t.ok(lines.some((line) => line.includes('language-models.mjs')), 'the stack tells where it was thrown')
    t.notOk(lines.some((line) => CAUSE.test(line)), 'the message may contain the prompt')
  }
})

t.test('without evidence no model is called', async (t) => {
  const { post } = await appWithModel(t, 'ThrowingModel')
  const response = await post('/v1/reflect', { bank_id: 'empty', query: 'Where does Alice live?' })
  t.equal(response.statusCode, 200)
  t.equal(response.json().abstained, true)
})
