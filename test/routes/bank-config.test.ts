import t from 'tap'
import { defaultSections } from '../../lib/config/bank-sections.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { askConfig, configAnswer, getConfig, historyOf, patchConfig, putConfig, resetConfig } from './bank-configs.js'
import { tenants } from './reflecting.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

const SET_AT = '2026-01-15T10:00:00.000Z'
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }

await t.test('a bank without a configuration of its own has the defaults, and says so', async (t) => {
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

await t.test('a PUT sets the configuration, who set it and when, and a GET tells the same', async (t) => {
  const app = await testApp(t)
  const config = { description: 'What Alice knows.', mission: 'Help.', homeostasis: { recall_max_tokens: 500 }, signal_quality: { dedup: { action: 'skip' as const } } }
  const response = await askConfig(app, 'PUT', 'home', config, as('user:alice'))
  const answer = configAnswer(response)
  t.match(answer, { config, effective: config, updated_at: SET_AT, updated_by: 'user:alice' })
  t.equal(answer.effective.signal_quality?.dedup?.threshold, 0.9)
  t.match(answer.origin, { description: 'bank', mission: 'bank', 'homeostasis.recall_max_tokens': 'bank', 'signal_quality.dedup.action': 'bank', 'signal_quality.dedup.threshold': 'default' })
  t.match(answer.etag, /^"r[1-9]\d*"$/)
  t.equal(response.headers['etag'], answer.etag)
  t.same(await getConfig(app, 'home'), answer)
})

await t.test('a PUT takes the place of all that was set', async (t) => {
  const app = await testApp(t)
  const first = await putConfig(app, 'home', { mission: 'Help.', homeostasis: { recall_max_tokens: 500, reflect_max_tokens: 50 } })
  const second = await putConfig(app, 'home', { homeostasis: { recall_max_tokens: 400 } })
  t.same(second.config, { homeostasis: { recall_max_tokens: 400 } })
  t.notHas(second.effective, { mission: 'Help.' })
  t.not(second.etag, first.etag)
})

for (const [name, headers] of [['application/merge-patch+json', MERGE_PATCH], ['application/json', {}]] as const) {
  await t.test(`a PATCH as ${name} merges: null takes away, at any depth`, async (t) => {
    const app = await testApp(t)
    await putConfig(app, 'home', { mission: 'Help.', description: 'A bank.', homeostasis: { recall_max_tokens: 500, reflect_max_tokens: 50, quotas: { retain_per_day: 3 } } })
    const response = await askConfig(app, 'PATCH', 'home', { mission: null, homeostasis: { reflect_max_tokens: null, quotas: { reflect_per_day: 4 } }, reflect: { max_evidence: 5 } }, headers)
    const answer = configAnswer(response)
    t.same(answer.config, { description: 'A bank.', homeostasis: { recall_max_tokens: 500, quotas: { retain_per_day: 3, reflect_per_day: 4 } }, reflect: { max_evidence: 5 } })
    t.equal(response.headers['etag'], answer.etag)
    t.same(await getConfig(app, 'home'), answer)
  })
}

await t.test('a PATCH makes a configuration where there is none', async (t) => {
  const app = await testApp(t)
  t.same((await patchConfig(app, 'home', { mission: 'Help.', homeostasis: null })).config, { mission: 'Help.' })
})

await t.test('lists are replaced by a PATCH as a whole', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { barriers: { metadata: { blocked_keys: ['a', 'b'] } } })
  t.same((await patchConfig(app, 'home', { barriers: { metadata: { blocked_keys: ['c'] } } })).config, { barriers: { metadata: { blocked_keys: ['c'] } } })
})

await t.test('a DELETE takes back what was set, once and again', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { mission: 'Help.' })
  const response = await askConfig(app, 'DELETE', 'home')
  t.match(configAnswer(response), { config: {}, etag: '"r0"', updated_at: null, updated_by: null })
  t.equal(response.headers['etag'], '"r0"')
  t.same(await resetConfig(app, 'home'), await getConfig(app, 'home'))
})

await t.test('null counts as an absent member in a PUT, at any depth', async (t) => {
  const app = await testApp(t)
  t.same((await putConfig(app, 'home', { mission: null, homeostasis: { recall_max_tokens: null, quotas: null, rate_limits: { recall_per_minute: null } } })).config, { homeostasis: { rate_limits: {} } })
})

