import t from 'tap'
import type { BankKey } from '../../lib/access/context.js'
import type { MemoryOverrides } from '../../lib/operations/memory-service.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import {
  IdempotencyKeyTaken, recordText, type IdempotencyRecord, type InsertOutcome, type NewMemory,
  type VectorStore, type WriteOptions,
} from '../../lib/stores/vector-store.js'
import { SteeredEmbeddings, SteeredTime } from '../fixtures/steered-embeddings.js'
import { testApp, type TestApp } from '../helpers/app.js'

type Gateway = TestApp & { embeddings: SteeredEmbeddings, time: SteeredTime }

async function gateway (
  t: Parameters<typeof testApp>[0], { deferred = true, ...overrides }: { deferred?: boolean } & MemoryOverrides = {},
): Promise<Gateway> {
  const embeddings = new SteeredEmbeddings({ deferred })
  const time = new SteeredTime()
  return {
    ...await testApp(t, {}, { embeddings, schedule: time.schedule, random: () => 1, ...overrides }), embeddings, time,
  }
}

function withoutLateVectors (): VectorStore {
  return Object.assign(new InMemoryVectorStore(), { attachVectors: undefined })
}

/** Texts that a recall finds by meaning: the query shares no word with them. */
async function found ({ post }: TestApp, query: string): Promise<string[]> {
  const { hits } = (await post('/v1/recall', {
    bank_id: 'home', query, explain: true,
  })).json<{ hits: Array<{ text: string, scores: { semantic?: { score: number } } }> }>()
  return hits.filter(({ scores }) => (scores.semantic?.score ?? 0) > 0).map(({ text }) => text)
}

/** Messages of the log about vectors, of a level (40: warnings, 30: the rest). */
function told ({ log }: TestApp, level: number): string[] {
  return log.filter((line) => line['level'] === level && String(line['msg']).startsWith('embedding_provider'))
    .map((line) => String(line['msg']))
}

t.test('a retain does not wait for a deferred provider, and its vectors are added later', async (t) => {
  const home = await gateway(t)
  const release = home.embeddings.hold()
  await home.retain('home', 'Alice saw her doctor.')
  const batch = await home.post('/v1/retain/batch', {
    bank_id: 'home', items: [{ content: 'Bob parked the car.' }, { content: 'Alice saw her doctor.' }],
  })
  t.strictSame(batch.json().results.map(({ stored }: { stored: boolean }) => stored), [true, false])
  t.strictSame(await found(home, 'physician'), [])
  t.strictSame(
    (await home.post('/v1/recall', { bank_id: 'home', query: 'parked' })).json().hits.length, 1,
    'it is found by its words at once',
  )

  release()
  await home.app.memory.idle()
  t.strictSame(await found(home, 'physician'), ['Alice saw her doctor.'])
  t.strictSame(await found(home, 'automobile'), ['Bob parked the car.'])
  t.strictSame(
    home.embeddings.calls.flat().sort(), ['Alice saw her doctor.', 'Bob parked the car.'],
    'a repeat is not embedded again',
  )
})

t.test('a write whose commit was not answered gets its vectors, too', async (t) => {
  class Unanswered extends InMemoryVectorStore {
    #record: IdempotencyRecord | undefined

    async findIdempotencyRecord (): Promise<IdempotencyRecord | undefined> {
      return this.#record
    }

    override async insert (
      key: BankKey, memories: readonly NewMemory[], options: WriteOptions,
    ): Promise<InsertOutcome[]> {
      const outcome = await super.insert(key, memories, options)
      const { requestFingerprint } = options.idempotency!
      this.#record = { requestFingerprint, text: recordText(options.idempotency!, outcome) }
      throw new IdempotencyKeyTaken({ isOwn: true })
    }
  }
  const home = await gateway(t, { store: new Unanswered() })
  const body = { bank_id: 'home', content: 'Alice saw her doctor.' }
  t.match((await home.post('/v1/retain', body, { 'idempotency-key': 'one' })).json(), { stored: true })
  await home.app.memory.idle()
  t.strictSame(await found(home, 'physician'), ['Alice saw her doctor.'])
})

t.test('a retain waits for a provider that is not deferred', async (t) => {
  const home = await gateway(t, { deferred: false })
  await home.retain('home', 'Alice saw her doctor.')
  t.strictSame(await found(home, 'physician'), ['Alice saw her doctor.'])
  await home.app.memory.idle()
  t.equal(home.embeddings.calls.length, 1)
})

for (const deferred of [true, false]) {
  t.test(`a ${deferred ? 'deferred' : 'prompt'} provider that fails stops no retain, and the ` +
    'vectors follow', async (t) => {
    const home = await gateway(t, { deferred })
    home.embeddings.failure = new Error('401 with key sk-secret')
    await home.retain('home', 'Alice saw her doctor.')
    await home.time.pausing()
    const calls = home.embeddings.calls.length
    await home.retain('home', 'Bob parked the car.')
    t.equal(home.embeddings.calls.length, calls, 'a failing provider is not waited for')
    t.strictSame(await found(home, 'physician'), [])
    t.equal(told(home, 40).length, 1)
    t.strictSame(told(home, 30), [])

    home.embeddings.failure = undefined
    await home.time.pass()
    await home.app.memory.idle()
    t.strictSame(await found(home, 'physician'), ['Alice saw her doctor.'])
    t.strictSame(await found(home, 'automobile'), ['Bob parked the car.'])
    t.equal(told(home, 40).length, 1)
    t.equal(told(home, 30).length, 1)
    t.notMatch(JSON.stringify(home.log), /sk-secret|Alice|Bob/)
  })
}

