import { atOnce, type Steps } from '../concurrency/steps.js'
import { fuse, USUAL_COSINE, type FusedCandidate, type FusionMethod, type Weights } from './fusion.js'
import type { Question } from './scoring/question.js'
import { documentKey, scoreBreakdown, scoreSteps, rankingInputSteps } from './scoring/ranking.js'
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
  /** What each hit of the same document before it takes from a candidate's sum, when the question asks for several things. */
  diversity: number
  /** Whether candidates tell what each scorer added. */
  explain: boolean
}

/** How many of the best are put in an order that spreads over documents. */
const SPREAD = 60

/** @returns the candidates with their scores, within 0–1, falling, ties by memory id */
export function rankCandidates (candidates: FusedCandidate[], question: Question, signals: SignalReader, options: RankingOptions): FusedCandidate[] {
  return atOnce(rankSteps(candidates, question, signals, options))
}

/** rankCandidates in steps. */
export function * rankSteps (
  candidates: FusedCandidate[], question: Question, signals: SignalReader, { weights, fusion, scorers, diversity, explain }: RankingOptions,
): Steps<FusedCandidate[]> {
  const fused = fuse(candidates, weights, fusion)
  const judged = yield * rankingInputSteps(candidates, question, signals)
  // A score means the same with a second strategy as without.
  const usual = candidates.some(({ scores }) => scores.semantic !== undefined) ? weights.semantic * USUAL_COSINE : 0
  const sums = yield * scoreSteps(judged, question, scorers)
  for (let index = 0; index < sums.length; index++) {
    sums[index] = fused[index]! + sums[index]! - usual
    candidates[index]!.score = toScore(sums[index]!)
  }
  if (explain) {
    for (const [index, prospect] of judged.entries()) {
      yield
      candidates[index]!.signals = contributions(scoreBreakdown(prospect, question), scorers)
    }
  }
  if (!question.asksSeveral || diversity === 0) return candidates.sort(byScore)
  const sumOf = new Map(candidates.map((candidate, index) => [candidate, sums[index]!]))
  return spread(candidates.sort(byScore), sumOf, diversity)
}

function toScore (sum: number): number {
  return Math.round(GRID / (1 + Math.exp(OFFSET - SLOPE * sum))) / GRID
}

/**
 * Takes one candidate after the other, each time the best of those that are left, where every one of a document makes its others worse: the answers
 * to a question for several things are seldom told in one place. Like maximal marginal relevance (Carbonell and Goldstein 1998), with the
 * document for the likeness.
 */
function spread (candidates: readonly FusedCandidate[], sums: ReadonlyMap<FusedCandidate, number>, diversity: number): FusedCandidate[] {
  const left = candidates.slice(0, SPREAD).map((candidate) => ({ candidate, document: documentKey(candidate), sum: sums.get(candidate)! }))
  const spread: FusedCandidate[] = []
  while (left.length > 0) {
    let best = 0
    for (let at = 1; at < left.length; at++) if (left[at]!.sum > left[best]!.sum) best = at
    const [taken] = left.splice(best, 1)
    // Strictly falling: ties would have to stand in the order of their ids.
    taken!.candidate.score = Math.min(toScore(taken!.sum), spread.length === 0 ? 1 : Math.max(0, spread.at(-1)!.score - STEP))
    spread.push(taken!.candidate)
    for (const other of left) if (other.document === taken!.document) other.sum -= diversity
  }
  return behind(spread, candidates.slice(SPREAD))
}

/** The one list behind the other, in their orders; scores of the second are pressed under the last of the first where they are not below it. */
export function behind (first: readonly FusedCandidate[], rest: readonly FusedCandidate[]): FusedCandidate[] {
  let bound = first.at(-1)?.score ?? Infinity
  const pressed = rest.map((candidate) => {
    // Strictly falling, as above.
    bound = Math.min(candidate.score, Math.max(0, bound - STEP))
    return { ...candidate, score: bound }
  })
  return [...first, ...pressed]
}

export function byScore (a: FusedCandidate, b: FusedCandidate): number {
  return b.score - a.score || (a.memory.memoryId < b.memory.memoryId ? -1 : 1)
}

/** What each scorer that said anything added. */
function contributions (given: Record<ScorerName, number>, weights: ScorerWeights): Partial<Record<ScorerName, number>> {
  return Object.fromEntries(SCORER_NAMES.flatMap((name) => given[name] * weights[name] === 0 ? [] : [[name, given[name] * weights[name]]]))
}
