import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { as, refused, refusedFields } from '../routes/support.js'

type Limits = NonNullable<FileConfig['homeostasis']>
let serial = 0

const operations = {
  retain: async ({ post }: TestApp, bank = 'bank', who = 'user:ada') => (
    await post('/v1/retain', { bank_id: bank, content: `Tea ${serial++}.` }, as(who))
  ),
  recall: async ({ post }: TestApp, bank = 'bank', who = 'user:ada') => (
    await post('/v1/recall', { bank_id: bank, query: 'tea' }, as(who))
  ),
  reflect: async ({ post }: TestApp, bank = 'bank', who = 'user:ada') => (
    await post('/v1/reflect', { bank_id: bank, query: 'tea' }, as(who))
  ),
  forget: async ({ post }: TestApp, bank = 'bank', who = 'user:ada') => (
    await post('/v1/forget', { bank_id: bank, tags: ['none'] }, as(who))
  ),
}
type Name = keyof typeof operations
const names = Object.keys(operations) as Name[]

async function batch ({ post }: TestApp, size: number) {
  return await post(
    '/v1/retain/batch',
    { bank_id: 'bank', items: Array.from({ length: size }, () => ({ content: `Tea ${serial++}.` })) }, as('user:ada'),
  )
}

async function limited (
  t: Parameters<typeof testApp>[0], homeostasis: Limits, more: FileConfig = {},
): Promise<TestApp> {
  return await testApp(t, { file: { homeostasis, ...more } })
}

for (const name of names) {
  await t.test(`${name}_per_minute`, async (t) => {
    const app = await limited(t, { rate_limits: { [`${name}_per_minute`]: 3 } })
    const act = operations[name]

    await t.test('admits the limit, then answers 429 with the time after which a retry succeeds', async (t) => {
      for (let round = 0; round < 3; round++) t.equal((await act(app)).statusCode, 200)
      const response = await act(app)
      refused(t, response, 429, 'rate_limited', { retry_after_seconds: 60, detail: new RegExp(`${name}_per_minute`) })
      t.equal(response.headers['retry-after'], '60')
    })
    await t.test('does not affect another principal, another bank or another operation', async (t) => {
      t.equal((await act(app, 'bank', 'user:bob')).statusCode, 200)
      t.equal((await act(app, 'other')).statusCode, 200)
      for (const other of names.filter((one) => one !== name)) t.equal((await operations[other](app)).statusCode, 200)
      t.equal((await act(app)).statusCode, 429)
    })
    await t.test('begins anew with the minute', async (t) => {
      app.clock.advance(59_999)
      refused(t, await act(app), 429, 'rate_limited', { retry_after_seconds: 1 })
      app.clock.advance(1)
      const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await act(app)).statusCode))
      // Requests that are in progress together may be admitted in any order.
      t.same(statuses.sort(), [200, 200, 200, 429])
    })
  })
}

await t.test('global_per_minute counts operations of every kind together', async (t) => {
  const app = await limited(t, { rate_limits: { global_per_minute: 4 } })
  for (const name of names) t.equal((await operations[name](app)).statusCode, 200)
  for (const name of names) refused(t, await operations[name](app), 429, 'rate_limited', { retry_after_seconds: 60 })
  t.equal((await operations.recall(app, 'bank', 'user:bob')).statusCode, 200)
})

await t.test('callers without a principal share one count', async (t) => {
  const { post } = await limited(t, { rate_limits: { recall_per_minute: 1 } })
  t.equal((await post('/v1/recall', { bank_id: 'bank', query: 'x' })).statusCode, 200)
  refused(t, await post('/v1/recall', { bank_id: 'bank', query: 'x' }), 429, 'rate_limited')
})

await t.test('each item of a batch counts, and a batch is admitted as a whole or not at all', async (t) => {
  const app = await limited(t, { rate_limits: { retain_per_minute: 5 } })
  t.equal((await batch(app, 3)).statusCode, 200)
  refused(t, await batch(app, 3), 429, 'rate_limited', { retry_after_seconds: 60 })
  t.equal((await app.get('/v1/banks/bank')).json().memory_count, 3)
  t.equal((await batch(app, 2)).statusCode, 200)
  refused(t, await operations.retain(app), 429, 'rate_limited')
})

await t.test('a batch that no wait would admit is 400', async (t) => {
  refusedFields(t, await batch(await limited(t, { rate_limits: { retain_per_minute: 5 } }), 6), 'items')
  refusedFields(t, await batch(await limited(t, { quotas: { retain_per_day: 5 } }), 6), 'items')
})

await t.test('a request on several banks counts on each, or on none', async (t) => {
  const { post } = await limited(t, { rate_limits: { recall_per_minute: 2 } })
  const recall = async (...banks: string[]) => (
    (await post('/v1/recall', { banks, query: 'x' }, as('user:ada'))).statusCode
  )
  t.equal(await recall('a', 'b', 'a'), 200)
  t.equal(await recall('a'), 200)
  t.equal(await recall('a', 'b'), 429)
  t.equal(await recall('b'), 200)
  t.equal(await recall('b'), 429)
})

