import t from 'tap'
import { defaultSections } from '../../lib/config/schema.js'
import type { BankConfigHistoryAnswer } from '../../lib/operations/schemas.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { askConfig, configAnswer, getConfig, historyOf, patchConfig, putConfig, resetConfig } from './bank-configs.js'
import { as } from './support.js'

const SET_AT = '2026-01-15T10:00:00.000Z'
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }

await t.test('a bank without its own configuration has the defaults, and the origin of each value ' +
  'is "default"', async (t) => {
  const app = await testApp(t)
  const response = await askConfig(app, 'GET', 'home')
  const { config, effective, origin, etag, updated_at: updatedAt, updated_by: updatedBy } = configAnswer(response)
  t.strictSame({ config, etag, updatedAt, updatedBy }, { config: {}, etag: '"r0"', updatedAt: null, updatedBy: null })
  t.equal(response.headers['etag'], '"r0"')
  t.same(effective, { access: [], ...defaultSections(0) })
  t.equal(origin['barriers.validation.max_content_length'], 'default')
  t.equal(origin['access'], 'default')
  t.same([...new Set(Object.values(origin))], ['default'])
})

await t.test('a PUT stores the configuration, its author and time, and a GET returns the same', async (t) => {
  const app = await testApp(t)
  const config = {
    description: 'What Alice knows.',
    mission: 'Help.',
    homeostasis: { recall_max_tokens: 500 },
    signal_quality: { dedup: { action: 'skip' as const } },
  }
  const response = await askConfig(app, 'PUT', 'home', config, as('user:alice'))
  const answer = configAnswer(response)
  t.match(answer, { config, effective: config, updated_at: SET_AT, updated_by: 'user:alice' })
  t.equal(answer.effective.signal_quality?.dedup?.threshold, 0.9)
  t.match(answer.origin, {
    description: 'bank',
    mission: 'bank',
    'homeostasis.recall_max_tokens': 'bank',
    'signal_quality.dedup.action': 'bank',
    'signal_quality.dedup.threshold': 'default',
  })
  t.match(answer.etag, /^"[\w-]{22}"$/)
  t.equal(response.headers['etag'], answer.etag)
  t.same(await getConfig(app, 'home'), answer)
})

await t.test('a PUT replaces the whole configuration', async (t) => {
  const app = await testApp(t)
  const first = await putConfig(app, 'home', {
    mission: 'Help.', homeostasis: { recall_max_tokens: 500, reflect_max_tokens: 50 },
  })
  const second = await putConfig(app, 'home', { homeostasis: { recall_max_tokens: 400 } })
  t.same(second.config, { homeostasis: { recall_max_tokens: 400 } })
  t.notHas(second.effective, { mission: 'Help.' })
  t.not(second.etag, first.etag)
})

for (const [name, headers] of [['application/merge-patch+json', MERGE_PATCH], ['application/json', {}]] as const) {
  await t.test(`a PATCH as ${name} merges, and null removes a member, at any depth`, async (t) => {
    const app = await testApp(t)
    await putConfig(app, 'home', {
      mission: 'Help.',
      description: 'A bank.',
      homeostasis: { recall_max_tokens: 500, reflect_max_tokens: 50, quotas: { retain_per_day: 3 } },
    })
    const response = await askConfig(
      app, 'PATCH', 'home',
      {
        mission: null,
        homeostasis: { reflect_max_tokens: null, quotas: { reflect_per_day: 4 } },
        reflect: { max_evidence: 5 },
      },
      headers,
    )
    const answer = configAnswer(response)
    t.same(answer.config, {
      description: 'A bank.',
      homeostasis: { recall_max_tokens: 500, quotas: { retain_per_day: 3, reflect_per_day: 4 } },
      reflect: { max_evidence: 5 },
    })
    t.equal(response.headers['etag'], answer.etag)
    t.same(await getConfig(app, 'home'), answer)
  })
}

await t.test('a PATCH creates a configuration if there is none', async (t) => {
  const app = await testApp(t)
  t.same((await patchConfig(app, 'home', { mission: 'Help.', homeostasis: null })).config, { mission: 'Help.' })
})

await t.test('a PATCH replaces whole lists', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { barriers: { metadata: { blocked_keys: ['a', 'b'] } } })
  t.same((await patchConfig(app, 'home', { barriers: { metadata: { blocked_keys: ['c'] } } })).config, {
    barriers: { metadata: { blocked_keys: ['c'] } },
  })
})

