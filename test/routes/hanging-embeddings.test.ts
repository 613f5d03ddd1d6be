import t from 'tap'
import type { EmbeddingProvider, EmbedOptions } from '../../lib/models/embedding-provider.js'
import { SteeredEmbeddings, SteeredTime } from '../fixtures/steered-embeddings.js'
import { testApp } from '../helpers/app.js'

/** The first call for memories never ends. */
class OnceHanging extends SteeredEmbeddings {
  readonly limits: NonNullable<EmbeddingProvider['limits']>
  hung = 0

  constructor (limitMs: number, deferred = false) {
    super({ deferred })
    this.limits = { attemptTimeoutMs: limitMs }
  }

  override async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    if (options.purpose === 'query' || this.hung++ > 0) return await super.embed(texts, options)
    for (const resolve of this.waiting) resolve()
    return await new Promise<never>(() => {})
  }

  readonly waiting: Array<() => void> = []
}

const file = { signal_quality: { dedup: { action: 'warn' as const } } }
const [LIMIT_MS, LONG_MS] = [10, 600_000]
const NOBODY = { tenantId: null }

t.test('a write does not wait longer than the limit, and its vectors follow', async (t) => {
  const embeddings = new OnceHanging(LIMIT_MS)
  const { app, post, retain } = await testApp(t, { file }, { embeddings })
  await retain('home', 'Alice saw her doctor.')
  await retain('home', 'Bob parked the car.')
  await app.memory.idle()
  const { hits } = (await post('/v1/recall', { bank_id: 'home', query: 'physician' })).json()
  t.match(hits, [{ text: 'Alice saw her doctor.' }])
})

t.test('an import does not wait longer than the limit', async (t) => {
  const { inject, post, app } = await testApp(t, {}, { embeddings: new OnceHanging(LIMIT_MS) })
  const lines = [{ format: 'memory-gateway-export', version: 1 }, { text: 'Alice saw her doctor.' }]
  const imported = await inject({
    method: 'POST',
    url: '/v1/banks/home/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: lines.map((line) => JSON.stringify(line)).join('\n'),
  })
  t.match(imported.json(), { imported: 1 })
  await app.memory.idle()
  t.equal((await post('/v1/recall', { bank_id: 'home', query: 'physician' })).json().hits.length, 1)
})

t.test('a caller that leaves ends the wait, and its key and the bank are free again', async (t) => {
  const embeddings = new OnceHanging(LONG_MS)
  const { app, retain } = await testApp(t, { file }, { embeddings })
  const caller = new AbortController()
  const hangs = new Promise<void>((resolve) => { embeddings.waiting.push(resolve) })
  const idempotency = { key: 'k', operation: 'retain', fingerprint: 'f' }
  const request = { bank_id: 'home', content: 'Alice saw her doctor.' }
  const left = t.rejects(app.memory.retain(request, NOBODY, { idempotency, signal: caller.signal }), new Error('left'))
  await hangs
  caller.abort(new Error('left'))
  await left
  await retain('home', 'Bob parked the car.')
  t.match(await app.memory.retain(request, NOBODY, { idempotency }), { stored: true })
})

t.test('a batch after the write is tried again when the provider does not answer', async (t) => {
  const time = new SteeredTime()
  const embeddings = new OnceHanging(LIMIT_MS, true)
  const { app, post, retain } = await testApp(t, {}, { embeddings, schedule: time.schedule })
  await retain('home', 'Alice saw her doctor.')
  await time.pass()
  await app.memory.idle()
  t.equal((await post('/v1/recall', { bank_id: 'home', query: 'physician' })).json().hits.length, 1)
})
