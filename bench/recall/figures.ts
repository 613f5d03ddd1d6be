import { Type, type Static } from 'typebox'
import { mean } from '../percentiles.js'
import type { Outcome } from './measure.js'
import { hitAt, ndcgAt, recallAt, reciprocalRank } from './metrics.js'

const SessionFigures = Type.Object({ recall_at_5: Type.Number(), recall_at_10: Type.Number(), hit_at_5: Type.Number() })
export type SessionFigures = Static<typeof SessionFigures>

/** All figures are shares within 0–1. */
export const Figures = Type.Object({
  questions: Type.Integer(),
  recall_at_5: Type.Number(),
  recall_at_10: Type.Number(),
  recall_at_25: Type.Number(),
  hit_at_10: Type.Number(),
  mrr: Type.Number(),
  ndcg_at_10: Type.Number(),
  /** Of sessions instead of turns, ranked in two ways; absent when the data have no sessions. */
  sessions: Type.Optional(Type.Object({ by_first: SessionFigures, by_score: SessionFigures })),
})
export type Figures = Static<typeof Figures>

/**
 * Averaged over the questions of each conversation, then over the conversations, so that a conversation with many
 * questions has no more say than another. A conversation without a question counts for nothing.
 */
export function figuresOf (outcomes: readonly Outcome[]): Figures {
  const average = (metric: (ranks: readonly number[]) => number) => macroMean(outcomes, ({ ranks }) => metric(ranks))
  const bySession = (ranksOf: (outcome: Outcome) => readonly number[]): SessionFigures => {
    const average = (metric: (ranks: readonly number[]) => number) => macroMean(outcomes.filter(hasSessions), (outcome) => metric(ranksOf(outcome)))
    return {
      recall_at_5: average((ranks) => recallAt(ranks, 5)),
      recall_at_10: average((ranks) => recallAt(ranks, 10)),
      hit_at_5: average((ranks) => hitAt(ranks, 5)),
    }
  }
  return {
    questions: outcomes.length,
    recall_at_5: average((ranks) => recallAt(ranks, 5)),
    recall_at_10: average((ranks) => recallAt(ranks, 10)),
    recall_at_25: average((ranks) => recallAt(ranks, 25)),
    hit_at_10: average((ranks) => hitAt(ranks, 10)),
    mrr: average(reciprocalRank),
    ndcg_at_10: average((ranks) => ndcgAt(ranks, 10)),
    ...(outcomes.some(hasSessions) && {
      sessions: { by_first: bySession(({ sessionRanks }) => sessionRanks), by_score: bySession(({ sessionScoreRanks }) => sessionScoreRanks) },
    }),
  }
}

/** False for questions on isolated facts. */
export function hasSessions ({ sessionRanks }: Outcome): boolean {
  return sessionRanks.length > 0
}

/** The mean over conversations of the means over their questions; NaN without a question. */
export function macroMean (outcomes: readonly Outcome[], valueOf: (outcome: Outcome) => number): number {
  const conversations = groupBy(outcomes, ({ conversation }) => conversation)
  return mean([...conversations.values()].map((group) => mean(group.map(valueOf))))
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
