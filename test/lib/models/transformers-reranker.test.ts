import t, { type Test } from 'tap'
import { transformersReranker } from '../../../lib/models/transformers/providers.js'
import { QueueFullError } from '../../../lib/models/workers/worker-queue.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'

const MODULE = new URL('../../fixtures/transformers-package/index.mjs', import.meta.url).href
const SURROUNDINGS = { baseDirectory: process.cwd() }
const TEXTS = ['Bob bought a boat', 'Alice lives in Lyon', 'Alice has a cat', '']

function open (t: Test, config: Record<string, unknown> = {}) {
  const reranker = transformersReranker({ model: 'fake/overlap', ...config }, SURROUNDINGS, { module: MODULE })
  t.teardown(async () => { await reranker.close?.() })
  return reranker
}

t.test('every text gets the logit of its pair with the query, in order', async (t) => {
  t.strictSame(await open(t).rerank('Where Alice lives', TEXTS, {}), [-1.5, 0.5, -0.5, -1.5])
})

t.test('with two classes the score is the log odds of the second', async (t) => {
  t.strictSame(
    await open(t, { model: 'fake/two-classes' }).rerank('Where Alice lives', TEXTS, {}), [-1.5, 0.5, -0.5, -1.5],
  )
})

t.test('an empty list of texts gets no scores', async (t) => {
  t.strictSame(await open(t).rerank('any', [], {}), [])
})

t.test('pairs are computed in batches', async (t) => {
  t.strictSame(await open(t, { model: 'fake/batches', batch_size: 3 }).rerank('any', TEXTS, {}), [3, 3, 3, 1])
  t.strictSame(
    await open(t, { model: 'fake/batches' }).rerank('any', Array.from({ length: 10 }, () => 'text'), {}),
    [8, 8, 8, 8, 8, 8, 8, 8, 2, 2],
  )
})

t.test('a model that is not a cross-encoder is refused', async (t) => {
  await t.rejects(open(t, { model: 'fake/emotions' }).rerank('any', ['a', 'b'], {}), new Error(
    'reranker: transformers: the model gave scores in the shape 1 by 3 for 1 texts: it is no cross-encoder',
  ))
})

t.test('a text that fails makes its own call fail and no other', async (t) => {
  const reranker = open(t)
  const [failed, well] = await Promise.allSettled([
    reranker.rerank('a', ['b', 'fail'], {}), reranker.rerank('a', ['a', 'b'], {}),
  ])
  t.equal(failed.status, 'rejected')
  t.strictSame(well, { status: 'fulfilled', value: [-0.5, -1.5] })
})

t.test('an aborted call rejects at once', async (t) => {
  const reranker = open(t)
  const controller = new AbortController()
  const call = reranker.rerank('a', ['a', 'b'], { signal: controller.signal })
  controller.abort(new Error('enough'))
  await t.rejects(call, new Error('enough'))
  await t.rejects(reranker.rerank('a', ['a'], { signal: controller.signal }), new Error('enough'))
  t.strictSame(await reranker.rerank('a', ['a'], {}), [-0.5])
})

t.test('the number of waiting texts is bounded', async (t) => {
  const reranker = open(t, { max_queue: 100 })
  await t.rejects(reranker.rerank('a', Array.from({ length: 101 }, () => 'b'), {}), QueueFullError)
})

t.test('closing rejects calls in progress', async (t) => {
  const reranker = open(t)
  const call = reranker.rerank('a', ['a'], {})
  const failed = t.rejects(call, new Error('reranker: transformers was closed'))
  await reranker.close?.()
  await failed
})

t.test('a model that cannot be loaded causes a warning', async (t) => {
  const warned = new Promise<string>((resolve) => {
    const reranker = transformersReranker(
      { model: 'refused/model', dtype: 'q8' }, { ...SURROUNDINGS, warn: resolve }, { module: MODULE },
    )
    t.teardown(async () => { await reranker.close?.() })
  })
  t.match(
    await warned,
    /^reranker: transformers cannot load its model yet: \{"model":"refused\/model","options":\{.*"dtype":"q8"/,
  )
})

t.test('a missing package, a missing folder and wrong settings end the start', async (t) => {
  t.throws(
    () => transformersReranker({ model: 'a/b' }, SURROUNDINGS, { module: '@huggingface/no-such-package' }),
    new ProviderError('reranker: transformers needs a package that is not installed: npm install ' +
      '@huggingface/no-such-package'),
  )
  t.throws(
    () => transformersReranker({ model: './no-such-folder' }, SURROUNDINGS, { module: MODULE }),
    new ProviderError('reranker: transformers: there is no folder "./no-such-folder" with a model'),
  )
  t.throws(
    () => transformersReranker({ model: 'a/b', cache_size: 1 }, SURROUNDINGS, { module: MODULE }),
    new ProviderError('reranker_config.cache_size: is not a known key'),
  )
})
