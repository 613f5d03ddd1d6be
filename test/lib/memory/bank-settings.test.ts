import t from 'tap'
import { defaultSections } from '../../../lib/config/schema.js'
import { bankSettings } from '../../../lib/memory/bank-settings.js'
import { operatorSettings } from '../../helpers/settings.js'

t.test('every setting of the configuration reaches the code that reads it', async (t) => {
  const sections = operatorSettings({
    homeostasis: {
      recall_max_tokens: 1,
      reflect_max_tokens: 2,
      retain_max_content_bytes: 3,
      rate_limits: {
        retain_per_minute: 4,
        recall_per_minute: 5,
        reflect_per_minute: 6,
        forget_per_minute: 7,
        import_per_minute: 8,
        global_per_minute: 9,
      },
      quotas: {
        retain_per_day: 10, import_per_day: 11, reflect_per_day: 12, model_calls_per_day: 13, model_tokens_per_day: 14,
      },
    },
    barriers: {
      validation: { max_content_length: 15 }, metadata: { blocked_keys: ['k'], max_metadata_size_bytes: 16 },
    },
    signal_quality: { dedup: { action: 'warn', threshold: 0.5 } },
    retrieval: {
      weights: { lexical: 2, semantic: 3 },
      fusion: 'rrf',
      diversity: 4,
      semantic_timeout_ms: 17,
      rerank: { candidates: 18, timeout_ms: 19, weight: 0.1 },
      rewrite: { enabled: true, max_queries: 7, timeout_ms: 20 },
      model_rerank: { enabled: true, candidates: 21, timeout_ms: 22, weight: 0.2 },
      bm25: { k1: 5, b: 0.6 },
      context: false,
      chunk_max_characters: 300,
    },
    reflect: { timeout_ms: 123, max_evidence: 24, max_evidence_tokens: 25, min_score: 0.3, min_trust: 'trusted' },
    banks: { home: { mission: 'Help.' } },
  }).of('home')
  const { scorers } = defaultSections(0).retrieval
  t.strictSame(bankSettings(sections), {
    rateLimits: { retain: 4, recall: 5, reflect: 6, forget: 7, import: 8, global: 9 },
    quotas: { retain: 10, import: 11, reflect: 12, modelCalls: 13, modelTokens: 14 },
    contentChecks: { maxCharacters: 15, maxBytes: 3, blockedMetadataKeys: ['k'], maxMetadataBytes: 16 },
    tokenBudgets: { recall: 1, reflect: 2 },
    deduplication: { action: 'warn', threshold: 0.5 },
    maxPassageCharacters: 300,
    retrieval: {
      weights: { lexical: 2, semantic: 3 },
      fusion: 'rrf',
      scorers,
      diversity: 4,
      bm25: { k1: 5, length: { b: 0.6 }, context: false },
      semanticTimeoutMs: 17,
      rerank: { candidates: 18, timeoutMs: 19, weight: 0.1 },
    },
    rewrite: { enabled: true, maxQueries: 7, timeoutMs: 20 },
    modelRerank: { enabled: true, candidates: 21, timeoutMs: 22, weight: 0.2 },
    reflect: { timeoutMs: 123, maxEvidence: 24, maxEvidenceTokens: 25, minScore: 0.3, minTrust: 'trusted' },
    mission: 'Help.',
  })
})

t.test('without a limit in any layer there is no limit, and texts are measured by the pivot', async (t) => {
  const settings = bankSettings(defaultSections(0))
  t.match(settings, {
    rateLimits: undefined,
    quotas: undefined,
    tokenBudgets: { recall: undefined, reflect: undefined },
    contentChecks: { maxBytes: undefined },
  })
  t.strictSame(settings.retrieval.bm25, { k1: 0.9, length: { pivot: 25 }, context: true })
})

t.test('banks with the same sections share their settings', async (t) => {
  const operator = operatorSettings()
  t.equal(bankSettings(operator.of('a')), bankSettings(operator.of('b')))
})
