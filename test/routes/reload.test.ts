import t, { type Test } from 'tap'
import { ConfigurationError } from '../../lib/config/problems.js'
import type { FileConfig } from '../../lib/config/schema.js'
import type { MemoryOverrides } from '../../lib/operations/memory-service.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { testConfig, type TestConfig } from '../helpers/config.js'
import { askConfig, getConfig, putConfig } from './bank-configs.js'
import { answerOf, generation, ScriptedModel } from './reflecting.js'
import { as, refused, refusedFields } from './support.js'
import { openSource, SECRET, sendJson, signedSource } from './webhooks.js'

interface Reloading extends TestApp {
  /** Replaces the file, which has no effect yet. */
  edit (file: FileConfig | Error): void
  /** POST /v1/admin/reload. */
  reload (headers?: Record<string, string>): ReturnType<TestApp['post']>
}

async function start (
  t: Test, file: FileConfig, config: TestConfig = {}, overrides: MemoryOverrides = {},
): Promise<Reloading> {
  let written: FileConfig | Error = file
  const app = await testApp(t, { ...config, file }, overrides, {
    reloadConfig: () => {
      if (written instanceof Error) throw written
      return testConfig({ ...config, file: written })
    },
  })
  return {
    ...app,
    edit: (next) => { written = next },
    reload: async (headers = {}) => await app.post('/v1/admin/reload', {}, headers),
  }
}

/** A reload that must be applied. */
async function reloaded (t: Test, app: Reloading, changed: string[]): Promise<void> {
  const response = await app.reload()
  t.same({ status: response.statusCode, body: response.json<unknown>() }, { status: 200, body: { changed } })
}

const QUERY = { bank_id: 'home', query: 'Where does the otter sleep?' }

await t.test('grants of the file are in force after a reload, and not before', async (t) => {
  const control = { access_control: { enabled: true, default_policy: 'deny' as const } }
  const app = await start(t, control)
  const read = async () => (await app.post('/v1/recall', QUERY, as('user:bob'))).statusCode
  const granted = {
    ...control, access_grants: [{ bank_id: 'home', principal: 'user:bob', permissions: ['read' as const] }],
  }
  app.edit(granted)
  t.equal(await read(), 403)
  await reloaded(t, app, ['access_grants'])
  t.equal(await read(), 200)
  t.same((await app.get('/v1/whoami?bank_id=home', as('user:bob'))).json().permissions, [
    { permission: 'read', granted_by: 'access_grants[0]' },
  ])
  app.edit(control)
  t.equal(await read(), 200)
  await reloaded(t, app, ['access_grants'])
  t.equal(await read(), 403)
})

await t.test('a reload switches access control on, and grants by banks off', async (t) => {
  const enabled = { enabled: true, default_policy: 'deny' as const }
  const app = await start(t, {})
  const read = async (principal: string) => (await app.post('/v1/recall', QUERY, as(principal))).statusCode
  t.equal(await read('user:bob'), 200)
  const admin = { access_grants: [{ bank_id: '*', principal: 'user:admin', permissions: ['admin' as const] }] }
  app.edit({ ...admin, access_control: enabled })
  t.equal(await read('user:bob'), 200)
  await reloaded(t, app, ['access_grants', 'access_control.enabled', 'access_control.default_policy'])
  t.equal(await read('user:bob'), 403)
  await putConfig(app, 'home', { access: [{ principal: 'user:bob', permissions: ['read'] }] }, as('user:admin'))
  t.equal(await read('user:bob'), 200)

  app.edit({ ...admin, access_control: { ...enabled, bank_grants: false } })
  t.equal(await read('user:bob'), 200)
  await reloaded(t, app, ['access_control.bank_grants'])
  t.equal(await read('user:bob'), 403)
  const { config, effective, origin } = await getConfig(app, 'home', as('user:admin'))
  t.same(config.access, [{ principal: 'user:bob', permissions: ['read'] }])
  t.same(effective.access, [{ principal: 'user:admin', permissions: ['admin'] }])
  t.equal(origin['access'], 'file')
})