t.test('unusable vectors stop no retain either', async (t) => {
  const home = await gateway(t, { deferred: false })
  home.embeddings.spoiled = 'doctor'
  const id = await home.retain('home', 'Alice saw her doctor.')
  await home.time.pass()
  await home.app.memory.idle()
  t.equal(told(home, 40).filter((message) => message.includes(id)).length, 1)
  await home.retain('home', 'Bob parked the car.')
  await home.app.memory.idle()
  t.strictSame(await found(home, 'automobile'), ['Bob parked the car.'])
})

t.test('with a store that takes no late vectors every write waits for the provider, and fails with it', async (t) => {
  const home = await gateway(t, { store: withoutLateVectors() })
  await home.retain('home', 'Alice saw her doctor.')
  t.strictSame(await found(home, 'physician'), ['Alice saw her doctor.'])
  home.embeddings.failure = new Error('down')
  const refused = await home.post('/v1/retain', { bank_id: 'home', content: 'Bob parked the car.' })
  t.equal(refused.statusCode, 503)
  t.equal(refused.json().code, 'dependency_unavailable')
  home.embeddings.failure = undefined
  home.embeddings.spoiled = 'car'
  t.equal((await home.post('/v1/retain', { bank_id: 'home', content: 'Bob parked the car.' })).statusCode, 502)
  await home.app.memory.idle()
})

t.test('imported memories get vectors too, and overwritten ones get new vectors', async (t) => {
  const home = await gateway(t)
  const id = await home.retain('home', 'Alice saw her doctor.')
  await home.app.memory.idle()
  const importLines = async (onConflict: string, ...lines: object[]) => await home.inject({
    method: 'POST',
    url: `/v1/banks/home/import?on_conflict=${onConflict}`,
    headers: { 'content-type': 'application/x-ndjson' },
    payload: [{ format: 'memory-gateway-export', version: 1 }, ...lines].map((line) => JSON.stringify(line)).join('\n'),
  })
  t.strictSame(
    (await importLines('overwrite', { text: 'It will rain.', memory_id: id }, { text: 'Bob parked the car.' })).json(),
    { imported: 1, skipped: 0, overwritten: 1 },
  )
  await home.app.memory.idle()
  t.strictSame(await found(home, 'physician'), [])
  t.strictSame(await found(home, 'umbrella'), ['It will rain.'])
  t.strictSame(await found(home, 'automobile'), ['Bob parked the car.'])

  t.strictSame(
    (await importLines('skip', { text: 'The surgeon called.', memory_id: id }, {
      text: 'The garage is closed.',
    })).json(),
    { imported: 1, skipped: 1, overwritten: 0 },
  )
  await home.app.memory.idle()
  t.strictSame(await found(home, 'physician'), [], 'the vectors of a skipped memory are not used')
  t.strictSame((await found(home, 'automobile')).sort(), ['Bob parked the car.', 'The garage is closed.'])
})

t.test('memories that a server left without vectors get them at the next start', async (t) => {
  class LastingStore extends InMemoryVectorStore {
    override async close (): Promise<void> {}
  }
  const store = new LastingStore()
  const first = await gateway(t, { store })
  first.embeddings.hold()
  await first.retain('home', 'Alice saw her doctor.')
  await first.app.close()

  const second = await gateway(t, { store })
  await second.app.memory.idle()
  t.strictSame(await found(second, 'physician'), ['Alice saw her doctor.'])
})

t.test('a server stops while vectors are computed, and while a provider fails', async (t) => {
  const busy = await gateway(t)
  busy.embeddings.hold()
  const called = busy.embeddings.called()
  await busy.retain('home', 'Alice saw her doctor.')
  await called
  await busy.app.close()

  const failing = await gateway(t)
  failing.embeddings.failure = new Error('down')
  await failing.retain('home', 'Alice saw her doctor.')
  await failing.time.pausing()
  await failing.app.close()
  t.equal(failing.time.waiting, 0)
})

t.test('the message of a custom provider\'s error may contain the text, and is not logged', async (t) => {
  const home = await gateway(t, { deferred: false, store: withoutLateVectors() })
  home.embeddings.failure = Object.assign(new RangeError('cannot embed "Alice saw her doctor."'), { code: 'E_TEXT' })
  const refused = await home.post('/v1/retain', { bank_id: 'home', content: 'Alice saw her doctor.' })
  t.equal(refused.statusCode, 503)
  const [{ err } = {}] = home.log.filter(({ level }) => level === 50)
  t.match(err, { type: 'RangeError', message: /^RangeError \(its message/, code: 'E_TEXT', stack: /late-vectors/ })
  t.notMatch(JSON.stringify(home.log), /doctor/)
})

t.test('without a semantic weight nothing is embedded', async (t) => {
  const embeddings = new SteeredEmbeddings()
  const { retain, app } = await testApp(t, { file: { retrieval: { weights: { semantic: 0 } } } }, { embeddings })
  await retain('home', 'Alice saw her doctor.')
  await app.memory.idle()
  t.strictSame(embeddings.calls, [])
})
