import { summarize, type LatencySummary } from '../percentiles.js'
import { formatTable } from '../table.js'
import { figuresOf, groupBy, type Figures } from './figures.js'
import type { Measurement } from './measure.js'

const CATEGORIES: Record<number, string> = { 1: 'multi-hop', 2: 'temporal', 3: 'open-domain', 4: 'single-hop' }

export interface Report {
  bench: 'recall'
  data: string
  turns: number
  repeats: number
  overall: Figures
  by_category: Record<string, Figures>
  by_conversation: Record<string, Figures>
  latency_ms: { retain: LatencySummary, recall: LatencySummary }
}

/** @param data name of what was measured on */
export function makeReport (data: string, { outcomes, turns, repeats, retainMs, recallMs }: Measurement): Report {
  const categories = [...groupBy(outcomes, ({ category }) => category)].sort(([a], [b]) => a - b)
  const conversations = [...groupBy(outcomes, ({ conversation }) => conversation)]
  return {
    bench: 'recall',
    data,
    turns,
    repeats,
    overall: figuresOf(outcomes),
    by_category: Object.fromEntries(categories.map(([category, group]) => [CATEGORIES[category] ?? String(category), figuresOf(group)])),
    by_conversation: Object.fromEntries(conversations.map(([conversation, group]) => [conversation, figuresOf(group)])),
    latency_ms: { retain: summarize(retainMs), recall: summarize(recallMs) },
  }
}

/** The report for people. */
export function formatReport ({ data, turns, repeats, overall, by_category: byCategory, by_conversation: byConversation, latency_ms: latency }: Report): string {
  const head = ['', 'questions', 'recall@5', 'recall@10', 'recall@25', 'hit@10', 'MRR', 'nDCG@10']
  return [
    `${data}: ${turns} turns${repeats > 0 ? `, ${repeats} of them exact repeats` : ''}`,
    formatTable([
      head,
      row('overall', overall),
      ...Object.entries(byCategory).map(([name, figures]) => row(name, figures)),
      ...Object.entries(byConversation).map(([name, figures]) => row(name, figures)),
    ]),
    formatTable([
      ['latency, ms', 'p50', 'p95', 'p99'],
      ...Object.entries(latency).map(([name, { p50, p95, p99 }]) => [name, ...[p50, p95, p99].map((value) => value.toFixed(2))]),
    ]),
  ].join('\n\n')
}

function row (name: string, figures: Figures): string[] {
  const { questions, recall_at_5: r5, recall_at_10: r10, recall_at_25: r25, hit_at_10: hit, mrr, ndcg_at_10: ndcg } = figures
  return [name, String(questions), ...[r5, r10, r25, hit, mrr, ndcg].map((value) => value.toFixed(3))]
}
