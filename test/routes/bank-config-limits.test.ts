import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { LIMITS, withValueAt } from '../../lib/operations/operator-settings.js'
import { valueAt } from '../../lib/base/json-object.js'
import { testApp } from '../helpers/app.js'
import { askConfig, configAnswer, getConfig, patchConfig, putConfig } from './bank-configs.js'
import { refused, refusedFields } from './support.js'

/** A limit of the operator, a looser value, a tighter one, and what is in force when a bank sets the tighter one. */
interface Row {
  path: string
  operator: unknown
  looser: unknown
  tighter: unknown
}

const atMost = (path: string, operator: number): Row => ({
  path, operator, looser: operator + 1, tighter: operator - 1,
})
const off = (path: string, value: unknown, on: unknown): Row => ({ path, operator: value, looser: on, tighter: value })

const ROWS: readonly Row[] = [
  atMost('homeostasis.recall_max_tokens', 500),
  atMost('homeostasis.reflect_max_tokens', 400),
  atMost('homeostasis.retain_max_content_bytes', 300),
  atMost('homeostasis.rate_limits.retain_per_minute', 20),
  atMost('homeostasis.rate_limits.recall_per_minute', 21),
  atMost('homeostasis.rate_limits.reflect_per_minute', 22),
  atMost('homeostasis.rate_limits.forget_per_minute', 23),
  atMost('homeostasis.rate_limits.global_per_minute', 24),
  atMost('homeostasis.rate_limits.import_per_minute', 31),
  atMost('homeostasis.quotas.retain_per_day', 25),
  atMost('homeostasis.quotas.import_per_day', 32),
  atMost('homeostasis.quotas.reflect_per_day', 26),
  atMost('homeostasis.quotas.model_calls_per_day', 27),
  atMost('homeostasis.quotas.model_tokens_per_day', 28),
  atMost('barriers.validation.max_content_length', 29),
  atMost('barriers.metadata.max_metadata_size_bytes', 30),
  off('retrieval.weights.semantic', 0, 0.5),
  atMost('retrieval.semantic_timeout_ms', 100),
  atMost('retrieval.rerank.candidates', 50),
  atMost('retrieval.rerank.timeout_ms', 101),
  off('retrieval.rewrite.enabled', false, true),
  atMost('retrieval.rewrite.max_queries', 4),
  atMost('retrieval.rewrite.timeout_ms', 102),
  off('retrieval.model_rerank.enabled', false, true),
  atMost('retrieval.model_rerank.candidates', 10),
  atMost('retrieval.model_rerank.timeout_ms', 103),
  atMost('extraction.max_facts_per_job', 11),
  atMost('extraction.max_output_tokens', 501),
  atMost('extraction.timeout_ms', 104),
  atMost('reflect.timeout_ms', 1000),
  atMost('reflect.max_evidence', 12),
  atMost('reflect.max_evidence_tokens', 13),
  { path: 'reflect.min_score', operator: 0.5, looser: 0.4, tighter: 0.6 },
  { path: 'reflect.min_trust', operator: 'untrusted', looser: 'suspect', tighter: 'trusted' },
]

const RERANKER = { rerank: async () => [] }

const of = (
  path: string, value: unknown,
): Record<string, unknown> => withValueAt<Record<string, unknown>>({}, path, value)
/** A section of a file; the gateway under test gets it as a validated one. */
const fileOf = (path: string, value: unknown): FileConfig => withValueAt<FileConfig>({}, path, value)

await t.test('every limit has a row in this table', async (t) => {
  t.same([...ROWS.map(({ path }) => path), 'barriers.metadata.blocked_keys'].sort(), Object.keys(LIMITS).sort())
})

for (const { path, operator, looser, tighter } of ROWS) {
  await t.test(`a bank may set ${path} as the file has it or tighter, never looser`, async (t) => {
    const profiles = { loose: of(path, looser), tight: of(path, tighter) }
    // A time for the search of vectors has an effect only where vectors are searched.
    const base = path === 'retrieval.semantic_timeout_ms' ? fileOf('retrieval.weights.semantic', 1) : {}
    for (const [bankId, file] of [
      ['home', { ...withValueAt(base, path, operator), profiles }],
      ['entry', { ...base, banks: { entry: of(path, operator) }, profiles }],
    ] as const) {
      const app = await testApp(t, { file, logLevel: 'silent' }, { reranker: RERANKER })
      const before = await putConfig(app, bankId, { description: 'A bank.' })
      t.equal(valueAt(before.effective, path), operator)
      for (const method of ['PUT', 'PATCH'] as const) {
        refusedFields(t, await askConfig(app, method, bankId, { description: 'Another.', ...of(path, looser) }), path)
        const response = await askConfig(app, method, bankId, { description: 'Another.', profile: 'loose' })
        refusedFields(t, response, 'profile')
        t.match(response.json().detail, path, 'the value of the profile is named')
      }
      t.same(await getConfig(app, bankId), before)
      for (const value of [operator, tighter]) {
        const { effective, origin } = await putConfig(app, bankId, of(path, value))
        t.equal(valueAt(effective, path), value)
        t.equal(origin[path], 'bank')
      }
      const { effective, origin } = await putConfig(app, bankId, { profile: 'tight' })
      t.equal(valueAt(effective, path), tighter)
      t.match(origin, { [path]: 'profile', profile: 'bank' })
    }
  })
}

