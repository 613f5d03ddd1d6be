import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { askConfig, historyOf } from './bank-configs.js'
import { as, refused } from './support.js'

const ADA = as('user:ada')
const limited = { homeostasis: { rate_limits: { global_per_minute: 3 } } }

const recall = async ({ post }: TestApp, bankId = 'home') => (
  await post('/v1/recall', { bank_id: bankId, query: 'tea' }, ADA)
)

await t.test('changes of a configuration count together with operations for global_per_minute, and are ' +
  '429 beyond it', async (t) => {
  const app = await testApp(t, { file: limited })
  t.equal((await askConfig(app, 'PUT', 'home', { mission: 'One.' }, ADA)).statusCode, 200)
  t.equal((await askConfig(app, 'PATCH', 'home', { mission: 'Two.' }, ADA)).statusCode, 200)
  t.equal((await recall(app)).statusCode, 200)
  for (const [method, body] of [['PUT', {}], ['PATCH', {}], ['DELETE', undefined]] as const) {
    const response = await askConfig(app, method, 'home', body, ADA)
    refused(t, response, 429, 'rate_limited', { retry_after_seconds: 60, detail: /global_per_minute/ })
    t.equal(response.headers['retry-after'], '60')
  }
  refused(t, await recall(app), 429, 'rate_limited')
  t.match(
    (await historyOf(app, 'home', ADA)).map(({ config }) => config), [{ mission: 'Two.' }, { mission: 'One.' }],
    'nothing was changed',
  )
  app.clock.advance(60_000)
  t.equal((await askConfig(app, 'DELETE', 'home', undefined, ADA)).statusCode, 200)
})

await t.test('each caller and each bank has its own limit of changes', async (t) => {
  const app = await testApp(t, { file: { homeostasis: { rate_limits: { global_per_minute: 1 } } } })
  for (const [bankId, principal] of [['home', 'user:ada'], ['home', 'user:bob'], ['work', 'user:ada']] as const) {
    t.equal((await askConfig(app, 'PUT', bankId, {}, as(principal))).statusCode, 200)
    t.equal((await askConfig(app, 'PUT', bankId, {}, as(principal))).statusCode, 429)
  }
})

await t.test('reading a configuration and its history costs nothing, and is admitted beyond the limit', async (t) => {
  const app = await testApp(t, { file: limited })
  const look = async () => {
    t.equal((await askConfig(app, 'GET', 'home', undefined, ADA)).statusCode, 200)
    await historyOf(app, 'home', ADA)
  }
  for (let count = 0; count < 5; count++) await look()
  for (let count = 0; count < 3; count++) t.equal((await askConfig(app, 'PUT', 'home', {}, ADA)).statusCode, 200)
  t.equal((await askConfig(app, 'PUT', 'home', {}, ADA)).statusCode, 429)
  await look()
})

await t.test('changes count for no other limit', async (t) => {
  const app = await testApp(t, {
    file: {
      homeostasis: {
        rate_limits: { retain_per_minute: 1, recall_per_minute: 1, reflect_per_minute: 1, forget_per_minute: 1 },
        quotas: { retain_per_day: 1, reflect_per_day: 1, model_calls_per_day: 1 },
      },
    },
  })
  for (let count = 0; count < 4; count++) {
    for (const [method, body] of [['PUT', {}], ['PATCH', {}], ['DELETE', undefined]] as const) {
      t.equal((await askConfig(app, method, 'home', body, ADA)).statusCode, 200)
    }
  }
  await app.retain('home', 'Tea.', {}, ADA)
  t.equal((await recall(app)).statusCode, 200)
  t.equal((await app.post('/v1/reflect', { bank_id: 'home', query: 'Tea?' }, ADA)).statusCode, 200)
  t.equal((await app.post('/v1/forget', { bank_id: 'home', tags: ['none'] }, ADA)).statusCode, 200)
})

await t.test('a caller without admin is 403, and is not charged', async (t) => {
  const app = await testApp(t, {
    file: {
      ...limited,
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: [{ bank_id: 'home', principal: 'user:ada', permissions: ['read'] }],
    },
  })
  for (let count = 0; count < 5; count++) refused(t, await askConfig(app, 'PUT', 'home', {}, ADA), 403, 'access_denied')
  for (let count = 0; count < 3; count++) t.equal((await recall(app)).statusCode, 200)
})