await t.test('a numeric string is taken where a number is asked for, at any depth and by any method', async (t) => {
  const app = await testApp(t)
  t.same((await putConfig(app, 'home', { homeostasis: { recall_max_tokens: '500', rate_limits: { recall_per_minute: '7' } } })).config, { homeostasis: { recall_max_tokens: 500, rate_limits: { recall_per_minute: 7 } } })
  t.same((await patchConfig(app, 'home', { homeostasis: { recall_max_tokens: '400' } })).config, { homeostasis: { recall_max_tokens: 400, rate_limits: { recall_per_minute: 7 } } })
  refusedFields(t, await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: '1e3' } }), 'homeostasis.recall_max_tokens')
})

await t.test('what is wrong with a configuration', async (t) => {
  const app = await testApp(t)
  const before = await putConfig(app, 'home', { mission: 'Help.', homeostasis: { recall_max_tokens: 500 } })
  const rows: Array<[what: string, config: Record<string, unknown>, ...fields: string[]]> = [
    ['an unknown section', { llm_provider: 'mock' }, 'llm_provider'],
    ['an unknown key of a section', { homeostasis: { recall_max_token: 5 } }, 'homeostasis.recall_max_token'],
    ['an unknown key two levels down', { retrieval: { bm25: { k2: 1 } } }, 'retrieval.bm25.k2'],
    ['a number below its least', { homeostasis: { recall_max_tokens: 0 } }, 'homeostasis.recall_max_tokens'],
    ['a fraction for a whole number', { homeostasis: { quotas: { retain_per_day: 1.5 } } }, 'homeostasis.quotas.retain_per_day'],
    ['a word that is not one of those allowed', { signal_quality: { dedup: { action: 'drop' } } }, 'signal_quality.dedup.action'],
    ['a value for a section', { homeostasis: 5 }, 'homeostasis'],
    ['a list for a section', { homeostasis: [] }, 'homeostasis'],
    ['a text that is empty', { mission: '' }, 'mission'],
    ['a text that is too long', { description: 'x'.repeat(1001) }, 'description'],
    ['both strategies without a weight', { retrieval: { weights: { lexical: 0 } } }, 'retrieval.weights'],
    ['a reranker\'s settings without a reranker', { retrieval: { rerank: { weight: 0.5 } } }, 'retrieval.rerank'],
    ['several at once', { nothing: 1, mission: '' }, 'nothing', 'mission'],
  ]
  for (const [what, config, ...fields] of rows) {
    await t.test(`${what} is 400 that names it, by PUT and by PATCH, and changes nothing`, async (t) => {
      // The good part of it is not taken either.
      const mixed = { description: 'Another.', ...config }
      refusedFields(t, await askConfig(app, 'PUT', 'home', mixed), ...fields)
      refusedFields(t, await askConfig(app, 'PATCH', 'home', mixed, MERGE_PATCH), ...fields)
      t.same(await getConfig(app, 'home'), before)
      t.equal((await historyOf(app, 'home')).length, 1)
    })
  }
})

