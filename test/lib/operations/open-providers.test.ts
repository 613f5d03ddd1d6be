import { inspect } from 'node:util'
import t from 'tap'
import { systemClock } from '../../../lib/base/clock.js'
import type { FileConfig } from '../../../lib/config/schema.js'
import { settingsOf } from '../../../lib/config/config.js'
import { openProviders, type ProviderOverrides } from '../../../lib/operations/open-providers.js'
import { hasLocalEmbeddings } from '../../../lib/models/local/embedding-provider.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { rejection } from '../../helpers/rejection.js'
import { SteeredEmbeddings } from '../../fixtures/steered-embeddings.js'

const open = async (file: FileConfig, overrides: ProviderOverrides = {}, environment: Record<string, string> = {}) => (
  await openProviders(
    { file, settings: settingsOf(file), environment, baseDirectory: process.cwd() }, overrides, systemClock,
  )
)

t.test('by default there is the installed model with its weight, and no reranker', async (t) => {
  const { weights, reranker } = await open({})
  t.strictSame(weights, { lexical: 1, semantic: 1.8 })
  t.equal(reranker, undefined)
})

t.test('every registered embedding provider can be created by its name', async (t) => {
  const config = { base_url: 'http://127.0.0.1:1/v1', model: 'small', dimensions: 8, api_key_env: 'KEY' }
  const remote = await open(
    { embedding_provider: 'openai_compatible', embedding_provider_config: config }, {}, { KEY: 'sk-1' },
  )
  t.strictSame(
    [remote.embeddings.model, remote.embeddings.dimensions, remote.weights.semantic],
    ['small', 8, remote.embeddings.fusionWeight],
  )
  await remote.embeddings.close?.()
  await t.rejects(
    open({ embedding_provider: 'openai_compatible', embedding_provider_config: config }),
    new ProviderError('embedding_provider_config.api_key_env: the environment variable KEY is not set'),
  )
  await t.rejects(
    open({ embedding_provider: 'transformers', embedding_provider_config: {} }),
    new ProviderError('embedding_provider_config.model: is required'),
  )
  await t.rejects(open({ embedding_provider: 'locale' }), new ProviderError('embedding_provider: found "locale", ' +
    'allowed are mock, auto, local, transformers, openai_compatible and module:Class; did you mean "local"?'))
})

t.test('local and auto compute vectors on this machine', {
  skip: hasLocalEmbeddings() ? false : 'their packages are not installed',
}, async (t) => {
  for (const name of ['local', 'auto']) {
    const told: string[] = []
    const { embeddings } = await open({ embedding_provider: name }, { info: (message) => { told.push(message) } })
    t.equal(embeddings.dimensions, 512)
    t.equal(embeddings.deferred, true)
    t.equal(told.length, name === 'auto' ? 1 : 0)
    await embeddings.close?.()
  }
})

t.test('every registered reranker can be created by its name', async (t) => {
  const { reranker } = await open({
    reranker: 'rerank_endpoint', reranker_config: { base_url: 'http://127.0.0.1:1', model: 'm' },
  })
  t.strictSame(await reranker?.rerank('query', [], {}), [])
  await reranker?.close?.()
  await t.rejects(open({ reranker: 'transformers' }), new ProviderError('reranker_config.model: is required'))
  await t.rejects(open({ reranker: 'cohere' }), new ProviderError('reranker: found "cohere", allowed are ' +
    'rerank_endpoint, transformers and module:Class'))
  await t.rejects(open({ reranker_config: { model: 'm' } }), new ProviderError('reranker_config: it has no effect ' +
    'without reranker; set reranker'))
})

t.test('when one provider cannot be created, those that were created are closed', async (t) => {
  const closed: string[] = []
  const embeddings = Object.assign(new SteeredEmbeddings(), { close: async () => { closed.push('embeddings') } })
  const reranker = { rerank: async () => [], close: async () => { closed.push('reranker') } }
  const store = Object.assign(new InMemoryVectorStore(), {
    start: async () => { throw new ProviderError('no such table') },
    close: async () => {
      closed.push('store')
      throw new Error('and it cannot be closed')
    },
  })
  await t.rejects(open({}, { embeddings, reranker, store }), new ProviderError('no such table'))
  t.strictSame(closed.sort(), ['embeddings', 'reranker', 'store'])
})

t.test('what a store of the operator says of its start and health has no secrets', async (t) => {
  const directory = t.testdir({
    'store.mjs': `
      import { InMemoryVectorStore } from 'memory-gateway/lib/stores/in-memory/store.js'
      export class Store extends InMemoryVectorStore {
        constructor (config) {
          super()
          this.config = config
        }

        async start () { if (this.config.fails) this.fail() }
        async health () { return { healthy: false, message: this.reason() } }
        reason () { return this.config.key + ' is not valid for postgres://gateway:hunter2@db/x' }
        fail () { throw new RangeError(this.reason()) }
      }`,
  })
  const openWith = async (config: Record<string, unknown>) => (
    await open({ vector_store: `${directory}/store.mjs:Store`, vector_store_config: config })
  )
  const reason = '… is not valid for postgres://…@db/x'
  const { store } = await openWith({ key: 'sk-hunter2' })
  t.strictSame(await store.health(), { healthy: false, message: reason })
  const error = await rejection(ProviderError, openWith({ key: 'sk-hunter2', fails: true }))
  t.equal(error.message, `vector_store: ${directory}/store.mjs:Store could not be started: ${reason}`)
  t.match(error.cause, { name: 'RangeError', stack: /store\.mjs/ }, 'the cause tells where')
  t.notMatch(inspect(error), 'hunter2')
})

t.test('the settings of a provider that is not selected end the start', async (t) => {
  await t.rejects(open({ llm_provider_config: { dsn: 'Zq-secret' } }), new ProviderError(
    'llm_provider_config: llm_provider is not set, and its default mock has no settings; set llm_provider',
  ))
  await t.rejects(open({ reranker_config: { model: 'x' } }), new ProviderError('reranker_config: it has no effect ' +
    'without reranker; set reranker'))
  await t.resolves(open({ vector_store_config: {}, reranker_config: {} }))
})

t.test('the default store receives its settings', async (t) => {
  const { store } = await open({ vector_store_config: { max_bytes: 1_048_576 } })
  t.ok(store)
  await t.rejects(
    open({ vector_store_config: { dsn: 'Zq-secret' } }),
    new ProviderError('vector_store_config.dsn: is not a known key'),
  )
})
