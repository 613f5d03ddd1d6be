import t from 'tap'
import { testApp } from '../helpers/app.js'
import { askConfig, getConfig, historyOf, patchConfig, putConfig } from './bank-configs.js'
import { refused, refusedFields } from './support.js'

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }

await t.test('a numeric string is accepted for a number, at any depth and by any method', async (t) => {
  const app = await testApp(t)
  t.same(
    (await putConfig(app, 'home', {
      homeostasis: { recall_max_tokens: '500', rate_limits: { recall_per_minute: '7' } },
    })).config,
    { homeostasis: { recall_max_tokens: 500, rate_limits: { recall_per_minute: 7 } } },
  )
  t.same((await patchConfig(app, 'home', { homeostasis: { recall_max_tokens: '400' } })).config, {
    homeostasis: { recall_max_tokens: 400, rate_limits: { recall_per_minute: 7 } },
  })
  refusedFields(
    t, await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: '1e3' } }),
    'homeostasis.recall_max_tokens',
  )
})

await t.test('an invalid configuration is refused', async (t) => {
  const app = await testApp(t)
  const before = await putConfig(app, 'home', { mission: 'Help.', homeostasis: { recall_max_tokens: 500 } })
  const rows: Array<[what: string, config: Record<string, unknown>, ...fields: string[]]> = [
    ['an unknown section', { llm_provider: 'mock' }, 'llm_provider'],
    ['an unknown key of a section', { homeostasis: { recall_max_token: 5 } }, 'homeostasis.recall_max_token'],
    ['an unknown key two levels down', { retrieval: { bm25: { k2: 1 } } }, 'retrieval.bm25.k2'],
    ['a number below its minimum', { homeostasis: { recall_max_tokens: 0 } }, 'homeostasis.recall_max_tokens'],
    [
      'a fraction for a whole number', { homeostasis: { quotas: { retain_per_day: 1.5 } } },
      'homeostasis.quotas.retain_per_day',
    ],
    [
      'a value that is not one of those allowed', { signal_quality: { dedup: { action: 'drop' } } },
      'signal_quality.dedup.action',
    ],
    ['a number for a section', { homeostasis: 5 }, 'homeostasis'],
    ['a list for a section', { homeostasis: [] }, 'homeostasis'],
    ['an empty text', { mission: '' }, 'mission'],
    ['a text that is too long', { description: 'x'.repeat(1001) }, 'description'],
    ['both strategies without a weight', { retrieval: { weights: { lexical: 0 } } }, 'retrieval.weights'],
    ['a reranker\'s settings without a reranker', { retrieval: { rerank: { weight: 0.5 } } }, 'retrieval.rerank'],
    [
      'a time for vectors that are not searched', { retrieval: { semantic_timeout_ms: 100 } },
      'retrieval.semantic_timeout_ms',
    ],
    ['several faults', { nothing: 1, mission: '' }, 'nothing', 'mission'],
  ]
  for (const [what, config, ...fields] of rows) {
    await t.test(`${what} is 400 with its field, by PUT and by PATCH, and nothing changes`, async (t) => {
      // The valid part is not stored either.
      const mixed = { description: 'Another.', ...config }
      refusedFields(t, await askConfig(app, 'PUT', 'home', mixed), ...fields)
      refusedFields(t, await askConfig(app, 'PATCH', 'home', mixed, MERGE_PATCH), ...fields)
      t.same(await getConfig(app, 'home'), before)
      t.equal((await historyOf(app, 'home')).length, 1)
    })
  }
})

await t.test('a body that is not an object or not JSON is 400, and another content type is 415', async (t) => {
  const app = await testApp(t)
  for (const method of ['PUT', 'PATCH'] as const) {
    for (const body of ['[]', '"mission"', 'null', '5']) {
      refused(t, await askConfig(app, method, 'home', body), 400, 'invalid_request')
    }
    for (const body of ['{', '', '{"__proto__": {"mission": "x"}}']) {
      refused(t, await askConfig(app, method, 'home', body), 400, 'invalid_json')
    }
    refused(t, await askConfig(app, method, 'home', 'mission=x', {
      'content-type': 'application/x-www-form-urlencoded',
    }), 415, 'unsupported_media_type', {
      detail: 'Unsupported Content-Type: this route takes ' +
        `${method === 'PATCH' ? 'application/merge-patch+json or ' : ''}application/json`,
    })
  }
  for (const body of ['[]', 'null']) {
    refused(t, await askConfig(app, 'PATCH', 'home', body, MERGE_PATCH), 400, 'invalid_request')
  }
  refused(t, await askConfig(app, 'PATCH', 'home', '{', MERGE_PATCH), 400, 'invalid_json')
  t.same((await getConfig(app, 'home')).config, {})
})

await t.test('a merge patch is 415 in a PUT, which would replace what the patch keeps', async (t) => {
  const app = await testApp(t)
  const before = await putConfig(app, 'home', { mission: 'Help.' })
  refused(
    t, await askConfig(app, 'PUT', 'home', { description: 'Mine.' }, MERGE_PATCH), 415, 'unsupported_media_type',
    { detail: 'Unsupported Content-Type: this route takes application/json' },
  )
  t.same(await getConfig(app, 'home'), before)
})

await t.test('a text with U+0000 or half a surrogate pair is stored unchanged', async (t) => {
  const app = await testApp(t)
  for (const mission of ['a\u0000b', 'a\ud800b']) {
    await putConfig(app, 'home', { mission })
    t.equal((await getConfig(app, 'home')).config.mission, mission)
    t.equal((await historyOf(app, 'home'))[0]?.config?.mission, mission)
  }
})

await t.test('a configuration of more than 32 KiB is 400, and one above the limit of the body is 413', async (t) => {
  const app = await testApp(t)
  const blocked = (count: number) => ({
    barriers: { metadata: { blocked_keys: Array.from({ length: count }, (_, index) => `${index}`.padStart(61, 'k')) } },
  })
  const before = await putConfig(app, 'home', blocked(500))
  refused(t, await askConfig(app, 'PUT', 'home', blocked(530)), 400, 'invalid_request', { detail: /32768 bytes/ })
  refused(
    t, await askConfig(app, 'PATCH', 'home', { mission: 'x'.repeat(4000) }, MERGE_PATCH), 400, 'invalid_request',
    { detail: /32768 bytes/ },
  )
  refused(t, await askConfig(app, 'PUT', 'home', blocked(5000)), 413, 'body_too_large')
  t.same(await getConfig(app, 'home'), before)
})

await t.test('a patch that is nested deeper than any configuration is 400', async (t) => {
  const app = await testApp(t)
  const nested = (levels: number) => `${'{"homeostasis":'.repeat(levels)}1${'}'.repeat(levels)}`
  refused(
    t, await askConfig(app, 'PATCH', 'home', nested(60)), 400, 'invalid_request',
    { detail: /deeply; the maximum is 16/ },
  )
  refused(
    t, await askConfig(app, 'PATCH', 'home', nested(5000)), 413, 'body_too_large', { detail: /bounds\.json_depth/ },
  )
})

await t.test('a malformed bank id and an unknown parameter are 400', async (t) => {
  const app = await testApp(t)
  refusedFields(t, await askConfig(app, 'GET', 'a*'), 'bank_id')
  refusedFields(t, await askConfig(app, 'PUT', '-a', {}), 'bank_id')
  refusedFields(t, await app.get('/v1/banks/home/config?etag=1'), 'etag')
})
