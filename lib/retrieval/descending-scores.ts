/**
 * Scores are rounded to this grid, so that equal memories tie whatever the order in which a store adds floating-point
 * numbers.
 */
export const SCORE_GRID = 1e9
/** The smallest difference between two scores. */
export const MIN_SCORE_DIFFERENCE = 1 / SCORE_GRID

/**
 * Lowers scores where the order needs it, so that they descend strictly, because ties are ordered by id. None that
 * reaches `minScore` falls below it.
 * @param scores in the order of their candidates; those below `minScore` are after all others
 * @param ceiling the highest score
 */
export function descendingScores (scores: readonly number[], minScore: number, ceiling = 1): number[] {
  return scores.map((given) => {
    const score = Math.min(ceiling, given)
    ceiling = Math.max(given >= minScore ? minScore : 0, score - MIN_SCORE_DIFFERENCE)
    return score
  })
}
