import t from 'tap'
import { defaultSections, type FileConfig } from '../../../lib/config/schema.js'
import type { OwnSettings } from '../../../lib/operations/operator-settings.js'
import { operatorSettings } from '../../helpers/settings.js'

t.test('without a file the defaults hold', async (t) => {
  t.strictSame(operatorSettings({}).of('home'), defaultSections(0))
})

t.test('the general sections hold for a bank without its own', async (t) => {
  const settings = operatorSettings({
    homeostasis: { recall_max_tokens: 5 },
    barriers: { validation: { max_content_length: 9 } },
    signal_quality: { dedup: { action: 'skip' } },
    banks: { other: {} },
  })
  const { homeostasis, barriers, signal_quality: signalQuality } = settings.of('home')
  t.strictSame({ homeostasis, barriers, signalQuality }, {
    homeostasis: { recall_max_tokens: 5 },
    barriers: { validation: { max_content_length: 9 }, metadata: { blocked_keys: [], max_metadata_size_bytes: 4096 } },
    signalQuality: { dedup: { action: 'skip', threshold: 0.9 }, proposals: { mode: 'off', accept: [] } },
  })
})

t.test('the sections of a bank override the general ones key by key', async (t) => {
  const settings = operatorSettings({
    homeostasis: {
      recall_max_tokens: 5,
      reflect_max_tokens: 6,
      rate_limits: { recall_per_minute: 1, retain_per_minute: 2 },
      quotas: { retain_per_day: 3, reflect_per_day: 4 },
    },
    barriers: { validation: { max_content_length: 7 }, metadata: { blocked_keys: ['a'], max_metadata_size_bytes: 8 } },
    signal_quality: { dedup: { action: 'warn', threshold: 0.8 } },
    banks: {
      home: {
        homeostasis: {
          reflect_max_tokens: 60,
          rate_limits: { retain_per_minute: 20, global_per_minute: 50 },
          quotas: { reflect_per_day: 40 },
        },
        barriers: { metadata: { blocked_keys: ['b'] } },
        signal_quality: { dedup: { action: 'off' } },
      },
    },
  })
  const { homeostasis, barriers, signal_quality: signalQuality } = settings.of('home')
  t.strictSame({ homeostasis, barriers, signalQuality }, {
    homeostasis: {
      recall_max_tokens: 5,
      reflect_max_tokens: 60,
      rate_limits: { recall_per_minute: 1, retain_per_minute: 20, global_per_minute: 50 },
      quotas: { retain_per_day: 3, reflect_per_day: 40 },
    },
    barriers: { validation: { max_content_length: 7 }, metadata: { blocked_keys: ['b'], max_metadata_size_bytes: 8 } },
    signalQuality: { dedup: { action: 'off', threshold: 0.8 } },
  })
  t.equal(settings.of('other').homeostasis.reflect_max_tokens, 6, 'other banks are not affected')
})

t.test('a literal name precedes a pattern, a longer pattern a shorter one, and two are never merged', async (t) => {
  const entry = (tokens: number, bytes?: number) => ({
    homeostasis: { recall_max_tokens: tokens, ...(bytes !== undefined && { retain_max_content_bytes: bytes }) },
  })
  const banks = {
    '*': entry(1, 99), 'user-*': entry(2), 'user-a*': entry(3), 'user-alice': entry(4), 'user-alice*': entry(5),
  }
  for (const order of [Object.entries(banks), Object.entries(banks).reverse()]) {
    const settings = operatorSettings({ homeostasis: { reflect_max_tokens: 7 }, banks: Object.fromEntries(order) })
    for (const [bankId, tokens] of [
      ['home', 1], ['user', 1], ['user-', 2], ['user-bob', 2], ['user-anna', 3], ['user-alice', 4], ['user-alice2', 5],
      ['User-alice', 1],
    ] as const) {
      t.strictSame(settings.of(bankId).homeostasis.recall_max_tokens, tokens, bankId)
      t.equal(settings.of(bankId).homeostasis.retain_max_content_bytes, tokens === 1 ? 99 : undefined, bankId)
      t.equal(settings.of(bankId).homeostasis.reflect_max_tokens, 7, bankId)
    }
  }
})

t.test('a requested name is neither a pattern nor an inherited property', async (t) => {
  const settings = operatorSettings({
    banks: { 'user-*': { homeostasis: { recall_max_tokens: 2 } }, home: { homeostasis: { recall_max_tokens: 3 } } },
  })
  for (const bankId of ['*', 'u*', 'constructor', '__proto__', 'toString', 'hom', 'home*']) {
    t.strictSame(settings.of(bankId).homeostasis, {}, bankId)
  }
})

t.test('a bank whose only strategy the file has switched off since uses the weights of the file', async (t) => {
  const { settings, origin } = operatorSettings({ retrieval: { weights: { lexical: 2 } } })
    .explain('home', { retrieval: { weights: { lexical: 0, semantic: 1 }, diversity: 0 } })
  t.strictSame(settings.retrieval.weights, { lexical: 2, semantic: 0 })
  t.equal(settings.retrieval.diversity, 0)
  t.match(origin, {
    'retrieval.weights.lexical': 'file', 'retrieval.weights.semantic': 'default', 'retrieval.diversity': 'bank',
  })
})

t.test('the layers are in order from the defaults to the settings of the bank itself', async (t) => {
  const tokens = (limit: number) => ({ homeostasis: { recall_max_tokens: limit } })
  const file = {
    ...tokens(700),
    profiles: { first: { ...tokens(600), mission: 'First.' }, second: { ...tokens(400), mission: 'Second.' } },
  }
  const of = (banks: FileConfig['banks'], own?: OwnSettings) => {
    const { settings, origin } = operatorSettings({ ...file, ...(banks !== undefined && { banks }) })
      .explain('team-a', own)
    return [settings.homeostasis.recall_max_tokens, origin['homeostasis.recall_max_tokens'], settings.mission]
  }
  t.equal(operatorSettings({}).explain('team-a').origin['reflect.max_evidence'], 'default')
  t.strictSame(of(undefined), [700, 'file', undefined])
  t.strictSame(of({ 'team-*': { profile: 'first' } }), [600, 'profile', 'First.'])
  t.strictSame(of({ 'team-*': { profile: 'first', ...tokens(500) } }), [500, 'file', 'First.'])
  t.strictSame(
    of({ 'team-*': { profile: 'first', ...tokens(500) } }, { profile: 'second' }), [400, 'profile', 'Second.'],
  )
  t.strictSame(
    of({ 'team-*': { profile: 'first', ...tokens(500) } }, { profile: 'second', ...tokens(300), mission: 'Own.' }),
    [300, 'bank', 'Own.'],
  )
  t.strictSame(
    of({ 'team-*': { profile: 'first' }, 'team-a': {} }), [700, 'file', undefined],
    'a literal entry without a profile has none',
  )
})
