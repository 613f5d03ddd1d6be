import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { Generation } from '../../lib/models/language-model.js'
import { testApp } from '../helpers/app.js'
import { refused } from './support.js'

const FAULT = 'refused by https://models.internal/v1 with key sk-secret'

/** Models that answer or fail as a test says, and that count how often they are asked. */
class Models {
  asked = 0
  failing = false

  readonly embeddings = {
    model: 'test',
    dimensions: 2,
    fusionWeight: 1,
    embed: async (texts: readonly string[]) => this.#answer(texts.map(() => Float32Array.of(1, 0))),
  }

  readonly reranker = {
    rerank: async (_query: string, texts: readonly string[]) => this.#answer(texts.map((_, index) => index)),
  }

  readonly languageModel = {
    generate: async (): Promise<Generation> => this.#answer({
      text: 'Green tea. [1]', usage: { inputTokens: 1, outputTokens: 1 },
    }),
  }

  #answer<T> (answer: T): T {
    this.asked++
    if (this.failing) throw new Error(FAULT)
    return answer
  }
}

const FILE: FileConfig = { escalation: { circuit_breaker: { failure_threshold: 3, recovery_timeout_seconds: 3600 } } }

async function setUp (t: Parameters<typeof testApp>[0]) {
  const models = new Models()
  const { embeddings, reranker, languageModel } = models
  const app = await testApp(t, { file: FILE }, { embeddings, reranker, languageModel })
  return {
    ...app,
    models,
    conditions: async () => {
      const response = await app.get('/health')
      t.equal(response.statusCode, 200)
      t.notMatch(response.body, /internal|secret|sk-|refused/)
      const { status, checks } = response.json<{ status: string, checks: Record<string, { status: string }> }>()
      t.equal(status, 'ok', 'readiness depends on the store alone')
      return Object.fromEntries(
        Object.entries(checks).filter(([name]) => name !== 'vector_store').map(([name, check]) => [name, check.status]),
      )
    },
    ask: async () => {
      await app.post('/v1/recall', { bank_id: 'bank', query: 'What does Alice drink?' })
      await app.post('/v1/reflect', { bank_id: 'bank', query: 'What does Alice drink?' })
    },
  }
}

await t.test('the built-in models, which make no calls, are ok from the start, and no reranker is shown where ' +
  'there is none', async (t) => {
  const { get } = await testApp(t)
  const { checks } = (await get('/health')).json()
  t.same(checks, { vector_store: checks.vector_store, embedding: { status: 'ok' }, language_model: { status: 'ok' } })
})

await t.test('models without a call yet are unknown, and readiness calls none', async (t) => {
  const { conditions, models } = await setUp(t)
  for (let round = 0; round < 3; round++) {
    t.same(await conditions(), { embedding: 'unknown', language_model: 'unknown', reranker: 'unknown' })
  }
  t.equal(models.asked, 0)
})

await t.test('models have the status of their last calls, which has no effect on readiness', async (t) => {
  const { conditions, models, retain, ask, app } = await setUp(t)
  await retain('bank', 'Alice drinks green tea.')
  await app.memory.idle()
  await ask()
  t.same(await conditions(), { embedding: 'ok', language_model: 'ok', reranker: 'ok' })

  models.failing = true
  await app.memory.recall({ bank_id: 'bank', query: 'tea' }, { tenantId: null })
  t.same(await conditions(), { embedding: 'degraded', language_model: 'ok', reranker: 'degraded' })
  await ask()
  t.same(await conditions(), { embedding: 'degraded', language_model: 'degraded', reranker: 'degraded' })
  for (let round = 0; round < 5; round++) await ask()
  t.same(await conditions(), { embedding: 'failing', language_model: 'failing', reranker: 'failing' })

  models.failing = false
  await ask()
  t.same(
    await conditions(), { embedding: 'ok', language_model: 'failing', reranker: 'ok' },
    'the circuit of the language model stays open',
  )
})

const modes: Record<string, { auth: Parameters<typeof testApp>[1], missing: string[] }> = {
  api_key: { auth: { auth: { mode: 'api_key' } }, missing: ['SERVICE_API_KEY'] },
  jwt_hs256: { auth: { auth: { mode: 'jwt_hs256' } }, missing: ['SERVICE_JWT_SECRET'] },
  'jwt_oidc without anything': {
    auth: { auth: { mode: 'jwt_oidc' } },
    missing: ['SERVICE_OIDC_JWKS_URL', 'SERVICE_OIDC_ISSUER', 'SERVICE_OIDC_AUDIENCE'],
  },
  'jwt_oidc without an audience': {
    auth: { auth: { mode: 'jwt_oidc', oidcJwksUrl: 'https://id.example.test/keys', oidcIssuer: 'i' } },
    missing: ['SERVICE_OIDC_AUDIENCE'],
  },
}
for (const [mode, { auth, missing }] of Object.entries(modes)) {
  await t.test(`${mode} that lacks its variables is an error in the log and in /health, whose ` +
    'status stays 200', async (t) => {
    const { get, log } = await testApp(t, auth)
    const response = await get('/health')
    t.equal(response.statusCode, 200)
    t.match(response.json(), {
      status: 'ok', checks: { vector_store: { status: 'ok' }, auth: { status: 'misconfigured', missing } },
    })
    const said = log.filter(({ level }) => level === 50).map(({ msg }) => String(msg))
    t.same(said.map((message) => message.split(' ')[0]), missing)
    for (const message of said) t.match(message, /is not set: every request in \w+ mode is answered with status 500$/)
    refused(t, await get('/v1/whoami'), 500, 'misconfigured')
  })
}

await t.test('a mode that has its variables shows no check of its own', async (t) => {
  const { get, log } = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' } })
  t.notOk('auth' in (await get('/health')).json().checks)
  t.same(log.filter(({ level }) => level === 50), [])
})