await t.test('limits of the file, for all and for single banks, are in force after a reload, ' +
  'and not before', async (t) => {
  const app = await start(t, {})
  const retain = async (bankId: string) => (
    (await app.post('/v1/retain', {
      bank_id: bankId, content: `A text for ${bankId}.`, metadata: { secret: 1 },
    })).json<Record<string, unknown>>()
  )
  app.edit({
    barriers: { metadata: { blocked_keys: ['secret'] } },
    homeostasis: { rate_limits: { recall_per_minute: 1 } },
    banks: { tight: { barriers: { validation: { max_content_length: 5 } } } },
  })
  t.equal((await retain('home'))['redactions'], undefined)
  for (let count = 0; count < 3; count++) t.equal((await app.post('/v1/recall', QUERY)).statusCode, 200)
  await reloaded(t, app, [
    'barriers.metadata.blocked_keys', 'homeostasis.rate_limits.recall_per_minute',
    'banks.tight.barriers.validation.max_content_length',
  ])
  t.same((await retain('other'))['redactions'], ['metadata.secret'])
  t.match(await retain('tight'), { errors: [{ field: 'content' }] })
  t.equal((await app.post('/v1/recall', QUERY)).statusCode, 200)
  refused(t, await app.post('/v1/recall', QUERY), 429, 'rate_limited')
  app.edit({})
  t.equal((await app.reload()).statusCode, 200)
  t.equal((await app.post('/v1/recall', QUERY)).statusCode, 200)
})

await t.test('a limit that the file tightens binds earlier values of a bank, until it is loosened again', async (t) => {
  const app = await start(t, { homeostasis: { recall_max_tokens: 500 } })
  await putConfig(app, 'home', { homeostasis: { recall_max_tokens: 400 } })
  app.edit({ homeostasis: { recall_max_tokens: 300 } })
  await reloaded(t, app, ['homeostasis.recall_max_tokens'])
  t.match(await getConfig(app, 'home'), {
    config: { homeostasis: { recall_max_tokens: 400 } },
    effective: { homeostasis: { recall_max_tokens: 300 } },
    origin: { 'homeostasis.recall_max_tokens': 'file' },
  })
  refusedFields(
    t, await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: 301 } }),
    'homeostasis.recall_max_tokens',
  )
  app.edit({})
  await reloaded(t, app, ['homeostasis.recall_max_tokens'])
  t.match(await getConfig(app, 'home'), {
    effective: { homeostasis: { recall_max_tokens: 400 } }, origin: { 'homeostasis.recall_max_tokens': 'bank' },
  })
})

await t.test('profiles of the file are in force after a reload, for its entries and for banks ' +
  'that chose them', async (t) => {
  const profiles = (mission: string): FileConfig => ({
    profiles: { support: { mission } }, banks: { 'team-*': { profile: 'support' } },
  })
  const app = await start(t, profiles('One.'))
  await putConfig(app, 'home', { profile: 'support' })
  const missions = async () => (
    await Promise.all(['home', 'team-a', 'other'].map(async (bankId) => (
      (await getConfig(app, bankId)).effective.mission
    )))
  )
  app.edit(profiles('Two.'))
  t.same(await missions(), ['One.', 'One.', undefined])
  await reloaded(t, app, ['profiles.support.mission'])
  t.same(await missions(), ['Two.', 'Two.', undefined])

  app.edit({})
  t.equal((await app.reload()).statusCode, 200)
  t.same(await missions(), [undefined, undefined, undefined], 'a profile that is removed from the file no longer holds')
  t.equal((await getConfig(app, 'home')).config.profile, 'support')
})

await t.test('a profile that is removed from the file is not shown as in force', async (t) => {
  const banks = { home: { profile: 'plain' } }
  const app = await start(t, { profiles: { plain: { mission: 'Plain.' }, support: { mission: 'Support.' } }, banks })
  const shown = async (bankId: string) => {
    const { effective, origin } = await getConfig(app, bankId)
    return [effective.profile, origin['profile'], effective.mission]
  }
  for (const bankId of ['home', 'other']) {
    await putConfig(app, bankId, { profile: 'support' })
    t.same(await shown(bankId), ['support', 'bank', 'Support.'])
  }
  app.edit({ profiles: { plain: { mission: 'Plain.' } }, banks })
  t.equal((await app.reload()).statusCode, 200)
  t.same(await shown('home'), ['plain', 'file', 'Plain.'], 'that of the file is in force again')
  t.same(await shown('other'), [undefined, undefined, undefined])
})