await t.test('a body that is no object is 400, no JSON is 400, and another content type is 415', async (t) => {
  const app = await testApp(t)
  for (const method of ['PUT', 'PATCH'] as const) {
    for (const body of ['[]', '"mission"', 'null', '5']) refused(t, await askConfig(app, method, 'home', body), 400, 'invalid_request')
    for (const body of ['{', '', '{"__proto__": {"mission": "x"}}']) refused(t, await askConfig(app, method, 'home', body), 400, 'invalid_json')
    refused(t, await askConfig(app, method, 'home', 'mission=x', { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'unsupported_media_type', {
      detail: `Unsupported Content-Type: this route takes ${method === 'PATCH' ? 'application/merge-patch+json or ' : ''}application/json`,
    })
  }
  for (const body of ['[]', 'null']) refused(t, await askConfig(app, 'PATCH', 'home', body, MERGE_PATCH), 400, 'invalid_request')
  refused(t, await askConfig(app, 'PATCH', 'home', '{', MERGE_PATCH), 400, 'invalid_json')
  t.same((await getConfig(app, 'home')).config, {})
})

await t.test('a text that holds U+0000 or half a surrogate pair is kept as it was set', async (t) => {
  const app = await testApp(t)
  for (const mission of ['a\u0000b', 'a\ud800b']) {
    await putConfig(app, 'home', { mission })
    t.equal((await getConfig(app, 'home')).config.mission, mission)
    t.equal((await historyOf(app, 'home'))[0]?.config?.mission, mission)
  }
})

await t.test('a configuration of more than 32 KiB is 400, and one that is longer than any could be is 413', async (t) => {
  const app = await testApp(t)
  const blocked = (count: number) => ({ barriers: { metadata: { blocked_keys: Array.from({ length: count }, (_, index) => `${index}`.padStart(61, 'k')) } } })
  const before = await putConfig(app, 'home', blocked(500))
  refused(t, await askConfig(app, 'PUT', 'home', blocked(530)), 400, 'invalid_request', { detail: /32768 bytes/ })
  refused(t, await askConfig(app, 'PATCH', 'home', { mission: 'x'.repeat(4000) }, MERGE_PATCH), 400, 'invalid_request', { detail: /32768 bytes/ })
  refused(t, await askConfig(app, 'PUT', 'home', blocked(5000)), 413, 'body_too_large')
  t.same(await getConfig(app, 'home'), before)
})

await t.test('a patch that is nested deeper than any configuration is 400', async (t) => {
  const app = await testApp(t)
  const nested = (levels: number) => `${'{"homeostasis":'.repeat(levels)}1${'}'.repeat(levels)}`
  refused(t, await askConfig(app, 'PATCH', 'home', nested(60)), 400, 'invalid_request', { detail: /nested too deeply/ })
  refused(t, await askConfig(app, 'PATCH', 'home', nested(5000)), 413, 'body_too_large', { detail: /bounds\.json_depth/ })
})

await t.test('If-Match', async (t) => {
  const write = { PUT: { mission: 'New.' }, PATCH: { mission: 'New.' }, DELETE: undefined } as const
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
    await t.test(`is honoured by ${method}`, async (t) => {
      const app = await testApp(t)
      const ask = async (tag: string) => await askConfig(app, method, 'home', write[method], { 'if-match': tag })
      const untouched = async (config: Record<string, unknown>) => { t.same((await getConfig(app, 'home')).config, config) }

      refused(t, await ask('*'), 412, 'precondition_failed')
      refused(t, await ask('"r1"'), 412, 'precondition_failed')
      await untouched({})
      const { etag } = await putConfig(app, 'home', { mission: 'Old.' })
      for (const tag of ['"r0"', '"r999999"', '"x"', '""', `W/${etag}`, '"r01"', '"r0", "other"', '"r1e3"']) {
        refused(t, await ask(tag), 412, 'precondition_failed')
      }
      for (const tag of [etag.slice(1, -1), 'r1', '"r1', 'w/"r1"', `*, ${etag}`, `${etag} ${etag}`, ',', '', '"a b"']) {
        refusedFields(t, await ask(tag), 'If-Match')
      }
      await untouched({ mission: 'Old.' })
      t.equal((await historyOf(app, 'home')).length, 1)

      t.equal((await ask(etag)).statusCode, 200, 'the tag in force')
      await untouched(method === 'DELETE' ? {} : { mission: 'New.' })
      refused(t, await ask(etag), 412, 'precondition_failed')
      const { etag: second } = await putConfig(app, 'home', { mission: 'Old.' })
      t.equal((await ask(`"other", ${second} , W/"weak"`)).statusCode, 200, 'one of a list')
      await putConfig(app, 'home', { mission: 'Old.' })
      t.equal((await ask(' * ')).statusCode, 200, 'any that is set')
    })
  }

  await t.test('with the tag of a bank that has no configuration lets only the first one in', async (t) => {
    const app = await testApp(t)
    const headers = { 'if-match': '"r0"' }
    const answers = await Promise.all([1, 2, 3, 4].map(async (tokens) => await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: tokens } }, headers)))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 412, 412, 412])
  })
})

await t.test('If-None-Match', async (t) => {
  for (const method of ['PUT', 'PATCH'] as const) {
    await t.test(`lets ${method} only create a configuration`, async (t) => {
      const app = await testApp(t)
      const ask = async (headers: Record<string, string>) => await askConfig(app, method, 'home', { mission: 'New.' }, headers)
      for (const value of ['"r0"', '"r1"', 'x', '', '*, *']) refusedFields(t, await ask({ 'if-none-match': value }), 'If-None-Match')
      refusedFields(t, await ask({ 'if-none-match': '*', 'if-match': '"r0"' }), 'If-None-Match')
      t.same((await getConfig(app, 'home')).config, {})
      t.equal((await ask({ 'if-none-match': ' * ' })).statusCode, 200)
      refused(t, await ask({ 'if-none-match': '*' }), 412, 'precondition_failed', { detail: /If-None-Match/ })
      t.equal((await historyOf(app, 'home')).length, 1)
      await askConfig(app, 'DELETE', 'home')
      t.equal((await ask({ 'if-none-match': '*' })).statusCode, 200, 'again after a reset')
    })
  }

  await t.test('keeps DELETE from removing a configuration', async (t) => {
    const app = await testApp(t)
    await putConfig(app, 'home', { mission: 'Old.' })
    refused(t, await askConfig(app, 'DELETE', 'home', undefined, { 'if-none-match': '*' }), 412, 'precondition_failed')
    t.same((await getConfig(app, 'home')).config, { mission: 'Old.' })
  })

  await t.test('lets only the first of several in', async (t) => {
    const app = await testApp(t)
    const answers = await Promise.all([1, 2, 3, 4].map(async (tokens) => await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: tokens } }, { 'if-none-match': '*' })))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 412, 412, 412])
  })
})

