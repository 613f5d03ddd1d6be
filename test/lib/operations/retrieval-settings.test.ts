import t from 'tap'
import { defaultSections } from '../../../lib/config/schema.js'
import { retrievalSettings } from '../../../lib/operations/search.js'
import { operatorSettings } from '../../helpers/settings.js'

t.test('every setting of the retrieval reaches the retriever', async (t) => {
  const { retrieval } = operatorSettings({
    retrieval: {
      weights: { lexical: 2, semantic: 3 },
      fusion: 'rrf',
      diversity: 4,
      semantic_timeout_ms: 17,
      rerank: { candidates: 18, timeout_ms: 19, weight: 0.1 },
      bm25: { k1: 5, b: 0.6 },
      context: false,
    },
  }).of('home')
  const { scorers } = defaultSections(0).retrieval
  t.strictSame(retrievalSettings(retrieval), {
    weights: { lexical: 2, semantic: 3 },
    fusion: 'rrf',
    scorers,
    diversity: 4,
    bm25: { k1: 5, length: { b: 0.6 }, context: false },
    semanticTimeoutMs: 17,
    rerank: { candidates: 18, timeoutMs: 19, weight: 0.1 },
  })
})

t.test('without a setting texts are measured by the pivot', async (t) => {
  const { bm25 } = retrievalSettings(defaultSections(0).retrieval)
  t.strictSame(bm25, { k1: 0.9, length: { pivot: 25 }, context: true })
})

t.test('banks without settings of their own share those of the file', async (t) => {
  const operator = operatorSettings()
  t.equal(operator.of('a'), operator.of('b'))
})