await t.test('a DELETE removes the configuration, and may be repeated', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { mission: 'Help.' })
  const response = await askConfig(app, 'DELETE', 'home')
  t.match(configAnswer(response), { config: {}, etag: '"r0"', updated_at: null, updated_by: null })
  t.equal(response.headers['etag'], '"r0"')
  t.same(await resetConfig(app, 'home'), await getConfig(app, 'home'))
})

await t.test('null counts as an absent member in a PUT, at any depth', async (t) => {
  const app = await testApp(t)
  t.same(
    (await putConfig(app, 'home', {
      mission: null, homeostasis: { recall_max_tokens: null, quotas: null, rate_limits: { recall_per_minute: null } },
    })).config,
    { homeostasis: { rate_limits: {} } },
  )
})

await t.test('concurrent patches of one bank are all merged', async (t) => {
  const app = await testApp(t)
  const patches = [
    { mission: 'Help.' }, { description: 'A bank.' }, { homeostasis: { recall_max_tokens: 5 } },
    { homeostasis: { reflect_max_tokens: 6 } }, { reflect: { max_evidence: 7 } },
  ]
  await Promise.all(patches.map(async (patch) => await patchConfig(app, 'home', patch)))
  t.same((await getConfig(app, 'home')).config, {
    mission: 'Help.',
    description: 'A bank.',
    homeostasis: { recall_max_tokens: 5, reflect_max_tokens: 6 },
    reflect: { max_evidence: 7 },
  })
})

await t.test('the history has every change, newest first, with null for a removed configuration', async (t) => {
  const app = await testApp(t)
  t.same(await historyOf(app, 'home'), [])
  const first = await putConfig(app, 'home', { mission: 'One.' }, as('user:alice'))
  app.clock.advance(1000)
  await resetConfig(app, 'home')
  app.clock.advance(1000)
  const third = await patchConfig(app, 'home', { mission: 'Three.' }, as('user:bob'))
  const history = await historyOf(app, 'home')
  t.match(history, [
    { config: { mission: 'Three.' }, etag: third.etag, updated_at: '2026-01-15T10:00:02.000Z', updated_by: 'user:bob' },
    { config: null, updated_at: '2026-01-15T10:00:01.000Z', updated_by: null },
    { config: { mission: 'One.' }, etag: first.etag, updated_at: SET_AT, updated_by: 'user:alice' },
  ])
  t.equal(history.length, 3)
  t.equal(new Set(history.map(({ etag }) => etag)).size, 3)
})

await t.test('the history keeps the last hundred changes', async (t) => {
  const app = await testApp(t)
  for (let tokens = 1; tokens <= 103; tokens++) {
    await putConfig(app, 'home', { homeostasis: { recall_max_tokens: tokens } })
  }
  const kept = (await historyOf(app, 'home')).map(({ config }) => config?.homeostasis?.recall_max_tokens)
  t.same(kept, Array.from({ length: 100 }, (_, index) => 103 - index))
})

await t.test('the history is read in small pages, also from the store', async (t) => {
  const store = new InMemoryVectorStore()
  const read: number[] = []
  const { history } = store.bankConfigs
  store.bankConfigs.history = async (...asked) => {
    const entries = await history.apply(store.bankConfigs, asked)
    read.push(entries.length)
    return entries
  }
  const app = await testApp(t, {}, { store })
  for (let tokens = 1; tokens <= 25; tokens++) {
    await putConfig(app, 'home', { homeostasis: { recall_max_tokens: tokens } })
  }
  const page = async (query: string) => {
    const answer = (await app.get(`/v1/banks/home/config/history${query}`)).json<BankConfigHistoryAnswer>()
    return { ...answer, tokens: answer.history.map(({ config }) => config?.homeostasis?.recall_max_tokens) }
  }
  t.same((await page('')).tokens, [25, 24, 23, 22, 21])
  const two = await page('?limit=2')
  t.same(two.tokens, [25, 24])
  t.same((await page(`?limit=2&cursor=${two.next_cursor}`)).tokens, [23, 22])
  t.equal((await page('?limit=100')).tokens.length, 10, 'a larger page is cut')
  t.same(read, [6, 3, 3, 11])
  const forged = await app.get('/v1/banks/home/config/history?cursor=WzFd')
  t.match([forged.statusCode, forged.json()], [400, { errors: [{ field: 'cursor' }] }])
  const ofOther = await app.get(`/v1/banks/other/config/history?cursor=${two.next_cursor}`)
  t.equal(ofOther.statusCode, 400, 'a cursor is of one bank')
})

await t.test('a bank that has only a configuration is not in the list of banks', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { mission: 'Help.' })
  t.same((await app.get('/v1/banks')).json().banks, [])
})
