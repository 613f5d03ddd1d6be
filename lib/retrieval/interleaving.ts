import { candidateKey, type MergedCandidate, type RankedCandidate } from './candidates.js'
import { descendingScores } from './descending-scores.js'
import type { QueryRanking } from './ranking.js'

/**
 * Merges the ranking of the whole query and those of its parts by taking their candidates in turn, so that every part
 * is represented among the first hits. The whole query has the first turn: `Terms and Conditions` is one name, and a
 * memory that has both words is better than those that have one of them.
 * @param rankings the ranking of the whole query, then those of its parts, if it has any
 * @param minScore candidates below it are placed after all others: otherwise a part with poor results would lower the
 *   scores of the rest
 * @returns each memory once, with the place of the ranking that it was taken from; scores descend strictly, except for
 *   ties at `minScore`
 */
export function interleave (rankings: readonly QueryRanking[], minScore: number): RankedCandidate[] {
  if (rankings.length === 1) {
    const { candidates, scores, order } = rankings[0]!
    return order.map((index) => toRanked(candidates[index]!, scores[index]!))
  }
  const seen = new Set<string>()
  const taken: Array<{ candidate: MergedCandidate, ranking: number }> = []
  const scores: number[] = []
  const longest = Math.max(...rankings.map(({ order }) => order.length))
  for (const lowerBound of minScore > 0 ? [minScore, 0] : [0]) {
    for (let place = 0; place < longest; place++) {
      for (const [ranking, { candidates, scores: own, order }] of rankings.entries()) {
        const index = order[place]
        if (index === undefined || own[index]! < lowerBound) continue
        const candidate = candidates[index]!
        const key = candidateKey(candidate)
        if (seen.has(key)) continue
        seen.add(key)
        taken.push({ candidate, ranking })
        scores.push(own[index]!)
      }
    }
  }
  return descendingScores(scores, minScore).map((score, index) => {
    const { candidate, ranking } = taken[index]!
    return { ...toRanked(candidate, score), ranking }
  })
}

/** Written out without a spread, which is slower: this runs for every candidate of every recall. */
function toRanked (
  { bank, memory, passageCount, passages, scores: { semantic } }: MergedCandidate, rankScore: number,
): RankedCandidate {
  return { bank, memory, passageCount, passages, similarity: semantic, rankScore }
}
