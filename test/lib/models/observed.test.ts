import t from 'tap'
import type { EmbeddingProvider } from '../../../lib/models/embedding-provider.js'
import { ObservedEmbeddings, ObservedReranker, statusOf } from '../../../lib/models/bounded-models.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import type { ModelCallRecord } from '../../../lib/base/telemetry.js'
import { DeadlineExceeded } from '../../../lib/base/deadline.js'

/** A provider that fails as a test says, and what was told of its calls; each takes 5 ms. */
function observed (more: Partial<EmbeddingProvider> = {}) {
  const told: ModelCallRecord[] = []
  const warned: string[] = []
  let now = 0
  const provider: EmbeddingProvider = {
    dimensions: 2, fusionWeight: 0.5, embed: async (texts) => texts.map(() => Float32Array.of(1, 0)), ...more,
  }
  const telemetry = {
    stage: () => {},
    refused: () => {},
    extracted: () => {},
    modelCall: (record: ModelCallRecord) => { told.push(record) },
  }
  return {
    told,
    warned,
    provider,
    embeddings: new ObservedEmbeddings(provider, {
      provider: 'openai_compatible',
      telemetry,
      timer: () => { now += 5; return now },
      warn: (message) => { warned.push(message) },
    }),
    telemetry,
  }
}

await t.test('a call is recorded with purpose and duration, and its answer is unchanged', async (t) => {
  const { told, embeddings } = observed({ model: 'small' })
  t.same(await embeddings.embed(['a', 'b'], { purpose: 'query' }), [Float32Array.of(1, 0), Float32Array.of(1, 0)])
  await embeddings.embed(['a'], {})
  const record = { kind: 'embedding', provider: 'openai_compatible', model: 'small', outcome: 'ok', durationMs: 5 }
  t.same(told, [{ ...record, purpose: 'query' }, { ...record, purpose: 'document' }])
})

await t.test('all other members are those of the provider', async (t) => {
  let closed = 0
  const full = observed({
    model: 'small', deferred: true, status: () => ({ running: 3 }), close: async () => { closed++ },
  }).embeddings
  t.match(full, { model: 'small', dimensions: 2, fusionWeight: 0.5, deferred: true })
  t.same(full.status(), { running: 3 })
  await full.close()
  t.equal(closed, 1)
  const bare = observed().embeddings
  t.match(bare, { model: 'openai_compatible', dimensions: 2, fusionWeight: 0.5, deferred: false })
  t.same(bare.status(), {})
  await bare.close()
})

await t.test('the outcome of a call is recorded as one word', async (t) => {
  const cases: Array<[error: unknown, reason: unknown, outcome: string]> = [
    [new ModelCallError('unreachable', 'x'), undefined, 'unreachable'],
    [Object.assign(new Error('x'), { name: 'QueueFullError' }), undefined, 'overloaded'],
    [new TypeError('x'), undefined, 'error'],
    ['x', undefined, 'error'],
    [new ModelCallError('unreachable', 'x'), new DeadlineExceeded(5), 'timeout'],
    [new Error('x'), new Error('the client left'), 'aborted'],
  ]
  for (const [error, reason, outcome] of cases) {
    const controller = new AbortController()
    const { told, embeddings } = observed({
      embed: async () => {
        if (reason !== undefined) controller.abort(reason)
        throw error
      },
    })
    t.equal(
      await embeddings.embed(['a'], { signal: controller.signal }).then(() => undefined, (thrown: unknown) => thrown),
      error,
    )
    t.same(told.map((record) => record.outcome), [outcome])
  }
})

await t.test('why queries have no vectors is said once, until it changes or the model answers', async (t) => {
  let failure: Error | undefined
  const { warned, embeddings } = observed({
    embed: async () => {
      if (failure !== undefined) throw failure
      return []
    },
  })
  const query = async () => await embeddings.embed(['a'], { purpose: 'query' }).catch(() => {})
  const refused = new ModelCallError('rejected', 'The embedding endpoint answered 401', { status: 401 })
  for (const next of [refused, refused, new ModelCallError('circuit_open', 'It rests'), undefined, refused]) {
    failure = next
    await query()
  }
  failure = new TypeError('the text of the query')
  await query()
  failure = new ModelCallError('timeout', 'late')
  await embeddings.embed(['a'], { purpose: 'document' }).catch(() => {})
  t.same(warned, [
    'a recall lacks its model: The embedding endpoint answered 401', 'a recall lacks its model: It rests',
    'a recall lacks its model: The embedding endpoint answered 401',
  ])
})

await t.test('a reranker is recorded like an embedding provider', async (t) => {
  const { told, telemetry } = observed()
  const reranker = new ObservedReranker(
    { rerank: async (_query, texts) => texts.map((_, index) => index), status: () => ({ waiting: 1 }) }, 'judge',
    { provider: 'rerank_endpoint', telemetry, timer: () => 0, warn: () => {} },
  )
  t.same(await reranker.rerank('q', ['a', 'b'], {}), [0, 1])
  t.same(told, [
    { kind: 'reranker', provider: 'rerank_endpoint', model: 'judge', purpose: 'rerank', outcome: 'ok', durationMs: 0 },
  ])
  t.same(statusOf(reranker), { waiting: 1 })
  await reranker.close()
})
