import t from 'tap'
import { figuresOf } from '../../bench/recall/figures.js'
import { percentile, summarize } from '../../bench/percentiles.js'

await t.test('figures are averaged over a conversation\'s questions, then over conversations', async (t) => {
  const figures = figuresOf([
    { conversation: 'a', category: 1, ranks: [1] },
    { conversation: 'a', category: 1, ranks: [1] },
    { conversation: 'a', category: 1, ranks: [1] },
    { conversation: 'b', category: 1, ranks: [Infinity] },
  ])
  t.equal(figures.questions, 4)
  t.equal(figures.recall_at_10, 0.5)
  t.equal(figures.mrr, 0.5)
})

await t.test('a percentile is a value that was measured', async (t) => {
  const sorted = Array.from({ length: 100 }, (_, index) => index + 1)
  t.strictSame([percentile(sorted, 0.5), percentile(sorted, 0.95), percentile(sorted, 0.99), percentile(sorted, 1)], [50, 95, 99, 100])
  t.strictSame(summarize([30, 10, 20]), { p50: 20, p95: 30, p99: 30 })
})
