import t from 'tap'
import { NO_TELEMETRY, type ModelCallRecord } from '../../lib/base/telemetry.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { MockEmbeddingProvider } from '../../lib/models/mock/embedding-provider.js'
import { testApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'
import { answerOf, generation, hanging, logged, ScriptedModel, StreamingModel } from './reflecting.js'
import { refused, refusedFields } from './support.js'

const EVENTS = { accept: 'text/event-stream' }
const QUESTION = { bank_id: 'bank', query: 'What does Alice drink?' }
const LATE = { ...QUESTION, timeout_ms: 40 }
/** Leaves time for the recall. */
const LATE_ANSWER = { ...QUESTION, timeout_ms: 800 }

const store = new InMemoryVectorStore()
const search = store.search.bind(store)
const embeddings = new MockEmbeddingProvider()
const embed = embeddings.embed.bind(embeddings)
const languageModel = new StreamingModel()
const calls: ModelCallRecord[] = []
const app = await testApp(t, {
  file: {
    reflect: { timeout_ms: 20_000 },
    homeostasis: { quotas: { reflect_per_day: 1, model_calls_per_day: 1000 } },
    retrieval: { weights: { semantic: 1 }, semantic_timeout_ms: 10_000 },
    banks: { free: { homeostasis: { quotas: { reflect_per_day: 1000 } } } },
  },
}, {
  store,
  embeddings,
  languageModel,
  telemetry: { ...NO_TELEMETRY, modelCall: (record) => { if (record.kind === 'llm') calls.push(record) } },
})
const { post, retain, clock } = app
await retain('bank', 'Alice drinks green tea.')
await retain('free', 'Alice drinks green tea.')

t.beforeEach(() => {
  store.search = search
  embeddings.embed = embed
  languageModel.answer = () => generation('Tea [1].')
  languageModel.asked.length = 0
  // A quota of its own for each test.
  clock.advance(24 * 3_600_000)
})

const hangs: Record<string, () => void> = {
  store: () => { store.search = async () => await new Promise<never>(() => {}) },
  'store and a late failure of it': () => {
    store.search = async () => {
      await new Promise(
        (resolve) => { setTimeout(resolve, 60) },
      ); throw new Error('late')
    }
  },
  'embedding provider': () => { embeddings.embed = async () => await new Promise<never>(() => {}) },
  'language model': () => { languageModel.answer = hanging },
  'language model that hears no signal': () => {
    languageModel.answer = async () => (
      await new Promise<never>(() => {})
    )
  },
}
for (const [what, hang] of Object.entries(hangs)) {
  await t.test(`with a ${what} that hangs the deadline is kept, and the quota is refunded`, async (t) => {
    hang()
    refused(
      t, await post('/v1/reflect', what.startsWith('language') ? LATE_ANSWER : LATE), 503, 'deadline_exceeded',
      { detail: 'The answer was not ready in time' },
    )
    store.search = search
    embeddings.embed = embed
    languageModel.answer = () => generation('Tea [1].')
    t.equal((await post('/v1/reflect', QUESTION)).statusCode, 200)
    refused(t, await post('/v1/reflect', QUESTION), 429, 'quota_exceeded')
  })

  await t.test(`the same holds for events, with a ${what} that hangs`, async (t) => {
    hang()
    languageModel.parts = (request) => (async function * () { yield await hanging(request) })()
    const response = await post('/v1/reflect', what.startsWith('language') ? LATE_ANSWER : LATE, EVENTS)
    if (what.startsWith('language')) {
      const events = parseEvents(response.body)
      t.match(events, [{ event: 'evidence' }, { event: 'error', data: { code: 'deadline_exceeded' } }])
      t.equal(events.length, 2)
    } else refused(t, response, 503, 'deadline_exceeded')
    store.search = search
    embeddings.embed = embed
    languageModel.answer = () => generation('Tea [1].')
    t.equal((await post('/v1/reflect', QUESTION)).statusCode, 200, 'the quota was refunded')
  })
}

await t.test('the log contains the reason of a late answer, as a fault', (t) => {
  t.ok(logged(app, 50).length > 0)
  const reason = /^request failed(?:: The language model did not answer within \d+ ms)?$/
  t.same(logged(app, 50).filter((message) => !reason.test(message)), [])
  t.notMatch(JSON.stringify(app.log), /green tea|What does Alice/)
  t.end()
})

await t.test('the call of a model that missed the deadline is reported as such', async (t) => {
  calls.length = 0
  languageModel.answer = hanging
  await post('/v1/reflect', LATE_ANSWER)
  t.equal(calls.length, 1)
  t.match(calls[0], { purpose: 'reflect', outcome: 'timeout', inputTokens: undefined })
})

await t.test('a request may take less time than the configuration allows, and not more', async (t) => {
  const given = async (timeout?: number) => {
    await post('/v1/reflect', { ...QUESTION, bank_id: 'free', ...(timeout !== undefined && { timeout_ms: timeout }) })
    return languageModel.last.timeoutMs!
  }
  const within = (value: number, most: number) => {
    t.ok(
      value <= most - 100 && value > most - 5000, `${value} of ${most}`,
    )
  }
  within(await given(), 20_000)
  within(await given(600_000), 20_000)
  within(await given(10_000), 10_000)
})

for (const timeout of [0, -5, 1.5, 'soon']) {
  await t.test(`refuses timeout_ms ${timeout}`, async (t) => {
    refusedFields(t, await post('/v1/reflect', { ...QUESTION, timeout_ms: timeout }), 'timeout_ms')
  })
}

await t.test('embeddings that are too late for the recall are skipped, and the answer says so', async (t) => {
  const slow = new MockEmbeddingProvider()
  const { post, retain } = await testApp(
    t, { file: { retrieval: { weights: { semantic: 1 }, semantic_timeout_ms: 20 } } },
    { embeddings: slow, languageModel },
  )
  await retain('bank', 'Alice drinks green tea.')
  slow.embed = async () => await new Promise<never>(() => {})
  t.match(answerOf(await post('/v1/reflect', QUESTION)), { answer: 'Tea [1].', degraded: ['semantic'] })
  t.match(
    answerOf(await post('/v1/reflect', { ...QUESTION, query: 'submarine' })),
    { abstained: true, degraded: ['semantic'] },
  )
})

await t.test('without a deadline in the request an attempt takes three quarters of the configured one', async (t) => {
  const hung = Object.assign(new ScriptedModel(), { limits: { maxRetries: 0 } })
  hung.answer = hanging
  const { post, retain } = await testApp(t, { file: { reflect: { timeout_ms: 100 } } }, { languageModel: hung })
  await retain('bank', 'Alice drinks green tea.')
  for (const more of [{}, { timeout_ms: 600_000 }]) {
    const response = await post('/v1/reflect', { ...QUESTION, ...more })
    t.equal(response.statusCode, 503)
    // Which of the two it is depends on how late the machine is.
    t.match(response.json().code, /^(?:dependency_unavailable|deadline_exceeded)$/)
  }
})
