import { candidateKey, type ScoredCandidate } from './candidates.js'
import { STEP } from './ranking.js'

/**
 * Merges the rankings of a query's parts by taking their candidates in turn, so that every part is represented among
 * the first hits. Candidates that only the whole query found follow after them.
 * @param rankings the ranking of the whole query, then those of its parts, if it has any
 * @param minScore candidates below it are placed after all others: otherwise a part with poor results would lower the
 *   scores of the rest
 * @returns each memory once, with the strategy ranks of the whole query; scores descend strictly, except for ties at
 *   `minScore`
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
    // Below `minScore` the remaining candidates would be cut off.
    bound = Math.max(least, merged.at(-1)!.score - STEP)
  }
  const longest = Math.max(...parts.map(({ length }) => length))
  for (const least of minScore > 0 ? [minScore, 0] : [0]) {
    for (let place = 0; place < longest; place++) for (const part of parts) take(part[place], least)
    for (const candidate of whole!) take(candidate, least)
  }
  return merged
}
