import t from 'tap'
import { BoundedEmbeddings } from '../../../lib/models/bounded-models.js'
import type { EmbeddingProvider, EmbedOptions } from '../../../lib/models/embedding-provider.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'

/** A provider that never answers, and the signals of its calls. */
function hanging (limits?: EmbeddingProvider['limits']) {
  const signals: Array<AbortSignal | undefined> = []
  const provider = {
    dimensions: 1,
    fusionWeight: 2,
    ...(limits !== undefined && { limits }),
    embed: async (_texts: readonly string[], { signal }: EmbedOptions) => {
      signals.push(signal)
      return await new Promise<never>(() => {})
    },
  }
  return { bounded: new BoundedEmbeddings(provider), signals }
}

t.test('a call for memories ends after the limit, and the provider is told', async (t) => {
  const { bounded, signals } = hanging({ attemptTimeoutMs: 10 })
  await t.rejects(
    bounded.embed(['a'], { purpose: 'document' }),
    new ModelCallError('timeout', 'The embedding provider did not answer within 10 ms'),
  )
  await t.rejects(bounded.embed(['a'], {}), ModelCallError)
  t.strictSame(signals.map((signal) => signal?.aborted), [true, true])
})

t.test('a call for a query has only the limit of its caller', async (t) => {
  const { bounded, signals } = hanging({ attemptTimeoutMs: 1 })
  const { signal } = new AbortController()
  void bounded.embed(['a'], { purpose: 'query', signal })
  t.equal(signals[0], signal)
})

t.test('the signal of the caller and closing end a call', async (t) => {
  const { bounded } = hanging()
  const controller = new AbortController()
  const left = t.rejects(bounded.embed(['a'], { signal: controller.signal }), new Error('left'))
  controller.abort(new Error('left'))
  await left
  const closed = t.rejects(bounded.embed(['a'], {}), new Error('The embedding provider is closed'))
  await bounded.close()
  await closed
})

t.test('an answer, the members and the state of the provider are passed on', async (t) => {
  let closed = 0
  const bounded = new BoundedEmbeddings({
    model: 'm',
    dimensions: 1,
    fusionWeight: 2,
    deferred: true,
    embed: async (texts) => texts.map(({ length }) => Float32Array.of(length)),
    status: () => ({ running: 3 }),
    close: async () => { closed++ },
  })
  t.strictSame(await bounded.embed(['ab'], { purpose: 'document' }), [Float32Array.of(2)])
  t.match(bounded, { model: 'm', dimensions: 1, fusionWeight: 2, deferred: true })
  t.strictSame(bounded.status(), { running: 3 })
  await bounded.close()
  t.equal(closed, 1)
  const plain = hanging().bounded
  t.strictSame([plain.model, plain.deferred, plain.status()], [undefined, false, {}])
})

t.test('wrong limits are refused at the start', async (t) => {
  t.throws(
    () => hanging({ attemptTimeoutMs: 0 }),
    new ProviderError('embedding_provider: limits.attemptTimeoutMs must be a whole number of at least 1'),
  )
})
