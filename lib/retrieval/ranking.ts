import { descendingOrder } from '../stores/top-k.js'
import { byMemoryId } from '../stores/vector-store.js'
import { withQuestionsOfAnswers } from './answer-meaning.js'
import { documentKey, type MergedCandidate } from './candidates.js'
import { descendingScores, SCORE_GRID } from './descending-scores.js'
import {
  areConversations, fuse, TYPICAL_COSINE, withLessContext, type FusionMethod, type Weights,
} from './fusion.js'
import { rankingInputs, weightedSums } from './scoring/inputs.js'
import type { AnalyzedQuery } from './query.js'
import type { RankingInput, ScorerWeights } from './scoring/scorers.js'
import type { Signals } from './scoring/signals.js'

/**
 * Score = 1 / (1 + e^-(SLOPE · sum - OFFSET)): near 0.8 for a memory that holds all words of the query and is clearly
 * the best match, below 0.1 for one that shares a single word with it.
 */
const SLOPE = 4
const OFFSET = 6.4

export interface RankingOptions {
  readonly weights: Weights
  readonly fusion: FusionMethod
  readonly scorers: ScorerWeights
  /**
   * The penalty on a candidate's sum for each better hit of the same document, when the query asks for several things.
   */
  readonly diversity: number
  /** As in `interleave`. */
  readonly minScore: number
}

/**
 * The ranking of one query, as lists: an object with a score is made for each candidate only when the rankings of a
 * recall are one.
 */
export interface QueryRanking {
  /** In no order. */
  readonly candidates: readonly MergedCandidate[]
  /** The score of each candidate over all strategies and scorers, within 0–1. */
  readonly scores: ArrayLike<number>
  /** The indices of the candidates, by descending score, ties by memory id. */
  readonly order: readonly number[]
}

/** The values between the stages of one ranking, for its explanation. */
export interface RankingObservation {
  readonly query: AnalyzedQuery
  readonly weights: Weights
  readonly fusion: FusionMethod
  /** In notes and articles without the scorers of conversations. */
  readonly scorers: ScorerWeights
  /**
   * Each memory once. In notes and articles the words of neighbours count less than the searches say; in a query about
   * an earlier answer, the meaning of an answer includes that of its question.
   */
  readonly merged: readonly MergedCandidate[]
  /** The sums of the strategies, in the order of `merged`, as `inputs` and `sums` are. */
  readonly fusionScores: readonly number[]
  readonly inputs: readonly RankingInput[]
  /** What is subtracted from each sum. */
  readonly typicalCosineSum: number
  /** The sums of strategies and scorers, from which the scores are made. */
  readonly sums: ArrayLike<number>
  readonly ranking: QueryRanking
}

/** How many of the best candidates are reordered for diversity. */
const DIVERSIFIED_CANDIDATES = 60

/**
 * @param signals of each candidate
 * @param observe receives the values between the stages
 */
export function rankQuery (
  found: readonly MergedCandidate[], query: AnalyzedQuery, signals: readonly Signals[],
  { weights, fusion, scorers: allScorers, diversity, minScore }: RankingOptions,
  observe?: (observation: RankingObservation) => void,
): QueryRanking {
  const inConversations = areConversations(found, signals)
  const hasCosines = found.some(({ scores: { semantic = 0 } }) => semantic > 0)
  let merged = found
  if (!inConversations) merged = found.map(withLessContext)
  else if (hasCosines) merged = withQuestionsOfAnswers(found, signals, query)
  const scorers = inConversations ? allScorers : { ...allScorers, details: 0 }
  const fusionScores = fuse(merged, weights, fusion)
  const inputs = rankingInputs(merged, signals, query)
  const scorerSums = weightedSums(inputs, query, scorers)
  // Subtracting what a typical cosine adds keeps scores comparable between recalls with and without the semantic
  // strategy.
  const typicalCosineSum = hasCosines ? weights.semantic * TYPICAL_COSINE : 0
  const sums = new Float64Array(merged.length)
  const scores = new Float64Array(merged.length)
  const indices: number[] = []
  for (let index = 0; index < merged.length; index++) {
    sums[index] = fusionScores[index]! + scorerSums[index]! - typicalCosineSum
    scores[index] = toScore(sums[index]!)
    indices.push(index)
  }
  const order = descendingOrder(indices, scores, (a, b) => byMemoryId(merged[a]!, merged[b]!))
  const byScore = { candidates: merged, scores, order }
  const ranking = query.asksForList && diversity > 0 && inConversations
    ? diversify(byScore, sums, diversity, minScore)
    : byScore
  observe?.({ query, weights, fusion, scorers, merged, fusionScores, inputs, typicalCosineSum, sums, ranking })
  return ranking
}

function toScore (sum: number): number {
  return Math.round(SCORE_GRID / (1 + Math.exp(OFFSET - SLOPE * sum))) / SCORE_GRID
}

/**
 * Reorders the candidates greedily: takes the best that is left, then lowers the sums of the others of its document,
 * because the answers to a query for several things are seldom in one document. This is maximal marginal relevance
 * (Carbonell and Goldstein 1998) with the document as the measure of similarity. Candidates below `minScore` are placed
 * after all others, so that none that reaches it falls below it.
 */
function diversify (
  { candidates, scores, order }: QueryRanking, sums: ArrayLike<number>, diversity: number, minScore: number,
): QueryRanking {
  const remaining = order.slice(0, DIVERSIFIED_CANDIDATES)
    .map((index) => ({ index, document: documentKey(candidates[index]!), sum: sums[index]! }))
  const chosen: number[] = []
  while (remaining.length > 0) {
    let best = 0
    for (let at = 1; at < remaining.length; at++) if (remaining[at]!.sum > remaining[best]!.sum) best = at
    const [taken] = remaining.splice(best, 1)
    chosen.push(taken!.index)
    for (const other of remaining) if (other.document === taken!.document) other.sum -= diversity
  }
  const all = [...chosen, ...order.slice(DIVERSIFIED_CANDIDATES)]
  const diversified = [
    ...all.filter((index) => scores[index]! >= minScore), ...all.filter((index) => scores[index]! < minScore),
  ]
  const lowered = new Float64Array(scores.length)
  descendingScores(diversified.map((index) => scores[index]!), minScore)
    .forEach((score, place) => { lowered[diversified[place]!] = score })
  return { candidates, scores: lowered, order: diversified }
}