await t.test('the trust of writers is that of the reloaded file', async (t) => {
  const app = await start(t, {})
  const trustOf = async (content: string) => {
    const id = await app.retain('home', content, {}, as('user:bob'))
    return (await app.get(`/v1/banks/home/memories/${id}`)).json<{ trust: string }>().trust
  }
  app.edit({ identity: { trust: [{ principal: 'user:*', trust: 'untrusted' }] } })
  t.equal(await trustOf('The first.'), 'trusted')
  await reloaded(t, app, ['identity.trust'])
  t.equal(await trustOf('The second.'), 'untrusted')
})

await t.test('prices of models and the extractive mode are those of the reloaded file', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => generation('The otter sleeps on the river [1].')
  const llm = { llm_provider: 'mock' }
  const app = await start(t, llm, {}, { languageModel })
  await app.retain('home', 'The otter sleeps on the river.')
  app.edit({ ...llm, prices: { scripted: { input: 1000, output: 1000 } }, escalation: { degraded_mode: 'extractive' } })
  t.equal(answerOf(await app.post('/v1/reflect', QUERY)).usage.cost, undefined)
  languageModel.answer = () => { throw new Error('down') }
  t.ok((await app.post('/v1/reflect', QUERY)).statusCode >= 500)
  await reloaded(t, app, ['prices.scripted.input', 'prices.scripted.output', 'escalation.degraded_mode'])
  t.match(answerOf(await app.post('/v1/reflect', QUERY)).answer, 'otter')
  languageModel.answer = () => generation('The otter sleeps on the river [1].')
  t.ok(answerOf(await app.post('/v1/reflect', QUERY)).usage.cost! > 0)
})

await t.test('a new section in the file needs a restart only for the settings that only a start reads', async (t) => {
  for (const [file, ...changed] of [
    [{ retrieval: { bm25: { k1: 2 } } }, 'retrieval.bm25.k1'],
    [{ retrieval: { weights: { lexical: 2 } } }, 'retrieval.weights.lexical'],
    [{ retrieval: {} }, 'retrieval'],
    [{ banks: { home: {} } }, 'banks.home'],
    [{ identity: { trust: [] } }, 'identity.trust'],
    [{ escalation: { degraded_mode: 'error' } }, 'escalation.degraded_mode'],
  ] as Array<[FileConfig, string]>) {
    const app = await start(t, {})
    app.edit(file)
    await reloaded(t, app, changed)
    app.edit({})
    await reloaded(t, app, changed)
    await reloaded(t, app, [])
  }
})

await t.test('a change that only a start reads is 409, is named, and is not applied', async (t) => {
  const rows: Array<[before: FileConfig, after: FileConfig, ...paths: string[]]> = [
    [{}, { vector_store: 'in_memory' }, 'vector_store'],
    [{}, { llm_provider: 'mock' }, 'llm_provider'],
    [{}, { embedding_provider: 'mock' }, 'embedding_provider'],
    [{}, { reranker: './other.mjs:Reranker', reranker_config: { key: SECRET } }, 'reranker', 'reranker_config.key'],
    [{}, { retrieval: { weights: { semantic: 0.5 } } }, 'retrieval.weights.semantic'],
    [{ retrieval: { weights: { semantic: 0.5 } } }, {}, 'retrieval.weights.semantic'],
    [{}, { escalation: { circuit_breaker: { failure_threshold: 9 } } }, 'escalation.circuit_breaker.failure_threshold'],
    [{}, { identity: { obo_enabled: true } }, 'identity.obo_enabled'],
    [
      { sources: { crm: openSource() } }, { sources: { crm: openSource({ target_bank: 'other' }) } },
      'sources.crm.target_bank',
    ],
    [
      { sources: { crm: signedSource() } },
      { sources: { crm: { ...signedSource(), auth: { type: 'hmac', secret: 'another secret' } } } },
      'sources.crm.auth.secret',
    ],
  ]
  for (const [before, after, ...paths] of rows) {
    await t.test(paths.join(), async (t) => {
      const app = await start(t, before)
      app.edit({ ...after, barriers: { validation: { max_content_length: 5 } } })
      const response = await app.reload()
      refused(t, response, 409, 'restart_required', { restart_required: paths })
      t.same(response.json().restart_required, paths)
      t.same(response.json().changed.toSorted(), [...paths, 'barriers.validation.max_content_length'].sort())
      await app.retain('home', 'longer than five')
      const logged = app.log.filter(({ msg }) => msg === 'the configuration was not changed')
      t.match(logged, [{ level: 50, restart_required: paths }])
      t.notMatch(response.body + JSON.stringify(app.log), /secret of the sender|another secret/)

      app.edit({ ...before, barriers: { validation: { max_content_length: 5 } } })
      await reloaded(t, app, ['barriers.validation.max_content_length'])
    })
  }
})