await t.test('a request that is refused before its execution does not count', async (t) => {
  const { post } = await limited(t, {
    rate_limits: { retain_per_minute: 1, global_per_minute: 1 }, quotas: { retain_per_day: 1 },
  }, {
    access_control: {
      enabled: true, default_policy: 'deny',
    },
    access_grants: [{ bank_id: 'bank', principal: 'user:ada', permissions: ['write'] }],
  })
  for (let round = 0; round < 3; round++) {
    t.equal((await post('/v1/retain', { bank_id: 'bank', content: ' ' }, as('user:ada'))).statusCode, 400)
    t.equal((await post('/v1/retain', { bank_id: 'bank', content: 'x' }, as('user:bob'))).statusCode, 403)
    t.equal((await post('/v1/recall', { bank_id: 'bank', query: 'x' }, as('user:ada'))).statusCode, 403)
  }
  t.equal((await post('/v1/retain', { bank_id: 'bank', content: 'x' }, as('user:ada'))).statusCode, 200)
})

await t.test('a bank may have its own limits, which override the others key by key', async (t) => {
  const app = await limited(t, { rate_limits: { recall_per_minute: 1, retain_per_minute: 1 } }, {
    banks: {
      busy: { homeostasis: { rate_limits: { recall_per_minute: 3 } } },
      'team-*': { homeostasis: { rate_limits: { recall_per_minute: 2 } } },
      'team-big-*': { homeostasis: { rate_limits: { recall_per_minute: 4 } } },
      'team-x': { homeostasis: { rate_limits: { recall_per_minute: 5 } } },
    },
  })
  for (const [bank, limit] of Object.entries({
    bank: 1, busy: 3, 'team-a': 2, 'team-b': 2, 'team-big-1': 4, 'team-x': 5, 'team-x2': 2, team: 1,
  })) {
    let passed = 0
    while ((await operations.recall(app, bank)).statusCode === 200 && passed < 10) passed++
    t.equal(passed, limit, bank)
    t.equal((await operations.retain(app, bank)).statusCode, 200)
    t.equal((await operations.retain(app, bank)).statusCode, 429, `${bank} keeps what it does not override`)
  }
})

for (const name of ['retain', 'reflect'] as const) {
  await t.test(`${name}_per_day`, async (t) => {
    const app = await limited(t, { quotas: { [`${name}_per_day`]: 2 } }, {
      banks: { 'big-*': { homeostasis: { quotas: { [`${name}_per_day`]: 3 } } } },
    })
    const act = operations[name]

    await t.test('is used up by all principals of a bank together, and says when the next ' +
      'UTC day begins', async (t) => {
      t.equal((await act(app, 'bank', 'user:ada')).statusCode, 200)
      t.equal((await act(app, 'bank', 'user:bob')).statusCode, 200)
      const response = await act(app, 'bank', 'user:carol')
      refused(t, response, 429, 'quota_exceeded', {
        retry_after_seconds: 14 * 3600, detail: new RegExp(`${name}_per_day`),
      })
      t.equal(response.headers['retry-after'], String(14 * 3600))
    })
    await t.test('does not affect another bank or another operation', async (t) => {
      t.equal((await act(app, 'other')).statusCode, 200)
      for (const other of names.filter((one) => one !== name)) t.equal((await operations[other](app)).statusCode, 200)
    })
    await t.test('may be set for the banks of a pattern', async (t) => {
      t.same(
        [await act(app, 'big-1'), await act(app, 'big-1'), await act(app, 'big-1'), await act(app, 'big-1')].map(
          (response) => response.statusCode,
        ),
        [200, 200, 200, 429],
      )
    })
    await t.test('begins again at midnight UTC and not before', async (t) => {
      app.clock.set('2026-01-15T23:59:59.500Z')
      refused(t, await act(app), 429, 'quota_exceeded', { retry_after_seconds: 1 })
      app.clock.set('2026-01-16T00:00:00.000Z')
      t.equal((await act(app)).statusCode, 200)
    })
  })
}

await t.test('each item of a batch counts for the quota', async (t) => {
  const app = await limited(t, { quotas: { retain_per_day: 5 } })
  t.equal((await batch(app, 3)).statusCode, 200)
  refused(t, await batch(app, 3), 429, 'quota_exceeded')
  t.equal((await batch(app, 2)).statusCode, 200)
})

await t.test('a fault of the server does not use up the quota', async (t) => {
  const store = new InMemoryVectorStore()
  const insert = store.insert.bind(store)
  store.insert = async () => { throw new Error('down') }
  const app = await testApp(t, { file: { homeostasis: { quotas: { retain_per_day: 1 } } } }, { store })
  for (let round = 0; round < 3; round++) refused(t, await operations.retain(app), 503, 'dependency_unavailable')
  store.insert = insert
  t.equal((await operations.retain(app)).statusCode, 200)
  refused(t, await operations.retain(app), 429, 'quota_exceeded')
})

await t.test('reading is not limited', async (t) => {
  const app = await limited(t, { rate_limits: { global_per_minute: 1, recall_per_minute: 1 } })
  for (const path of [
    '/v1/banks', '/v1/banks/bank', '/v1/banks/bank/stats', '/v1/banks/bank/memories', '/v1/banks/bank/export',
    '/v1/whoami',
  ]) {
    for (let round = 0; round < 3; round++) t.equal((await app.get(path, as('user:ada'))).statusCode, 200)
  }
})
