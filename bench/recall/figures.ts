import { Type, type Static } from 'typebox'
import { mean } from '../percentiles.js'
import { TALK_CATEGORIES } from './categories.js'
import type { Outcome } from './measure.js'
import { allAt, hitAt, ndcgAt, recallAt, reciprocalRank } from './metrics.js'

const SessionFigures = Type.Object({
  recall_at_5: Type.Number(),
  recall_at_10: Type.Number(),
  hit_at_5: Type.Number(),
  hit_at_10: Type.Number(),
  all_at_5: Type.Number(),
})
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
 * questions weighs no more than another. A conversation without a question counts for nothing.
 */
export function figuresOf (outcomes: readonly Outcome[]): Figures {
  const average = (metric: (ranks: readonly number[]) => number) => macroMean(outcomes, ({ ranks }) => metric(ranks))
  const bySession = (ranksOf: (outcome: Outcome) => readonly number[]): SessionFigures => {
    const average = (metric: (ranks: readonly number[]) => number) =>
      macroMean(outcomes.filter(hasSessions), (outcome) => metric(ranksOf(outcome)))
    return {
      recall_at_5: average((ranks) => recallAt(ranks, 5)),
      recall_at_10: average((ranks) => recallAt(ranks, 10)),
      hit_at_5: average((ranks) => hitAt(ranks, 5)),
      hit_at_10: average((ranks) => hitAt(ranks, 10)),
      all_at_5: average((ranks) => allAt(ranks, 5)),
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
      sessions: {
        by_first: bySession(({ sessionRanks }) => sessionRanks),
        by_score: bySession(({ sessionScoreRanks }) => sessionScoreRanks),
      },
    }),
  }
}

/** False for questions on isolated facts. */
export function hasSessions ({ sessionRanks }: Outcome): boolean {
  return sessionRanks.length > 0
}

/** Outcomes by category, in the order of LoCoMo's numbers and then of the alphabet. */
export function byCategory (outcomes: readonly Outcome[]): Array<[string, Outcome[]]> {
  const placeOf = (category: string) => Object.values(TALK_CATEGORIES).indexOf(category)
  return [...groupBy(outcomes, ({ category }) => category)].sort(
    ([a], [b]) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1),
  )
}

/**
 * Outcomes by who said the evidence: a question whose evidence comes from both sides is in both groups, in each with
 * the evidence of that side.
 */
export function byRole (outcomes: readonly Outcome[]): Array<[string, Outcome[]]> {
  const roles = [...new Set(outcomes.flatMap((outcome) => outcome.roles))].sort()
  return roles.map((role) => [role, outcomes.filter((outcome) => outcome.roles.includes(role)).map((outcome) => ({
    ...outcome,
    ranks: outcome.ranks.filter((_, index) => outcome.roles[index] === role),
    roles: outcome.roles.filter((other) => other === role),
  }))])
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
