import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { StoreHealth } from '../../lib/stores/vector-store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { refused } from './support.js'

/** A store whose health is what a test says, and which counts how often anything is asked of it. */
class PatientStore extends InMemoryVectorStore {
  asked = 0
  answer: () => Promise<StoreHealth> = async () => ({ healthy: true })

  override async health (): Promise<StoreHealth> {
    this.asked++
    return await this.answer()
  }
}

async function patient (
  t: Parameters<typeof testApp>[0], config: Parameters<typeof testApp>[1] = {},
): Promise<TestApp & { store: PatientStore }> {
  const store = new PatientStore()
  return { ...await testApp(t, { healthTimeoutMs: 20, ...config }, { store }), store }
}

const never = async (): Promise<StoreHealth> => await new Promise(() => undefined)

const down: Record<string, { answer: () => Promise<StoreHealth>, detail: RegExp, cause?: string }> = {
  'says no': {
    answer: async () => ({ healthy: false, message: 'pool of db.internal exhausted' }),
    detail: /vector_store/,
    cause: 'pool of db.internal exhausted',
  },
  'says no without a word': { answer: async () => ({ healthy: false }), detail: /vector_store/ },
  rejects: {
    answer: async () => { throw new Error('password authentication failed for user "gateway" at db.internal:5432') },
    detail: /vector_store/,
    cause: 'Error (its message',
  },
  throws: {
    answer: () => { throw new TypeError('driver of db.internal is gone') },
    detail: /vector_store/,
    cause: 'TypeError (its message',
  },
  hangs: { answer: never, detail: /vector_store .*in time/ },
}

for (const path of ['/live', '/health/live']) {
  await t.test(`${path} answers that the process runs`, async (t) => {
    const { get, store } = await patient(t)
    const response = await get(path)
    t.equal(response.statusCode, 200)
    t.equal(response.body, '{"status":"ok"}')
    t.equal(store.asked, 0)
  })

  await t.test(`${path} does not depend on the store`, async (t) => {
    const { get, store } = await patient(t)
    for (const { answer } of Object.values(down)) {
      store.answer = answer
      t.equal((await get(path)).statusCode, 200)
    }
    t.equal(store.asked, 0)
  })
}

await t.test('/health checks the store and reports the duration', async (t) => {
  const { get, store } = await patient(t)
  const response = await get('/health')
  t.equal(response.statusCode, 200)
  const { status, checks, ...rest } = response.json()
  t.same(rest, {})
  t.equal(status, 'ok')
  t.same(Object.keys(checks), ['vector_store', 'embedding', 'language_model'])
  t.same(Object.keys(checks.vector_store).sort(), ['latency_ms', 'status'])
  t.equal(checks.vector_store.status, 'ok')
  t.ok(checks.vector_store.latency_ms >= 0)
  t.equal(store.asked, 1)
})

for (const [what, { answer, detail, cause }] of Object.entries(down)) {
  await t.test(`a store that ${what} gives 503 that names the check and reveals nothing of the store`, async (t) => {
    const { get, store, log } = await patient(t)
    store.answer = answer
    const response = await get('/health')
    refused(t, response, 503, 'dependency_unavailable', { detail })
    t.notMatch(response.body, /internal|gateway|5432|pool|driver|password/)
    const errors = log.filter((line) => line['level'] === 50)
    t.match(errors, [{ request_id: response.headers['x-request-id'], code: 'dependency_unavailable' }])
    t.notMatch(JSON.stringify(errors), /password|driver/, 'nor the log of what it throws')
    if (cause !== undefined) {
      t.ok(JSON.stringify(errors).includes(JSON.stringify(cause).slice(1, -1)), 'the log has the cause')
    }
  })

  await t.test(`after a store that ${what} the service is ready by itself when the store is back`, async (t) => {
    const { get, store } = await patient(t)
    store.answer = answer
    t.equal((await get('/health')).statusCode, 503)
    store.answer = async () => ({ healthy: true })
    t.equal((await get('/health')).statusCode, 200)
  })
}

await t.test('a store that is slower than the timeout gives 503, and its late answer changes nothing', async (t) => {
  const { get, store } = await patient(t)
  let finish: (health: StoreHealth) => void = () => undefined
  store.answer = async () => await new Promise((resolve) => { finish = resolve })
  refused(t, await get('/health'), 503, 'dependency_unavailable')
  store.answer = async () => ({ healthy: false })
  finish({ healthy: true })
  refused(t, await get('/health'), 503, 'dependency_unavailable', { detail: /unhealthy/ })
})

await t.test('simultaneous probes share one answer', async (t) => {
  const { get, store } = await patient(t, { healthTimeoutMs: 5000 })
  let finish: (health: StoreHealth) => void = () => undefined
  store.answer = async () => await new Promise((resolve) => { finish = resolve })
  const probes = Array.from({ length: 5 }, async () => await get('/health'))
  // Liveness is answered after the probes have been let in.
  await get('/live')
  finish({ healthy: true })
  t.same((await Promise.all(probes)).map((response) => response.statusCode), [200, 200, 200, 200, 200])
  t.equal(store.asked, 1)
})

await t.test('probes require no credentials and are not limited', async (t) => {
  for (const auth of [{ mode: 'api_key', apiKey: 'key' }, { mode: 'jwt_hs256' }, { mode: 'jwt_oidc' }] as const) {
    const { get } = await patient(t, {
      auth,
      adminToken: 'admin',
      file: {
        homeostasis: { rate_limits: { global_per_minute: 1 } },
        access_control: { enabled: true, default_policy: 'deny' },
      },
    })
    for (const path of ['/live', '/health/live', '/health']) {
      for (let round = 0; round < 3; round++) t.equal((await get(path)).statusCode, 200)
    }
  }
})
