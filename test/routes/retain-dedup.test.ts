import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { recordText } from '../../lib/stores/idempotency.js'
import type { IdempotencyRecord, IdempotentWrite, VectorStore } from '../../lib/stores/vector-store.js'
import { SteeredEmbeddings } from '../fixtures/steered-embeddings.js'
import { testApp, type TestApp } from '../helpers/app.js'

type Action = 'off' | 'skip' | 'warn' | 'update'

interface Answer {
  stored: boolean
  memory_id: string
  chunk_count: number
  deduplicated: boolean
  updated?: boolean
  near_duplicate?: { memory_id: string, similarity: number }
}

const LONG = 'Alice drinks a cup of green tea with honey every morning before work'
/** One word more. */
const NEAR = 'Alice drinks a cup of green tea with honey every morning before work begins'

function bankOf (action: Action, threshold?: number): FileConfig {
  return { signal_quality: { dedup: { action, ...(threshold !== undefined && { threshold }) } } }
}

async function texts ({ get }: TestApp, bank = 'home'): Promise<string[]> {
  return (await get(`/v1/banks/${bank}/memories`)).json<{ memories: Array<{ text: string }> }>().memories.map(({ text }) => text).sort()
}

async function keep (
  { post }: TestApp, content: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await post('/v1/retain', { bank_id: 'home', content, ...more }, headers)
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json<Answer>()
}

async function keepAll (
  { post }: TestApp, contents: Array<string | Record<string, unknown>>, headers: Record<string, string> = {},
): Promise<Answer[]> {
  const items = contents.map((item) => typeof item === 'string' ? { content: item } : item)
  return (await post('/v1/retain/batch', { bank_id: 'home', items }, headers)).json<{ results: Answer[] }>().results
}

t.test('unless the bank asks for it, only exact repeats are recognised', async (t) => {
  for (const file of [{}, bankOf('off')]) {
    const home = await testApp(t, { file })
    await home.retain('home', LONG)
    const answer = await keep(home, NEAR)
    t.equal(answer.stored, true)
    t.notOk('near_duplicate' in answer)
    t.equal((await texts(home)).length, 2)
  }
})

t.test('skip: a near-duplicate is not stored', async (t) => {
  const home = await testApp(t, { file: bankOf('skip') })
  const id = await home.retain('home', LONG)
  const { near_duplicate: near, ...answer } = await keep(home, NEAR)
  t.strictSame(answer, { stored: false, memory_id: id, chunk_count: 1, deduplicated: true, bank_id: 'home' })
  t.equal(near?.memory_id, id)
  t.ok(near!.similarity >= 0.9 && near!.similarity < 1)
  t.strictSame(await texts(home), [LONG])
  t.strictSame((await texts(home, 'other')), [])
})

t.test('warn: a near-duplicate is stored, and the answer names what it repeats', async (t) => {
  const home = await testApp(t, { file: bankOf('warn') })
  const id = await home.retain('home', LONG)
  const answer = await keep(home, NEAR)
  t.equal(answer.stored, true)
  t.equal(answer.deduplicated, false)
  t.not(answer.memory_id, id)
  t.equal(answer.near_duplicate?.memory_id, id)
  t.strictSame(await texts(home), [LONG, NEAR])
})

t.test('update: the new content takes the place of the standing memory under its id, with all that belongs to it', async (t) => {
  const home = await testApp(t, { file: bankOf('update') })
  const id = await home.retain('home', LONG, { tags: ['old'], expires_at: '2026-01-16T00:00:00Z' })
  home.clock.advance(60_000)
  const answer = await keep(home, NEAR, { tags: ['new'], metadata: { version: 2 } })
  t.strictSame(
    [answer.stored, answer.updated, answer.deduplicated, answer.memory_id, answer.near_duplicate?.memory_id],
    [true, true, false, id, id],
  )
  const memory = (await home.get(`/v1/banks/home/memories/${id}`)).json()
  t.strictSame(memory, {
    memory_id: id,
    bank_id: 'home',
    text: NEAR,
    tags: ['new'],
    metadata: { version: 2 },
    occurred_at: null,
    retained_at: '2026-01-15T10:01:00.000Z',
    expires_at: null,
    document_id: null,
    source: null,
    trust: 'trusted',
  })
  home.clock.set('2026-02-01T00:00:00Z')
  t.strictSame(await texts(home), [NEAR], 'the expiry of the old one is gone with it')

  const again = await keep(home, NEAR, { tags: ['new'] })
  t.strictSame([again.stored, again.deduplicated, again.memory_id], [false, true, id], 'its exact repeat is known as such')
  t.notOk('near_duplicate' in again)
  t.notOk('updated' in again)
  t.equal((await keep(home, LONG, { tags: ['old'] })).updated, true, 'and the old text is news again')
})

