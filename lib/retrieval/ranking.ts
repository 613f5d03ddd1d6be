import { atOnce, type Steps } from '../concurrency/steps.js'
import { byScore, documentKey, type MergedCandidate, type ScoredCandidate, type Strategy } from './candidates.js'
import { fuse, fuseApart, USUAL_COSINE, type FusionMethod, type Weights } from './fusion.js'
import { rankingInputSteps, scoreBreakdown, scoreSteps } from './scoring/inputs.js'
import type { AnalyzedQuery } from './query.js'
import { SCORER_NAMES, type ScorerName, type ScorerWeights } from './scoring/scorers.js'
import type { SignalReader } from './scoring/signals.js'

/**
 * Score = 1 / (1 + e^-(SLOPE · sum - OFFSET)): near 0.8 for a memory that holds all words of the query and is clearly
 * the best match, below 0.1 for one that shares a single word with it.
 */
const SLOPE = 4
const OFFSET = 6.4
/**
 * Scores are rounded to this grid, so that equal memories tie whatever the order in which a store adds floating-point
 * numbers.
 */
const GRID = 1e9
/** The smallest difference between two scores. */
export const STEP = 1 / GRID

export interface RankingOptions {
  weights: Weights
  fusion: FusionMethod
  scorers: ScorerWeights
  /**
   * The penalty on a candidate's sum for each better hit of the same document, when the query asks for several things.
   */
  diversity: number
  /** Whether candidates carry the contribution of each scorer. */
  explain: boolean
}

/** How many of the best candidates are reordered for diversity. */
const SPREAD = 60

/** @returns the candidates with scores within 0–1, by descending score, ties by memory id */
export function rankCandidates (candidates: readonly MergedCandidate[], query: AnalyzedQuery, signals: SignalReader, options: RankingOptions): ScoredCandidate[] {
  return atOnce(rankSteps(candidates, query, signals, options))
}

/** `rankCandidates` in steps. */
export function * rankSteps (
  candidates: readonly MergedCandidate[], query: AnalyzedQuery, signals: SignalReader, { weights, fusion, scorers, diversity, explain }: RankingOptions,
): Steps<ScoredCandidate[]> {
  const fused = fuse(candidates, weights, fusion)
  const inputs = yield * rankingInputSteps(candidates, query, signals)
  const sums = yield * scoreSteps(inputs, query, scorers)
  // Subtracting what a typical cosine adds keeps scores comparable between recalls with and without the semantic
  // strategy.
  const usual = candidates.some(({ scores }) => scores.semantic !== undefined) ? weights.semantic * USUAL_COSINE : 0
  for (let index = 0; index < sums.length; index++) sums[index] = fused[index]! + sums[index]! - usual
  const scored = candidates.map((candidate, index) => toScored(candidate, toScore(sums[index]!)))
  if (explain) {
    const apart = fuseApart(candidates, weights, fusion)
    for (const [index, input] of inputs.entries()) {
      yield
      scored[index] = {
        ...scored[index]!,
        signals: contributions(scoreBreakdown(input, query), scorers),
        breakdown: { contributions: byStrategy(apart, index, usual), sum: sums[index]! },
      }
    }
  }
  if (!query.asksSeveral || diversity === 0) return scored.sort(byScore)
  const sumOf = new Map(scored.map((candidate, index) => [candidate, sums[index]!]))
  return diversify(scored.sort(byScore), sumOf, diversity)
}

/** Written out without a spread, which is slower: this runs for every candidate of every recall. */
function toScored ({ bank, memory, scores, passageCount, passages, strategies }: MergedCandidate, score: number): ScoredCandidate {
  return { bank, memory, scores, passageCount, passages, strategies, score }
}

function toScore (sum: number): number {
  return Math.round(GRID / (1 + Math.exp(OFFSET - SLOPE * sum))) / GRID
}

/**
 * Reorders the candidates greedily: takes the best that is left, then lowers the others of its document, because the
 * answers to a query for several things are seldom in one document. This is maximal marginal relevance (Carbonell and
 * Goldstein 1998) with the document as the measure of similarity.
 */
function diversify (candidates: readonly ScoredCandidate[], sums: ReadonlyMap<ScoredCandidate, number>, diversity: number): ScoredCandidate[] {
  const left = candidates.slice(0, SPREAD).map((candidate) => ({ candidate, document: documentKey(candidate), sum: sums.get(candidate)! }))
  const chosen: ScoredCandidate[] = []
  while (left.length > 0) {
    let best = 0
    for (let at = 1; at < left.length; at++) if (left[at]!.sum > left[best]!.sum) best = at
    const [taken] = left.splice(best, 1)
    // Strictly descending, because ties are ordered by id.
    const score = Math.min(toScore(taken!.sum), chosen.length === 0 ? 1 : Math.max(0, chosen.at(-1)!.score - STEP))
    chosen.push({ ...taken!.candidate, score })
    for (const other of left) if (other.document === taken!.document) other.sum -= diversity
  }
  return appendBelow(chosen, candidates.slice(SPREAD))
}

/**
 * Appends the second list to the first. Scores of the second are lowered where needed, so that they stay below the last
 * of the first.
 */
export function appendBelow (first: readonly ScoredCandidate[], rest: readonly ScoredCandidate[]): ScoredCandidate[] {
  let bound = first.at(-1)?.score ?? Infinity
  const lowered = rest.map((candidate) => {
    // Strictly descending, as above.
    bound = Math.min(candidate.score, Math.max(0, bound - STEP))
    return { ...candidate, score: bound }
  })
  return [...first, ...lowered]
}

/** What each strategy added to the sum of a candidate, without those that add nothing to any. */
function byStrategy (
  apart: ReadonlyMap<Strategy, readonly number[]>, index: number, usual: number,
): Partial<Record<Strategy, number>> {
  return Object.fromEntries([...apart].map(([strategy, added]) => (
    [strategy, added[index]! - (strategy === 'semantic' ? usual : 0)]
  )))
}

/** The weighted contribution of each scorer, without those that are 0. */
function contributions (given: Record<ScorerName, number>, weights: ScorerWeights): Partial<Record<ScorerName, number>> {
  return Object.fromEntries(SCORER_NAMES.flatMap((name) => given[name] * weights[name] === 0 ? [] : [[name, given[name] * weights[name]]]))
}