await t.test('patches of the same bank at the same moment are all merged', async (t) => {
  const app = await testApp(t)
  const patches = [{ mission: 'Help.' }, { description: 'A bank.' }, { homeostasis: { recall_max_tokens: 5 } }, { homeostasis: { reflect_max_tokens: 6 } }, { reflect: { max_evidence: 7 } }]
  await Promise.all(patches.map(async (patch) => await patchConfig(app, 'home', patch)))
  t.same((await getConfig(app, 'home')).config, { mission: 'Help.', description: 'A bank.', homeostasis: { recall_max_tokens: 5, reflect_max_tokens: 6 }, reflect: { max_evidence: 7 } })
})

await t.test('the history has every change, newest first, with null where the configuration was taken back', async (t) => {
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
  for (let tokens = 1; tokens <= 103; tokens++) await putConfig(app, 'home', { homeostasis: { recall_max_tokens: tokens } })
  const kept = (await historyOf(app, 'home')).map(({ config }) => config?.homeostasis?.recall_max_tokens)
  t.same(kept, Array.from({ length: 100 }, (_, index) => 103 - index))
})

await t.test('every request on the configuration asks for admin, and tells others nothing', async (t) => {
  const app = await testApp(t, { auth: { mode: 'api_key', apiKey: 'key' }, file: ONE_PERMISSION_EACH })
  const of = (principal: string) => ({ 'x-api-key': 'key', ...as(principal) })
  await app.retain('team', 'The otter sleeps.', {}, of('user:all'))
  const before = await putConfig(app, 'team', { mission: 'A secret mission.' }, of('user:admin'))
  const requests = [
    ['GET', '/config'], ['PUT', '/config', { mission: 'Mine.' }], ['PATCH', '/config', { mission: 'Mine.' }], ['DELETE', '/config'], ['GET', '/config/history'], ['DELETE', ''],
    // Refused before anything is said of the body or of the stored configuration.
    ['PUT', '/config', { barriers: { validation: { max_content_length: 1_000_000 } } }],
  ] as const
  for (const [method, path, payload] of requests) {
    for (const principal of ['user:read', 'user:write', 'user:forget', 'user:nobody']) {
      const response = await app.inject({ method, url: `/v1/banks/team${path}`, headers: of(principal), ...(payload !== undefined && { payload }) })
      refused(t, response, 403, 'access_denied', { detail: `Principal '${principal}' is denied 'admin' on bank 'team'` })
      t.notMatch(response.body, /secret|1000000/)
      t.equal(response.headers['etag'], undefined)
    }
    refused(t, await app.inject({ method, url: `/v1/banks/team${path}`, ...(payload !== undefined && { payload }) }), 401, 'unauthenticated')
  }
  t.same(await getConfig(app, 'team', of('user:admin')), before)
  t.equal((await app.get('/v1/banks/team/stats', of('user:read'))).json().memory_count, 1)
})

await t.test('banks of one name in two tenants have configurations apart', async (t) => {
  const { auth, of } = await tenants(t)
  const app = await testApp(t, { auth })
  const acme = await putConfig(app, 'home', { mission: 'Of Acme.', barriers: { validation: { max_content_length: 5 } } }, of('acme'))
  t.match(await getConfig(app, 'home', of('zeta')), { config: {}, etag: '"r0"' })
  t.same(await historyOf(app, 'home', of('zeta')), [])
  await app.retain('home', 'longer than five', {}, of('zeta'))
  refusedFields(t, await app.post('/v1/retain', { bank_id: 'home', content: 'longer than five' }, of('acme')), 'content')
  await resetConfig(app, 'home', of('zeta'))
  await app.inject({ method: 'DELETE', url: '/v1/banks/home', headers: of('zeta') })
  t.same(await getConfig(app, 'home', of('acme')), acme)
})

