import { mean } from '../percentiles.js'
import type { Outcome } from './measure.js'
import { hitAt, ndcgAt, recallAt, reciprocalRank } from './metrics.js'

export interface Figures {
  questions: number
  recall_at_5: number
  recall_at_10: number
  recall_at_25: number
  hit_at_10: number
  mrr: number
  ndcg_at_10: number
}

/**
 * Averaged over the questions of each conversation, then over the conversations, so that a conversation with many
 * questions has no more say than another. A conversation without a question counts for nothing.
 */
export function figuresOf (outcomes: readonly Outcome[]): Figures {
  const conversations = groupBy(outcomes, ({ conversation }) => conversation)
  const average = (metric: (ranks: readonly number[]) => number) =>
    mean([...conversations.values()].map((group) => mean(group.map(({ ranks }) => metric(ranks)))))
  return {
    questions: outcomes.length,
    recall_at_5: average((ranks) => recallAt(ranks, 5)),
    recall_at_10: average((ranks) => recallAt(ranks, 10)),
    recall_at_25: average((ranks) => recallAt(ranks, 25)),
    hit_at_10: average((ranks) => hitAt(ranks, 10)),
    mrr: average(reciprocalRank),
    ndcg_at_10: average((ranks) => ndcgAt(ranks, 10)),
  }
}

/** In order of first occurrence. */
export function groupBy<T, K> (items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
