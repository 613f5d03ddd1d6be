import { candidateKey, type ScoredCandidate } from './candidates.js'
import { STEP } from './ranking.js'

/**
 * One ranking of those of a question's parts, which take turns, so that every part has its share of the first hits. What only the question as a
 * whole found comes behind.
 * @param rankings that of the whole question, then those of its parts, if it has any
 * @param minScore what scores less takes no turn: a part that finds nothing good must not press down the scores of another that does
 * @returns each memory once, with the ranks that the whole question gave it, scores falling without ties but at `minScore`
 */
export function interleave ([whole, ...parts]: ReadonlyArray<readonly ScoredCandidate[]>, minScore = 0): readonly ScoredCandidate[] {
  if (parts.length === 0) return whole!
  const known = new Map(whole!.map((candidate) => [candidateKey(candidate), candidate]))
  const taken = new Set<string>()
  const merged: ScoredCandidate[] = []
  let bound = 1
  const take = (candidate: ScoredCandidate | undefined, least: number) => {
    if (candidate === undefined || candidate.score < least) return
    const key = candidateKey(candidate)
    if (taken.has(key)) return
    taken.add(key)
    merged.push({ ...candidate, strategies: known.get(key)?.strategies ?? {}, score: Math.min(bound, candidate.score) })
    // Not below what it takes to have a turn: that would cut off the rest.
    bound = Math.max(least, merged.at(-1)!.score - STEP)
  }
  const longest = Math.max(...parts.map(({ length }) => length))
  for (const least of minScore > 0 ? [minScore, 0] : [0]) {
    for (let place = 0; place < longest; place++) for (const part of parts) take(part[place], least)
    for (const candidate of whole!) take(candidate, least)
  }
  return merged
}
