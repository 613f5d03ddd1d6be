import { atOnce, type Steps } from '../concurrency/steps.js'
import { byScore, documentKey, type MergedCandidate, type ScoredCandidate } from './candidates.js'
import { fuse, USUAL_COSINE, type FusionMethod, type Weights } from './fusion.js'
import { rankingInputSteps, scoreBreakdown, scoreSteps } from './scoring/inputs.js'
import type { AnalyzedQuery } from './query.js'
import { SCORER_NAMES, type ScorerName, type ScorerWeights } from './scoring/scorers.js'
import type { SignalReader } from './scoring/signals.js'

/**
 * Score = 1 / (1 + e^-(SLOPE · sum - OFFSET)): near 0.8 for a memory that says all words of the query and stands out, under 0.1 for one that
 * shares a word with it.
 */
const SLOPE = 4
const OFFSET = 6.4
/** Scores are rounded to it, so that memories of equal worth tie whatever the order in which a store summed. */
const GRID = 1e9
/** The least step between two scores. */
export const STEP = 1 / GRID

export interface RankingOptions {
  weights: Weights
  fusion: FusionMethod
  scorers: ScorerWeights
  /** What each hit of the same document before it takes from a candidate's sum, when the query asks for several things. */
  diversity: number
  /** Whether candidates tell what each scorer added. */
  explain: boolean
}

/** How many of the best are put in an order that spreads over documents. */
const SPREAD = 60

/** @returns the candidates with their scores, within 0–1, falling, ties by memory id */
export function rankCandidates (candidates: readonly MergedCandidate[], query: AnalyzedQuery, signals: SignalReader, options: RankingOptions): ScoredCandidate[] {
  return atOnce(rankSteps(candidates, query, signals, options))
}

/** rankCandidates in steps. */
export function * rankSteps (
  candidates: readonly MergedCandidate[], query: AnalyzedQuery, signals: SignalReader, { weights, fusion, scorers, diversity, explain }: RankingOptions,
): Steps<ScoredCandidate[]> {
  const fused = fuse(candidates, weights, fusion)
  const inputs = yield * rankingInputSteps(candidates, query, signals)
  const sums = yield * scoreSteps(inputs, query, scorers)
  // A score means the same with a second strategy as without.
  const usual = candidates.some(({ scores }) => scores.semantic !== undefined) ? weights.semantic * USUAL_COSINE : 0
  for (let index = 0; index < sums.length; index++) sums[index] = fused[index]! + sums[index]! - usual
  const scored = candidates.map((candidate, index) => toScored(candidate, toScore(sums[index]!)))
  if (explain) {
    for (const [index, input] of inputs.entries()) {
      yield
      scored[index] = { ...scored[index]!, signals: contributions(scoreBreakdown(input, query), scorers) }
    }
  }
  if (!query.asksSeveral || diversity === 0) return scored.sort(byScore)
  const sumOf = new Map(scored.map((candidate, index) => [candidate, sums[index]!]))
  return diversify(scored.sort(byScore), sumOf, diversity)
}

/** Written out, not spread: this runs for every candidate of every recall. */
function toScored ({ bank, memory, scores, passageCount, passages, strategies }: MergedCandidate, score: number): ScoredCandidate {
  return { bank, memory, scores, passageCount, passages, strategies, score }
}

function toScore (sum: number): number {
  return Math.round(GRID / (1 + Math.exp(OFFSET - SLOPE * sum))) / GRID
}

/**
 * Takes one candidate after the other, each time the best of those that are left, where every candidate of a document lowers the others of
 * that document: the answers to a query for several things are seldom told in one place. Like maximal marginal relevance (Carbonell
 * and Goldstein 1998), with the document for the likeness.
 */
function diversify (candidates: readonly ScoredCandidate[], sums: ReadonlyMap<ScoredCandidate, number>, diversity: number): ScoredCandidate[] {
  const left = candidates.slice(0, SPREAD).map((candidate) => ({ candidate, document: documentKey(candidate), sum: sums.get(candidate)! }))
  const chosen: ScoredCandidate[] = []
  while (left.length > 0) {
    let best = 0
    for (let at = 1; at < left.length; at++) if (left[at]!.sum > left[best]!.sum) best = at
    const [taken] = left.splice(best, 1)
    // Strictly falling: ties would have to stand in the order of their ids.
    const score = Math.min(toScore(taken!.sum), chosen.length === 0 ? 1 : Math.max(0, chosen.at(-1)!.score - STEP))
    chosen.push({ ...taken!.candidate, score })
    for (const other of left) if (other.document === taken!.document) other.sum -= diversity
  }
  return appendBelow(chosen, candidates.slice(SPREAD))
}

/** The second list after the first, both in their order; scores of the second are lowered where they are not below the last of the first. */
export function appendBelow (first: readonly ScoredCandidate[], rest: readonly ScoredCandidate[]): ScoredCandidate[] {
  let bound = first.at(-1)?.score ?? Infinity
  const lowered = rest.map((candidate) => {
    // Strictly falling, as above.
    bound = Math.min(candidate.score, Math.max(0, bound - STEP))
    return { ...candidate, score: bound }
  })
  return [...first, ...lowered]
}

/** What each scorer that said anything added. */
function contributions (given: Record<ScorerName, number>, weights: ScorerWeights): Partial<Record<ScorerName, number>> {
  return Object.fromEntries(SCORER_NAMES.flatMap((name) => given[name] * weights[name] === 0 ? [] : [[name, given[name] * weights[name]]]))
}