t.test('an updated memory is found by the meaning of its new text', async (t) => {
  const home = await testApp(t, { file: bankOf('update', 0.7) }, { embeddings: new SteeredEmbeddings() })
  const id = await home.retain('home', 'On Friday afternoon Alice goes to her doctor.')
  t.equal((await keep(home, 'On Friday afternoon Alice goes to her garage.')).memory_id, id)
  await home.app.memory.idle()
  const scores = async (query: string) => (await home.post('/v1/recall', { bank_id: 'home', query, explain: true })).json().hits
    .map(({ scores }: { scores: { semantic?: { score: number } } }) => scores.semantic?.score ?? 0)
  t.strictSame((await scores('automobile')).map(Math.round), [1])
  t.strictSame((await scores('physician')).filter((score: number) => score > 0), [])
})

t.test('an exact repeat is answered as ever', async (t) => {
  for (const action of ['skip', 'warn', 'update'] as const) {
    const home = await testApp(t, { file: bankOf(action) })
    const id = await home.retain('home', LONG)
    t.strictSame(await keep(home, LONG), { stored: false, memory_id: id, chunk_count: 1, deduplicated: true, bank_id: 'home' }, action)
  }
})

t.test('the threshold decides', async (t) => {
  for (const [threshold, stored] of [[0, false], [0.5, false], [0.99, true], [1, true]] as const) {
    const home = await testApp(t, { file: bankOf('skip', threshold) })
    await home.retain('home', LONG)
    t.equal((await keep(home, NEAR)).stored, stored, String(threshold))
    t.equal((await keep(home, 'Bob parked the car.')).stored, true, 'what shares no word is none at any threshold')
  }
  const home = await testApp(t, { file: bankOf('skip', 1) })
  await home.retain('home', LONG)
  t.equal((await keep(home, `${LONG}!`)).near_duplicate?.similarity, 1, 'the same words reach a threshold of 1')
})

const different: Record<string, [string, string]> = {
  'another number': [`${LONG} at 7`, `${LONG} at 8`],
  'a number more': [LONG, `${LONG} 2`],
  'another number in words': [`${LONG} with two friends`, `${LONG} with three friends`],
  'a negation': [LONG.replace('drinks', 'does drink'), LONG.replace('drinks', 'does not drink')],
  'a negation in short': [LONG.replace('drinks', 'does drink'), LONG.replace('drinks', 'doesn’t drink')],
  never: [LONG, LONG.replace('Alice drinks', 'Alice never drinks')],
  'who does what': ['Last summer Alice lent Bob her favourite red bicycle in Lyon', 'Last summer Bob lent Alice her favourite red bicycle in Lyon'],
}

for (const [what, [standing, coming]] of Object.entries(different)) {
  t.test(`texts that differ by ${what} are no near-duplicates`, async (t) => {
    const home = await testApp(t, { file: bankOf('skip', 0.5) })
    await home.retain('home', standing)
    const answer = await keep(home, coming)
    t.equal(answer.stored, true)
    t.notOk('near_duplicate' in answer)
  })
}

t.test('two ways to write a negation are the same', async (t) => {
  const home = await testApp(t, { file: bankOf('skip') })
  await home.retain('home', LONG.replace('drinks', 'does not drink'))
  t.equal((await keep(home, LONG.replace('drinks', 'doesn\'t drink'))).stored, false)
})

t.test('what another document tells is no repeat', async (t) => {
  const home = await testApp(t, { file: bankOf('skip') })
  await home.retain('home', LONG, { document_id: 'monday' })
  t.equal((await keep(home, NEAR, { document_id: 'tuesday' })).stored, true)
  t.equal((await keep(home, NEAR)).stored, true, 'nor what none tells')
  t.equal((await keep(home, `${LONG} begin`, { document_id: 'monday' })).stored, false)
})

t.test('a text of stop words alone repeats nothing', async (t) => {
  const home = await testApp(t, { file: bankOf('skip', 0) })
  await home.retain('home', 'Who is this?')
  t.equal((await keep(home, 'What is that?')).stored, true)
})

t.test('a bank may have it another way, and patterns hold', async (t) => {
  const file: FileConfig = {
    signal_quality: { dedup: { action: 'skip', threshold: 0.99 } },
    banks: { home: { signal_quality: { dedup: { threshold: 0.9 } } }, 'diary-*': { signal_quality: { dedup: { action: 'off' } } } },
  }
  const { post } = await testApp(t, { file })
  const stored = async (bank: string) => {
    await post('/v1/retain', { bank_id: bank, content: LONG })
    return (await post('/v1/retain', { bank_id: bank, content: NEAR })).json().stored
  }
  t.equal(await stored('home'), false, 'the action of all, the threshold of its own')
  t.equal(await stored('elsewhere'), true, 'a threshold that is not reached')
  t.equal(await stored('diary-ada'), true)
})

