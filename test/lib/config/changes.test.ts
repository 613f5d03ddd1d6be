import t from 'tap'
import { fileChanges } from '../../../plugins/reload.js'

t.test('a new section is applied when none of its settings needs a restart', async (t) => {
  t.same(fileChanges({}, {
    retrieval: { diversity: 0.3 }, identity: { trust: [] }, escalation: { degraded_mode: 'extractive' },
  }), {
    changed: ['retrieval.diversity', 'identity.trust', 'escalation.degraded_mode'],
    restartRequired: [],
  })
  t.same(
    fileChanges({ retrieval: { weights: { lexical: 2 } } }, {}),
    { changed: ['retrieval.weights.lexical'], restartRequired: [] },
  )
})

t.test('a new section needs a restart for the settings that only a start reads', async (t) => {
  const paths = [
    'retrieval.weights.semantic', 'identity.obo_enabled', 'escalation.circuit_breaker.failure_threshold',
    'sources.shop.type', 'sources.shop.target_bank', 'sources.shop.auth.type',
  ]
  const after = {
    retrieval: { weights: { semantic: 1 } },
    identity: { obo_enabled: true },
    escalation: { circuit_breaker: { failure_threshold: 3 } },
    sources: { shop: { type: 'webhook' as const, target_bank: 'shop', auth: { type: 'none' as const } } },
  }
  t.same(fileChanges({}, after), { changed: paths, restartRequired: paths })
  t.same(fileChanges(after, {}), { changed: paths, restartRequired: paths })
})

t.test('an entry without a value is a change too, because it hides the entries of patterns', async (t) => {
  t.same(
    fileChanges({ banks: { 'team-*': {} } }, { banks: { 'team-*': {}, 'team-red': {} } }),
    { changed: ['banks.team-red'], restartRequired: [] },
  )
})
