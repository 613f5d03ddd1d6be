import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { SteeredEmbeddings } from '../fixtures/steered-embeddings.js'
import { testApp } from '../helpers/app.js'
import { dedupConfig, NEAR_DUPLICATE, retain, retainBatch, TEXT, textsOf } from './retain-dedup-support.js'

t.test('by default only exact repeats are recognised', async (t) => {
  for (const file of [{}, dedupConfig('off')]) {
    const home = await testApp(t, { file })
    await home.retain('home', TEXT)
    const answer = await retain(home, NEAR_DUPLICATE)
    t.equal(answer.stored, true)
    t.notOk('near_duplicate' in answer)
    t.equal((await textsOf(home)).length, 2)
  }
})

t.test('skip: a near-duplicate is not stored', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip') })
  const id = await home.retain('home', TEXT)
  const { near_duplicate: near, ...answer } = await retain(home, NEAR_DUPLICATE)
  t.strictSame(answer, { stored: false, memory_id: id, chunk_count: 1, deduplicated: true, bank_id: 'home' })
  t.equal(near?.memory_id, id)
  t.ok(near!.similarity >= 0.9 && near!.similarity < 1)
  t.strictSame(await textsOf(home), [TEXT])
  t.strictSame((await textsOf(home, 'other')), [])
})

t.test('warn: a near-duplicate is stored, and the answer names the similar memory', async (t) => {
  const home = await testApp(t, { file: dedupConfig('warn') })
  const id = await home.retain('home', TEXT)
  const answer = await retain(home, NEAR_DUPLICATE)
  t.equal(answer.stored, true)
  t.equal(answer.deduplicated, false)
  t.not(answer.memory_id, id)
  t.equal(answer.near_duplicate?.memory_id, id)
  t.strictSame(await textsOf(home), [TEXT, NEAR_DUPLICATE])
})

t.test('update: the new content and its fields replace the existing memory under the same id', async (t) => {
  const home = await testApp(t, { file: dedupConfig('update') })
  const id = await home.retain('home', TEXT, { tags: ['old'], expires_at: '2026-01-16T00:00:00Z' })
  home.clock.advance(60_000)
  const answer = await retain(home, NEAR_DUPLICATE, { tags: ['new'], metadata: { version: 2 } })
  t.strictSame(
    [answer.stored, answer.updated, answer.deduplicated, answer.memory_id, answer.near_duplicate?.memory_id],
    [true, true, false, id, id],
  )
  const memory = (await home.get(`/v1/banks/home/memories/${id}`)).json()
  t.strictSame(memory, {
    memory_id: id,
    bank_id: 'home',
    text: NEAR_DUPLICATE,
    tags: ['new'],
    metadata: { version: 2 },
    occurred_at: null,
    retained_at: '2026-01-15T10:01:00.000Z',
    expires_at: null,
    document_id: null,
    source: null,
    speaker: null,
    trust: 'trusted',
    version: 2,
    state: 'current',
    changed_at: '2026-01-15T10:01:00.000Z',
  })
  home.clock.set('2026-02-01T00:00:00Z')
  t.strictSame(await textsOf(home), [NEAR_DUPLICATE], 'the expiry of the old content is removed too')

  const again = await retain(home, NEAR_DUPLICATE, { tags: ['new'] })
  t.strictSame(
    [again.stored, again.deduplicated, again.memory_id], [false, true, id],
    'an exact repeat of the new content is recognised',
  )
  t.notOk('near_duplicate' in again)
  t.notOk('updated' in again)
  t.equal((await retain(home, TEXT, { tags: ['old'] })).updated, true, 'the old content is no longer a repeat')
})

t.test('an updated memory is found by the meaning of its new text', async (t) => {
  const home = await testApp(t, { file: dedupConfig('update', 0.7) }, { embeddings: new SteeredEmbeddings() })
  const id = await home.retain('home', 'On Friday afternoon Alice goes to her doctor.')
  t.equal((await retain(home, 'On Friday afternoon Alice goes to her garage.')).memory_id, id)
  await home.app.memory.idle()
  const scores = async (query: string) => (await home.post('/v1/recall', {
    bank_id: 'home', query, explain: true,
  })).json().hits
    .map(({ scores }: { scores: { semantic?: { score: number } } }) => scores.semantic?.score ?? 0)
  t.strictSame((await scores('automobile')).map(Math.round), [1])
  t.strictSame((await scores('physician')).filter((score: number) => score > 0), [])
})