t.test('the items of a batch are compared with the bank and with each other, in order', async (t) => {
  const skip = await testApp(t, { file: bankOf('skip') })
  const id = await skip.retain('home', LONG)
  const other = 'Bob repairs old wooden boats in the harbour of Marseille on weekends'
  const skipped = await keepAll(skip, [other, NEAR, `${other} only`, other])
  const first = skipped[0]!.memory_id
  t.strictSame(skipped.map(
    ({ stored, memory_id: memoryId, near_duplicate: near }) => [stored, memoryId, near?.memory_id],
  ), [
    [true, first, undefined], [false, id, id], [false, first, first], [false, first, undefined],
  ])
  t.strictSame(await texts(skip), [LONG, other])

  const warn = await testApp(t, { file: bankOf('warn') })
  const warned = await keepAll(warn, [other, `${other} only`])
  t.strictSame(warned.map(({ stored, near_duplicate: near }) => [stored, near?.memory_id]), [
    [true, undefined], [true, warned[0]!.memory_id],
  ])

  const update = await testApp(t, { file: bankOf('update') })
  const standing = await update.retain('home', LONG)
  const updated = await keepAll(update, [NEAR, other, `${NEAR} early`, `${other} only`, 'It will rain.', `${NEAR} early`])
  const fresh = updated[1]!.memory_id
  t.strictSame(updated.map(({ stored, updated, memory_id: memoryId }) => [stored, updated, memoryId]), [
    [true, true, standing], [true, undefined, fresh], [
      true, true, standing,
    ], [true, true, fresh], [true, undefined, updated[4]!.memory_id], [false, undefined, standing],
  ])
  t.strictSame(await texts(update), [`${NEAR} early`, `${other} only`, 'It will rain.'])
})

t.test('a big batch of unlike items takes no time to speak of', async (t) => {
  const home = await testApp(t, { file: bankOf('skip') })
  const answers = await keepAll(home, Array.from({ length: 1000 }, (_, index) => `the common word and ${'x'.repeat(index % 40 + 1)}${index}`))
  t.equal(answers.filter(({ stored }) => stored).length, 1000)
})

t.test('an import compares nothing', async (t) => {
  const home = await testApp(t, { file: bankOf('skip') })
  await home.retain('home', LONG)
  const payload = [{ format: 'memory-gateway-export', version: 1 }, { text: NEAR }].map((line) => JSON.stringify(line)).join('\n')
  const answer = await home.inject({ method: 'POST', url: '/v1/banks/home/import', headers: { 'content-type': 'application/x-ndjson' }, payload })
  t.equal(answer.json().imported, 1)
})

t.test('write alone is enough, and the answer shows only the id of the stored memory', async (t) => {
  const file: FileConfig = {
    ...bankOf('skip'),
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [{ bank_id: 'home', principal: 'user:ada', permissions: ['write'] }],
  }
  const home = await testApp(t, { file })
  const headers = { 'x-service-principal': 'user:ada' }
  await home.retain('home', `${LONG} hush`, {}, headers)
  const answer = await home.post('/v1/retain', { bank_id: 'home', content: LONG }, headers)
  t.equal(answer.json().stored, false)
  t.notMatch(answer.body, /hush/)
})

/** A store that keeps records of idempotency keys, as the durable ones do. */
class RecordingStore extends InMemoryVectorStore {
  readonly records = new Map<string, IdempotencyRecord>()

  async findIdempotencyRecord (_tenantId: unknown, key: string): Promise<IdempotencyRecord | undefined> {
    return this.records.get(key)
  }

  #keep<Outcome> (idempotency: IdempotentWrite | undefined, outcome: Outcome): Outcome {
    if (idempotency !== undefined) {
      this.records.set(idempotency.key, {
        requestFingerprint: idempotency.requestFingerprint, text: recordText(idempotency, outcome),
      })
    }
    return outcome
  }

  override async insert (...[bank, memories, now, idempotency]: Parameters<VectorStore['insert']>): ReturnType<VectorStore['insert']> {
    return this.#keep(idempotency, await super.insert(bank, memories, now))
  }

  override async import (...[bank, memories, onConflict, now, idempotency]: Parameters<VectorStore['import']>): ReturnType<VectorStore['import']> {
    return this.#keep(idempotency, await super.import(bank, memories, onConflict, now))
  }

  override async close (): Promise<void> {}
}

for (const action of ['skip', 'warn', 'update'] as const) {
  t.test(`${action}: a request that is repeated with its idempotency key gets the same answer, over a restart too`, async (t) => {
    const store = new RecordingStore()
    const home = await testApp(t, { file: bankOf(action) }, { store })
    await home.retain('home', LONG)
    const headers = { 'idempotency-key': 'k-1' }
    const first = await keep(home, NEAR, {}, headers)
    const batch = await keepAll(home, [`${NEAR} early`, 'It will rain.'], { 'idempotency-key': 'k-2' })
    const stored = await texts(home)
    t.strictSame(await keep(home, NEAR, {}, headers), first)
    t.equal(store.records.size, 2)
    await home.app.close()

    const later = await testApp(t, { file: bankOf(action) }, { store })
    t.strictSame(await keep(later, NEAR, {}, headers), first)
    t.strictSame(await keepAll(later, [`${NEAR} early`, 'It will rain.'], { 'idempotency-key': 'k-2' }), batch)
    t.strictSame(await texts(later), stored, 'and nothing is done again')
  })
}
