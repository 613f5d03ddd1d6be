import t, { type Test } from 'tap'
import { autoEmbeddings } from '../../../lib/models/registry.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'

const MODULE = new URL('../../fixtures/transformers-package/index.mjs', import.meta.url).href
const ENGINE = new URL('../../fixtures/transformers-package/scripted-engine.mjs', import.meta.url).href
const MISSING = { weights: '@energetic-ai/no-such-package', module: '@huggingface/no-such-package' } as const

async function choose (t: Test, config: Record<string, unknown>, internals: Parameters<typeof autoEmbeddings>[2]) {
  const said: string[] = []
  const provider = await autoEmbeddings(config, {
    baseDirectory: process.cwd(),
    info: (message) => { said.push(`info: ${message}`) },
    warn: (message) => { said.push(`warn: ${message}`) },
  }, internals)
  t.teardown(async () => { await provider.close?.() })
  return { provider, said }
}

t.test('auto is transformers when a model is configured', async (t) => {
  const { provider, said } = await choose(t, { model: 'fake/bigrams', batch_size: 2 }, {
    module: MODULE, weights: MISSING.weights,
  })
  t.equal(provider.dimensions, 32)
  t.strictSame(said, ['info: embedding_provider: auto chose transformers, because a model is named: ' +
    '@huggingface/transformers:fake/bigrams:default:mean, 32 dimensions'])
})

t.test('a model that cannot be loaded is not replaced by another one', async (t) => {
  await t.rejects(
    choose(t, { model: 'fake/bigrams' }, { module: MISSING.module }),
    new ProviderError('embedding_provider: transformers needs a package that is not installed: npm install ' +
      '@huggingface/no-such-package'),
  )
})

t.test('auto is local without a model, when its packages are installed', async (t) => {
  const { provider, said } = await choose(t, { threads: 1 }, { module: MISSING.module, engine: ENGINE })
  t.strictSame([provider.model, provider.dimensions], ['use-lite-en-1', 512])
  t.match(
    said[0],
    'info: embedding_provider: auto chose local, because its packages are installed and no model is named: ' +
      'use-lite-en-1, 512 dimensions, English',
  )
})

t.test('auto has no embeddings without either, and recall is lexical', async (t) => {
  const { provider, said } = await choose(t, {}, MISSING)
  t.strictSame([provider.model, provider.fusionWeight], ['mock', 0])
  t.strictSame(said, ['warn: embedding_provider: auto chose none, because the packages of local are not installed ' +
    'and no model is named: recall searches by words only'])
})

t.test('the model is loaded for the first text, and not for a provider that embeds nothing', async (t) => {
  const { provider } = await choose(t, {}, { module: MISSING.module, engine: 'file:///nowhere/engine.mjs' })
  t.strictSame(provider.status?.(), { running: 0, waiting: 0, cache: { hits: 0, misses: 0 } })
  await t.rejects(provider.embed(['a'], {}), /^embedding_provider: local: Cannot find module/)
  await provider.close?.()
  const { provider: unused } = await choose(t, {}, { module: MISSING.module, engine: ENGINE })
  await unused.close?.()
  await t.rejects(unused.embed(['a'], {}), new Error('embedding_provider: local is closed'))
})

t.test('settings are checked for every choice', async (t) => {
  await t.rejects(choose(t, { treads: 2 }, MISSING), new ProviderError('embedding_provider_config.treads: is not ' +
    'a known key'))
  await t.rejects(choose(t, { threads: 1, pooling: 'cls', dtype: 'q8' }, MISSING), new ProviderError(
    'embedding_provider_config: pooling, dtype may be set only with model',
  ))
})