await t.test('where the file sets no limit, a bank sets its own', async (t) => {
  const app = await testApp(t)
  const config = {
    homeostasis: {
      recall_max_tokens: 5_000_000, rate_limits: { recall_per_minute: 1_000_000 }, quotas: { retain_per_day: 10 },
    },
    reflect: { min_score: 0 },
  }
  t.match((await putConfig(app, 'home', config)).effective, config)
})

await t.test('a bank may switch off what the operator switched on, and on again', async (t) => {
  const app = await testApp(t, {
    file: { retrieval: { weights: { semantic: 0.5 }, rewrite: { enabled: true }, model_rerank: { enabled: true } } },
  })
  for (const [semantic, enabled] of [[0, false], [0.9, true]] as const) {
    const config = { retrieval: { weights: { semantic }, rewrite: { enabled }, model_rerank: { enabled } } }
    t.match((await putConfig(app, 'home', config)).effective, config)
  }
})

await t.test('the keys that a bank blocks are added to those of the operator', async (t) => {
  const app = await testApp(t, { file: { barriers: { metadata: { blocked_keys: ['secret', 'token'] } } } })
  const { config, effective, origin } = await putConfig(app, 'home', {
    barriers: { metadata: { blocked_keys: ['mine', 'token'] } },
  })
  t.same(config.barriers?.metadata?.blocked_keys, ['mine', 'token'])
  t.same(effective.barriers?.metadata?.blocked_keys?.toSorted(), ['mine', 'secret', 'token'])
  t.equal(origin['barriers.metadata.blocked_keys'], 'bank')
  const { redactions } = (await app.post('/v1/retain', {
    bank_id: 'home', content: 'x', metadata: { Secret: 1, MINE: 2, kept: 3 },
  })).json<{ redactions: string[] }>()
  t.same(redactions.sort(), ['metadata.MINE', 'metadata.Secret'])
  const { effective: emptied } = await patchConfig(app, 'home', { barriers: { metadata: { blocked_keys: [] } } })
  t.same(emptied.barriers?.metadata?.blocked_keys, ['secret', 'token'])
})

await t.test('several values beyond the limits are all named', async (t) => {
  const app = await testApp(t, {
    file: { homeostasis: { recall_max_tokens: 5, quotas: { retain_per_day: 6 } }, reflect: { max_evidence: 7 } },
  })
  const response = await askConfig(app, 'PUT', 'home', {
    homeostasis: { recall_max_tokens: 6, quotas: { retain_per_day: 7 } }, reflect: { max_evidence: 8 },
  })
  refusedFields(
    t, response, 'homeostasis.recall_max_tokens', 'homeostasis.quotas.retain_per_day', 'reflect.max_evidence',
  )
  t.match(response.json().errors, [
    { message: 'must be at most 5' }, { message: 'must be at most 6' }, { message: 'must be at most 7' },
  ])
})

await t.test('the limits of a bank\'s entry in the file bind it, looser or tighter than those for all', async (t) => {
  const app = await testApp(t, {
    file: {
      homeostasis: { recall_max_tokens: 500 },
      banks: {
        'big-*': { homeostasis: { recall_max_tokens: 900 } }, small: { homeostasis: { recall_max_tokens: 100 } },
      },
    },
  })
  t.equal((await askConfig(app, 'PUT', 'big-1', { homeostasis: { recall_max_tokens: 900 } })).statusCode, 200)
  refusedFields(
    t, await askConfig(app, 'PUT', 'big-1', { homeostasis: { recall_max_tokens: 901 } }),
    'homeostasis.recall_max_tokens',
  )
  refusedFields(
    t, await askConfig(app, 'PUT', 'small', { homeostasis: { recall_max_tokens: 101 } }),
    'homeostasis.recall_max_tokens',
  )
})

