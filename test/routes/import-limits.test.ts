import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { putConfig } from './bank-configs.js'
import { HEADER, importInto, ndjson } from './ndjson.js'
import { as, refused } from './support.js'

const MINUTE = 60_000
let brought = 0

/** An import of so many memories that are not there yet. */
function memories (count: number): string {
  return ndjson(HEADER, ...Array.from({ length: count }, () => ({ text: `Memory ${brought++}.` })))
}

async function limited (
  t: Parameters<typeof testApp>[0], homeostasis: FileConfig['homeostasis'], store = new InMemoryVectorStore(),
): Promise<TestApp> {
  return await testApp(t, { file: { homeostasis: homeostasis ?? {} } }, { store })
}

const ADA = as('user:ada')
const BOB = as('user:bob')

await t.test('import_per_minute counts the memories, for each principal and bank', async (t) => {
  const app = await limited(t, { rate_limits: { import_per_minute: 10 } })
  t.equal((await importInto(app, 'home', memories(7), ADA)).statusCode, 200)
  refused(t, await importInto(app, 'home', memories(4), ADA), 429, 'rate_limited', {
    detail: /import_per_minute \(10\)/, retry_after_seconds: 60,
  })
  t.equal((await importInto(app, 'home', memories(3), ADA)).statusCode, 200, 'a refused import costs nothing')
  t.equal((await importInto(app, 'home', memories(10), BOB)).statusCode, 200)
  t.equal((await importInto(app, 'work', memories(10), ADA)).statusCode, 200)
  t.equal((await app.get('/v1/banks/home')).json().memory_count, 20)
  app.clock.advance(MINUTE)
  t.equal((await importInto(app, 'home', memories(10), ADA)).statusCode, 200)
})

await t.test('import_per_day counts the memories of a bank, of all importers together, up to ' +
  'midnight UTC', async (t) => {
  const app = await limited(t, { quotas: { import_per_day: 5 } })
  t.equal((await importInto(app, 'home', memories(3), ADA)).statusCode, 200)
  refused(t, await importInto(app, 'home', memories(3), BOB), 429, 'quota_exceeded', {
    detail: /import_per_day \(5\)/, retry_after_seconds: 14 * 3600,
  })
  t.equal((await importInto(app, 'home', memories(2), BOB)).statusCode, 200)
  app.clock.set('2026-01-16T00:00:00Z')
  t.equal((await importInto(app, 'home', memories(5), ADA)).statusCode, 200)
})

await t.test('repeats and expired memories count too, but a header and blank lines do not', async (t) => {
  const app = await limited(t, { quotas: { import_per_day: 4 } })
  const lines = ndjson(HEADER, '', { text: 'One.' }, '  ', { text: 'Over.', expires_at: '2026-01-15T09:00:00Z' })
  t.same((await importInto(app, 'home', lines)).json(), { imported: 1, skipped: 1, overwritten: 0 })
  t.same((await importInto(app, 'home', lines)).json(), { imported: 0, skipped: 2, overwritten: 0 })
  t.equal((await importInto(app, 'home', ndjson(HEADER))).statusCode, 200)
  refused(t, await importInto(app, 'home', memories(1)), 429, 'quota_exceeded')
})

await t.test('an import larger than a limit is invalid, because waiting would not help', async (t) => {
  for (const homeostasis of [{ rate_limits: { import_per_minute: 3 } }, { quotas: { import_per_day: 3 } }]) {
    const app = await limited(t, homeostasis)
    refused(t, await importInto(app, 'home', memories(4)), 400, 'invalid_request', {
      detail: /^The import has more memories than import_per_(minute|day) \(3\) allows; split it$/,
    })
    t.equal((await importInto(app, 'home', memories(3))).statusCode, 200)
  }
})

await t.test('global_per_minute counts an import once, and those of retain do not count it', async (t) => {
  const app =
    await limited(t, { rate_limits: { retain_per_minute: 1, global_per_minute: 2 }, quotas: { retain_per_day: 1 } })
  t.equal((await importInto(app, 'home', memories(50))).statusCode, 200)
  t.equal((await app.post('/v1/retain', { bank_id: 'home', content: 'Mine.' })).statusCode, 200)
  refused(t, await importInto(app, 'home', memories(1)), 429, 'rate_limited', { detail: /global_per_minute \(2\)/ })
})

await t.test('the limits of imports do not count a retain', async (t) => {
  const app = await limited(t, { rate_limits: { import_per_minute: 1 }, quotas: { import_per_day: 1 } })
  for (const content of ['One.', 'Two.', 'Three.']) await app.retain('home', content)
  t.equal((await importInto(app, 'home', memories(1))).statusCode, 200)
})

await t.test('an import with a bad line costs nothing', async (t) => {
  const app = await limited(t, { rate_limits: { import_per_minute: 2 }, quotas: { import_per_day: 2 } })
  for (let count = 0; count < 3; count++) {
    t.equal((await importInto(app, 'home', ndjson(HEADER, { text: 'Good.' }, { text: ' ' }))).statusCode, 400)
  }
  t.equal((await importInto(app, 'home', memories(2))).statusCode, 200)
})

await t.test('a repeat with the same idempotency key costs nothing', async (t) => {
  const app = await limited(t, { rate_limits: { import_per_minute: 3 }, quotas: { import_per_day: 3 } })
  const lines = memories(3)
  const key = { 'idempotency-key': 'once' }
  const first = await importInto(app, 'home', lines, key)
  t.equal(first.statusCode, 200)
  const again = await importInto(app, 'home', lines, key)
  t.same(again.json(), first.json())
  t.equal(again.headers['idempotent-replayed'], 'true')
  refused(t, await importInto(app, 'home', ndjson(HEADER, { text: 'Another.' }), key), 409, 'idempotency_key_reused')
})

await t.test('an import that the store refuses returns the daily quota', async (t) => {
  const store = new InMemoryVectorStore()
  const takes = store.import.bind(store)
  let isDown = true
  store.import = async (...call) => {
    if (isDown) throw new Error('connect ECONNREFUSED db.internal:5432')
    return await takes(...call)
  }
  const app = await limited(t, { quotas: { import_per_day: 3 } }, store)
  for (let count = 0; count < 3; count++) {
    refused(t, await importInto(app, 'home', memories(3)), 503, 'dependency_unavailable')
  }
  isDown = false
  t.equal((await importInto(app, 'home', memories(3))).statusCode, 200)
  refused(t, await importInto(app, 'home', memories(1)), 429, 'quota_exceeded')
})

await t.test('a bank may have tighter limits', async (t) => {
  const app = await limited(t, { quotas: { import_per_day: 100 } })
  await putConfig(app, 'home', { homeostasis: { quotas: { import_per_day: 2 } } })
  refused(t, await importInto(app, 'home', memories(3)), 400, 'invalid_request', { detail: /import_per_day \(2\)/ })
  t.equal((await importInto(app, 'work', memories(3))).statusCode, 200)
})