await t.test('deleting a bank', async (t) => {
  await t.test('takes its memories, its configuration and the history of it', async (t) => {
    const app = await testApp(t)
    await app.retain('home', 'The otter sleeps.')
    await app.retain('home', 'The otter eats.')
    await app.retain('other', 'The otter swims.')
    await putConfig(app, 'home', { mission: 'Help.' })
    await putConfig(app, 'other', { mission: 'Stay.' })
    const response = await app.inject({ method: 'DELETE', url: '/v1/banks/home' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { bank_id: 'home', deleted_count: 2, config_deleted: true })
    t.same(await historyOf(app, 'home'), [])
    t.match(await getConfig(app, 'home'), { config: {}, etag: '"r0"' })
    t.equal((await app.get('/v1/banks/home/stats')).json().memory_count, 0)
    t.same((await app.post('/v1/recall', { bank_id: 'home', query: 'otter' })).json().hits, [])
    t.same((await app.get('/v1/banks')).json().banks.map(({ bank_id: name }: { bank_id: string }) => name), ['other'])
    t.equal((await getConfig(app, 'other')).config.mission, 'Stay.')
  })

  await t.test('that does not exist, or was deleted, gives zero', async (t) => {
    const app = await testApp(t)
    const nothing = { bank_id: 'home', deleted_count: 0, config_deleted: false }
    t.same((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).json(), nothing)
    await putConfig(app, 'home', { mission: 'Help.' })
    t.same((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).json(), { ...nothing, config_deleted: true })
    t.same((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).json(), nothing)
  })

  await t.test('takes the configuration back in a store that cannot remove a bank as a whole', async (t) => {
    // Hides the method of the class.
    const store = Object.assign(new InMemoryVectorStore(), { removeBank: undefined })
    const app = await testApp(t, {}, { store })
    const remove = async () => (await app.inject({ method: 'DELETE', url: '/v1/banks/home', headers: as('user:alice') })).json<unknown>()
    await app.retain('home', 'The otter sleeps.')
    t.same(await remove(), { bank_id: 'home', deleted_count: 1, config_deleted: false })
    t.same(await historyOf(app, 'home'), [], 'where nothing was set, nothing is taken back')
    await putConfig(app, 'home', { barriers: { validation: { max_content_length: 5 } } })
    await putConfig(app, 'other', { mission: 'Stay.' })
    t.same(await remove(), { bank_id: 'home', deleted_count: 0, config_deleted: true })
    t.match(await getConfig(app, 'home'), { config: {}, etag: '"r0"' })
    t.match(await historyOf(app, 'home'), [{ config: null, updated_by: 'user:alice' }, {}])
    t.equal((await getConfig(app, 'other')).config.mission, 'Stay.')
    await app.retain('home', 'longer than five')
    t.same(await remove(), { bank_id: 'home', deleted_count: 1, config_deleted: false })
  })

  await t.test('counts as a forget', async (t) => {
    const app = await testApp(t, { file: { homeostasis: { rate_limits: { forget_per_minute: 1 } } } })
    t.equal((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).statusCode, 200)
    refused(t, await app.inject({ method: 'DELETE', url: '/v1/banks/home' }), 429, 'rate_limited')
  })

  await t.test('lets go of its limits at once', async (t) => {
    const app = await testApp(t)
    await putConfig(app, 'home', { barriers: { validation: { max_content_length: 5 } } })
    refusedFields(t, await app.post('/v1/retain', { bank_id: 'home', content: 'longer than five' }), 'content')
    await app.inject({ method: 'DELETE', url: '/v1/banks/home' })
    await app.retain('home', 'longer than five')
  })
})

await t.test('forgetting everything leaves the configuration of a bank', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'The otter sleeps.')
  const before = await putConfig(app, 'home', { mission: 'Help.' })
  t.equal((await app.post('/v1/forget', { bank_id: 'home', scope: 'all' })).json().deleted_count, 1)
  t.same(await getConfig(app, 'home'), before)
})

await t.test('setting a configuration makes no bank that a list would show', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { mission: 'Help.' })
  t.same((await app.get('/v1/banks')).json().banks, [])
})

await t.test('a malformed bank id and an unknown parameter are 400', async (t) => {
  const app = await testApp(t)
  refusedFields(t, await askConfig(app, 'GET', 'a*'), 'bank_id')
  refusedFields(t, await askConfig(app, 'PUT', '-a', {}), 'bank_id')
  refusedFields(t, await app.get('/v1/banks/home/config?etag=1'), 'etag')
})