t.test('an exact repeat has the same answer with every action', async (t) => {
  for (const action of ['skip', 'warn', 'update'] as const) {
    const home = await testApp(t, { file: dedupConfig(action) })
    const id = await home.retain('home', TEXT)
    t.strictSame(
      await retain(home, TEXT), { stored: false, memory_id: id, chunk_count: 1, deduplicated: true, bank_id: 'home' },
      action,
    )
  }
})

t.test('a bank may have other settings, also by a pattern', async (t) => {
  const file: FileConfig = {
    signal_quality: { dedup: { action: 'skip', threshold: 0.99 } },
    banks: {
      home: { signal_quality: { dedup: { threshold: 0.9 } } },
      'diary-*': { signal_quality: { dedup: { action: 'off' } } },
    },
  }
  const { post } = await testApp(t, { file })
  const stored = async (bank: string) => {
    await post('/v1/retain', { bank_id: bank, content: TEXT })
    return (await post('/v1/retain', { bank_id: bank, content: NEAR_DUPLICATE })).json().stored
  }
  t.equal(await stored('home'), false, 'the action of all banks with its own threshold')
  t.equal(await stored('elsewhere'), true, 'a threshold that is not reached')
  t.equal(await stored('diary-ada'), true)
})

t.test('the items of a batch are compared with the bank and with each other, in order', async (t) => {
  const skip = await testApp(t, { file: dedupConfig('skip') })
  const id = await skip.retain('home', TEXT)
  const other = 'Bob repairs old wooden boats in the harbour of Marseille on weekends'
  const skipped = await retainBatch(skip, [other, NEAR_DUPLICATE, `${other} only`, other])
  const first = skipped[0]!.memory_id
  t.strictSame(skipped.map(
    ({ stored, memory_id: memoryId, near_duplicate: near }) => [stored, memoryId, near?.memory_id],
  ), [
    [true, first, undefined], [false, id, id], [false, first, first], [false, first, undefined],
  ])
  t.strictSame(await textsOf(skip), [TEXT, other])

  const warn = await testApp(t, { file: dedupConfig('warn') })
  const warned = await retainBatch(warn, [other, `${other} only`])
  t.strictSame(warned.map(({ stored, near_duplicate: near }) => [stored, near?.memory_id]), [
    [true, undefined], [true, warned[0]!.memory_id],
  ])

  const update = await testApp(t, { file: dedupConfig('update') })
  const existing = await update.retain('home', TEXT)
  const updated = await retainBatch(update, [
    NEAR_DUPLICATE, other, `${NEAR_DUPLICATE} early`, `${other} only`, 'It will rain.', `${NEAR_DUPLICATE} early`,
  ])
  const fresh = updated[1]!.memory_id
  t.strictSame(updated.map(({ stored, updated, memory_id: memoryId }) => [stored, updated, memoryId]), [
    [true, true, existing], [true, undefined, fresh], [
      true, true, existing,
    ], [true, true, fresh], [true, undefined, updated[4]!.memory_id], [false, undefined, existing],
  ])
  t.strictSame(await textsOf(update), [`${NEAR_DUPLICATE} early`, `${other} only`, 'It will rain.'])
})

t.test('an import does not look for near-duplicates', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip') })
  await home.retain('home', TEXT)
  const payload = [{ format: 'memory-gateway-export', version: 1 }, { text: NEAR_DUPLICATE }].map((line) => (
    JSON.stringify(line)
  )).join('\n')
  const answer = await home.inject({
    method: 'POST', url: '/v1/banks/home/import', headers: { 'content-type': 'application/x-ndjson' }, payload,
  })
  t.equal(answer.json().imported, 1)
})

t.test('the permission write is enough, and the answer contains only the id of the existing memory', async (t) => {
  const file: FileConfig = {
    ...dedupConfig('skip'),
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [{ bank_id: 'home', principal: 'user:ada', permissions: ['write'] }],
  }
  const home = await testApp(t, { file })
  const headers = { 'x-service-principal': 'user:ada' }
  await home.retain('home', `${TEXT} hush`, {}, headers)
  const answer = await home.post('/v1/retain', { bank_id: 'home', content: TEXT }, headers)
  t.equal(answer.json().stored, false)
  t.notMatch(answer.body, /hush/)
})