await t.test('a file with problems is 409, is not applied, and its problems are reported', async (t) => {
  const app = await start(t, {})
  app.edit(new ConfigurationError([
    'homeostasis.recall_max_tokens: found text, allowed is an integer from 1', 'bankz: unknown key',
  ]))
  const response = await app.reload()
  refused(t, response, 409, 'configuration_invalid', {
    problems: ['homeostasis.recall_max_tokens: found text, allowed is an integer from 1', 'bankz: unknown key'],
  })
  t.match(
    app.log.filter(({ msg }) => msg === 'the configuration was not changed'),
    [
      {
        level: 50,
        problems: ['homeostasis.recall_max_tokens: found text, allowed is an integer from 1', 'bankz: unknown key'],
      },
    ],
  )

  await t.test('the same holds for problems that only the memory service finds', async (t) => {
    const rows: Array<[file: FileConfig, problem: RegExp]> = [
      [{ retrieval: { weights: { lexical: 0 } } }, /^retrieval\.weights: one of/],
      [{ banks: { home: { retrieval: { weights: { lexical: 0 } } } } }, /^banks\.home\.retrieval\.weights: one of/],
      [
        { profiles: { blind: { retrieval: { weights: { lexical: 0 } } } }, banks: { 'te*': { profile: 'blind' } } },
        /^banks\.te\*\.retrieval\.weights: one of/,
      ],
      [
        { banks: { home: { retrieval: { weights: { semantic: 1 } } } } },
        /^banks\.home\.retrieval\.weights\.semantic: must be 0/,
      ],
    ]
    for (const [file, problem] of rows) {
      app.edit({ ...file, barriers: { validation: { max_content_length: 5 } } })
      refused(t, await app.reload(), 409, 'configuration_invalid', { problems: [problem] })
      await app.retain('home', 'longer than five')
    }
  })

  await t.test('the next valid file is applied', async (t) => {
    app.edit({ barriers: { validation: { max_content_length: 5 } } })
    await reloaded(t, app, ['barriers.validation.max_content_length'])
  })
})

await t.test('a fault while reading is 500 and reveals nothing of its cause', async (t) => {
  const app = await start(t, {})
  app.edit(new Error('EIO: /etc/secret-place'))
  const response = await app.reload()
  refused(t, response, 500, 'internal_error', { detail: 'Internal server error' })
  t.notMatch(response.body, /EIO|secret-place/)
})

await t.test('a reload requires the admin token', async (t) => {
  const app = await start(t, {}, { adminToken: 'the admin token' })
  app.edit({ homeostasis: { recall_max_tokens: 5 } })
  for (const headers of [{}, { 'x-admin-token': 'another' }, as('user:admin')]) {
    refused(t, await app.reload(headers), 401, 'unauthenticated')
  }
  t.equal((await getConfig(app, 'home')).effective.homeostasis?.recall_max_tokens, undefined)
  t.equal((await app.reload({ 'x-admin-token': 'the admin token' })).statusCode, 200)
  t.equal((await getConfig(app, 'home')).effective.homeostasis?.recall_max_tokens, 5)
})

await t.test('a reload of an unchanged file changes nothing and says so', async (t) => {
  const app = await start(t, { homeostasis: { recall_max_tokens: 5 } })
  app.edit({ homeostasis: { recall_max_tokens: 5 } })
  await reloaded(t, app, [])
  t.match(app.log.filter(({ msg }) => msg === 'the configuration was read again'), [{ level: 30, changed: [] }])
})

await t.test('a gateway without anything to reload answers 501', async (t) => {
  const app = await testApp(t)
  refused(t, await app.post('/v1/admin/reload', {}), 501, 'not_supported')
})

await t.test('a webhook uses the reloaded access control', async (t) => {
  const sources = { sources: { crm: openSource({ principal: 'service:crm' }) } }
  const app = await start(t, sources)
  t.equal((await sendJson(app, 'crm', { content: 'One.' })).statusCode, 200)
  app.edit({ ...sources, access_control: { enabled: true, default_policy: 'deny' } })
  t.equal((await app.reload()).statusCode, 200)
  refused(t, await sendJson(app, 'crm', { content: 'Two.' }), 403, 'access_denied')
})