await t.test('the profile of a bank', async (t) => {
  const file: FileConfig = {
    homeostasis: { recall_max_tokens: 500 },
    profiles: {
      support: {
        mission: 'Support people.',
        signal_quality: { dedup: { action: 'warn' } },
        homeostasis: { recall_max_tokens: 300 },
      },
      loose: { homeostasis: { recall_max_tokens: 501 } },
    },
  }
  const app = await testApp(t, { file })

  await t.test('holds below the settings of the bank itself', async (t) => {
    const { effective, origin } = await putConfig(app, 'home', {
      profile: 'support', homeostasis: { recall_max_tokens: 400 },
    })
    t.match(effective, {
      profile: 'support',
      mission: 'Support people.',
      signal_quality: { dedup: { action: 'warn', threshold: 0.9 } },
      homeostasis: { recall_max_tokens: 400 },
    })
    t.match(origin, {
      profile: 'bank',
      mission: 'profile',
      'signal_quality.dedup.action': 'profile',
      'signal_quality.dedup.threshold': 'default',
      'homeostasis.recall_max_tokens': 'bank',
    })
  })

  await t.test('may be looser where the bank itself is tight', async (t) => {
    t.equal(
      (await putConfig(app, 'other', {
        profile: 'loose', homeostasis: { recall_max_tokens: 10 },
      })).effective.homeostasis?.recall_max_tokens,
      10,
    )
  })

  await t.test('that does not exist is 400', async (t) => {
    for (const profile of ['nothing', 'Support', 'toString', 'constructor', '__proto__']) {
      refusedFields(t, await askConfig(app, 'PUT', 'home', { profile }), 'profile')
    }
    refusedFields(t, await askConfig(app, 'PUT', 'home', { profile: '' }), 'profile')
  })
})

await t.test('a bank has its own settings of a reranker if the server has one', async (t) => {
  const app = await testApp(t, {}, { reranker: RERANKER })
  t.match(
    (await putConfig(app, 'home', {
      retrieval: { rerank: { weight: 0.5, candidates: 20 } },
    })).effective.retrieval?.rerank,
    { weight: 0.5, candidates: 20, timeout_ms: 1500 },
  )
})

await t.test('grants of a bank', async (t) => {
  const access = [{ principal: 'user:bob', permissions: ['read' as const] }]

  await t.test('are 400 while access control is off', async (t) => {
    const app = await testApp(t)
    refusedFields(t, await askConfig(app, 'PUT', 'home', { access }), 'access')
    refusedFields(t, await askConfig(app, 'PATCH', 'home', { access: [] }), 'access')
  })

  await t.test('are 400 where the file forbids them', async (t) => {
    const app = await testApp(t, { file: { access_control: { enabled: true, bank_grants: false } } })
    const response = await askConfig(app, 'PUT', 'home', { access })
    refusedFields(t, response, 'access')
    t.match(response.json().detail, /bank_grants/)
  })

  await t.test('are 400 with an invalid pattern, permission or member', async (t) => {
    const app = await testApp(t, { file: { access_control: { enabled: true } } })
    refusedFields(
      t, await askConfig(app, 'PUT', 'home', { access: [{ principal: 'a*b', permissions: ['read'] }] }),
      'access[0].principal',
    )
    for (const principal of ['user:\u0000', 'user:\u200b*', 'user:\ud800', 'x'.repeat(257)]) {
      refusedFields(
        t, await askConfig(app, 'PUT', 'home', { access: [...access, { principal, permissions: ['read'] }] }),
        'access[1].principal',
      )
    }
    refusedFields(
      t, await askConfig(app, 'PUT', 'home', { access: [{ principal: 'a', permissions: ['own'] }] }),
      'access[0].permissions[0]',
    )
    refusedFields(
      t, await askConfig(app, 'PUT', 'home', { access: [{ principal: 'a', permissions: [] }] }),
      'access[0].permissions',
    )
    refusedFields(
      t, await askConfig(app, 'PUT', 'home', { access: [{ principal: 'a', permissions: ['read'], bank_id: '*' }] }),
      'access[0].bank_id',
    )
    refused(
      t, await askConfig(app, 'PUT', 'home', { access: Array.from({ length: 1001 }, () => access[0]) }), 400,
      'invalid_request',
    )
  })

  await t.test('are returned beside those of the file', async (t) => {
    const app = await testApp(t, {
      file: {
        access_control: { enabled: true },
        access_grants: [{ bank_id: 'ho*', principal: 'user:eve', permissions: ['*'] }],
      },
    })
    t.match(await getConfig(app, 'home'), {
      effective: { access: [{ principal: 'user:eve', permissions: ['*'] }] }, origin: { access: 'file' },
    })
    const answer = configAnswer(await askConfig(app, 'PUT', 'home', { access }))
    t.same(answer.effective.access, [{ principal: 'user:eve', permissions: ['*'] }, ...access])
    t.equal(answer.origin['access'], 'bank')
  })
})
