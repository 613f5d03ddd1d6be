import t from 'tap'
import { percentile, summarize } from '../../bench/percentiles.js'
import { byCategory, byRole, figuresOf } from '../../bench/recall/figures.js'
import { outcome } from './outcomes.js'

await t.test('figures are averaged over a conversation\'s questions, then over conversations', async (t) => {
  const figures = figuresOf([
    outcome({ conversation: 'a', ranks: [1] }),
    outcome({ conversation: 'a', ranks: [1] }),
    outcome({ conversation: 'a', ranks: [1] }),
    outcome({ conversation: 'b', ranks: [Infinity] }),
  ])
  t.equal(figures.questions, 4)
  t.equal(figures.recall_at_10, 0.5)
  t.equal(figures.mrr, 0.5)
})

await t.test('sessions have their own figures, in both orders', async (t) => {
  const { sessions } = figuresOf([outcome({ sessionRanks: [5, 6], sessionScoreRanks: [1, 11] }), outcome({
    sessionRanks: [7, Infinity], sessionScoreRanks: [2, 3],
  })])
  t.strictSame(sessions?.by_first, { recall_at_5: 0.25, recall_at_10: 0.75, hit_at_5: 0.5, hit_at_10: 1, all_at_5: 0 })
  t.strictSame(sessions?.by_score, { recall_at_5: 0.75, recall_at_10: 0.75, hit_at_5: 1, hit_at_10: 1, all_at_5: 0.5 })
})

await t.test('isolated facts have no session figures', async (t) => {
  t.notOk('sessions' in figuresOf([outcome({ sessionRanks: [], sessionScoreRanks: [] })]))
})

await t.test('categories of LoCoMo are in the order of their numbers, and others in alphabetical order', async (t) => {
  const names = (categories: string[]) =>
    byCategory(categories.map((category) => outcome({ category }))).map(([name]) => name)
  t.strictSame(names(['single-hop', 'temporal', 'multi-hop', 'temporal']), ['multi-hop', 'temporal', 'single-hop'])
  t.strictSame(names(['temporal-reasoning', 'knowledge-update']), ['knowledge-update', 'temporal-reasoning'])
})

await t.test('the evidence of each speaker is a separate part', async (t) => {
  const parts = byRole([
    outcome({ ranks: [3, 11], roles: ['user', 'assistant'] }), outcome({ question: 1, roles: ['user'] }),
  ])
  t.strictSame(
    parts.map(([role, outcomes]) => [role, outcomes.map(({ ranks }) => ranks)]),
    [['assistant', [[11]]], ['user', [[3], [1]]]],
  )
  t.strictSame(byRole([outcome()]), [], 'data without roles have no such parts')
})

await t.test('a percentile is a value that was measured', async (t) => {
  const sorted = Array.from({ length: 100 }, (_, index) => index + 1)
  t.strictSame([percentile(sorted, 0.5), percentile(sorted, 0.95), percentile(sorted, 0.99), percentile(sorted, 1)], [
    50, 95, 99, 100,
  ])
  t.strictSame(summarize([30, 10, 20]), { p50: 20, p95: 30, p99: 30 })
})
