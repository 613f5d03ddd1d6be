import type { Steps } from '../concurrency/steps.js'
import { sumSteps } from '../text/tokens.js'
import { descendingOrder } from '../stores/top-k.js'
import { byMemoryId } from '../stores/vector-store.js'
import { candidateKey, documentKey, type MergedCandidate, type ScoredCandidate } from './candidates.js'
import {
  areConversations, fuse, TYPICAL_COSINE, withLessContext, type FusionMethod, type Weights,
} from './fusion.js'
import { rankingInputSteps, scoreSteps, signalsSteps } from './scoring/inputs.js'
import type { AnalyzedQuery } from './query.js'
import type { RankingInput, ScorerWeights } from './scoring/scorers.js'
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
const SCORE_GRID = 1e9
/** The smallest difference between two scores. */
const MIN_SCORE_DIFFERENCE = 1 / SCORE_GRID

export interface RankingOptions {
  weights: Weights
  fusion: FusionMethod
  scorers: ScorerWeights
  /**
   * The penalty on a candidate's sum for each better hit of the same document, when the query asks for several things.
   */
  diversity: number
  /** As in `interleave`. */
  minScore?: number | undefined
}

/** The values between the stages of one ranking, for its explanation. */
export interface RankingObservation {
  readonly query: AnalyzedQuery
  readonly weights: Weights
  readonly fusion: FusionMethod
  /** In notes and articles without the scorers of conversations. */
  readonly scorers: ScorerWeights
  /** Each memory once. In notes and articles the words of neighbours count less than the searches say. */
  readonly merged: readonly MergedCandidate[]
  /** The sums of the strategies, in the order of `merged`, as `inputs` and `sums` are. */
  readonly fused: readonly number[]
  readonly inputs: readonly RankingInput[]
  /** What is subtracted from each sum. */
  readonly typicalCosineSum: number
  /** The sums of strategies and scorers. */
  readonly sums: ArrayLike<number>
  /** The result. */
  readonly ranked: readonly ScoredCandidate[]
}

/** How many of the best candidates are reordered for diversity. */
const DIVERSIFIED_CANDIDATES = 60

/**
 * @param observe receives the values between the stages
 * @returns the candidates with scores within 0–1, by descending score, ties by memory id
 */
export function * rankSteps (
  found: readonly MergedCandidate[], query: AnalyzedQuery, reader: SignalReader,
  { weights, fusion, scorers: allScorers, diversity, minScore }: RankingOptions,
  observe?: (observation: RankingObservation) => void,
): Steps<ScoredCandidate[]> {
  const signals = yield * signalsSteps(found, reader)
  const areTurns = areConversations(found, signals)
  const candidates = areTurns ? found : found.map(withLessContext)
  const scorers = areTurns ? allScorers : { ...allScorers, details: 0 }
  const fused = fuse(candidates, weights, fusion)
  const inputs = yield * rankingInputSteps(candidates, signals, query)
  const sums = yield * scoreSteps(inputs, query, scorers)
  // Subtracting what a typical cosine adds keeps scores comparable between recalls with and without the semantic
  // strategy.
  const hasCosines = candidates.some(({ scores: { semantic = 0 } }) => semantic > 0)
  const typicalCosineSum = hasCosines ? weights.semantic * TYPICAL_COSINE : 0
  for (let index = 0; index < sums.length; index++) sums[index] = fused[index]! + sums[index]! - typicalCosineSum
  const scores = sums.map(toScore)
  const order = descendingOrder([...scores.keys()], scores, (a, b) => byMemoryId(candidates[a]!, candidates[b]!))
  const scored = order.map((index) => toScored(found[index]!, scores[index]!))
  const ranked = query.asksForList && diversity > 0 && areTurns
    ? descending(diversify(scored, order.map((index) => sums[index]!), diversity), minScore)
    : scored
  observe?.({ query, weights, fusion, scorers, merged: candidates, fused, inputs, typicalCosineSum, sums, ranked })
  return ranked
}

/** Written out without a spread, which is slower: this runs for every candidate of every recall. */
function toScored (
  { bank, memory, scores, passageCount, passages }: MergedCandidate, score: number,
): ScoredCandidate {
  return { bank, memory, scores, passageCount, passages, score }
}

function toScore (sum: number): number {
  return Math.round(SCORE_GRID / (1 + Math.exp(OFFSET - SLOPE * sum))) / SCORE_GRID
}

/**
 * Reorders the candidates greedily: takes the best that is left, then lowers the sums of the others of its document,
 * because the answers to a query for several things are seldom in one document. This is maximal marginal relevance
 * (Carbonell and Goldstein 1998) with the document as the measure of similarity.
 */
function diversify (
  candidates: readonly ScoredCandidate[], sums: readonly number[], diversity: number,
): ScoredCandidate[] {
  const remaining = candidates.slice(0, DIVERSIFIED_CANDIDATES)
    .map((candidate, index) => ({ candidate, document: documentKey(candidate), sum: sums[index]! }))
  const chosen: ScoredCandidate[] = []
  while (remaining.length > 0) {
    let best = 0
    for (let at = 1; at < remaining.length; at++) if (remaining[at]!.sum > remaining[best]!.sum) best = at
    const [taken] = remaining.splice(best, 1)
    chosen.push(taken!.candidate)
    for (const other of remaining) if (other.document === taken!.document) other.sum -= diversity
  }
  return [...chosen, ...candidates.slice(DIVERSIFIED_CANDIDATES)]
}

/**
 * Lowers scores where the order needs it, so that they descend strictly, because ties are ordered by id. Candidates
 * below `minScore` are placed after all others, so that none that reaches it falls below it.
 * @param ceiling the highest score
 */
function descending (candidates: readonly ScoredCandidate[], minScore = 0, ceiling = 1): ScoredCandidate[] {
  return [
    ...candidates.filter(({ score }) => score >= minScore), ...candidates.filter(({ score }) => score < minScore),
  ].map((candidate) => {
    const score = Math.min(ceiling, candidate.score)
    ceiling = Math.max(candidate.score >= minScore ? minScore : 0, score - MIN_SCORE_DIFFERENCE)
    return { ...candidate, score }
  })
}

/**
 * Appends the second list to the first. Scores of the second are lowered where needed, so that they stay below the last
 * of the first.
 */
export function appendBelow (first: readonly ScoredCandidate[], rest: readonly ScoredCandidate[]): ScoredCandidate[] {
  const last = first.at(-1)
  const ceiling = last === undefined ? 1 : Math.max(0, last.score - MIN_SCORE_DIFFERENCE)
  return [...first, ...descending(rest, 0, ceiling)]
}

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
export function interleave (
  rankings: ReadonlyArray<readonly ScoredCandidate[]>, minScore = 0,
): readonly ScoredCandidate[] {
  const [main] = rankings
  if (rankings.length === 1) return main!
  const taken = new Set<string>()
  const merged: ScoredCandidate[] = []
  const take = (candidate: ScoredCandidate | undefined, ranking: number, lowerBound: number) => {
    if (candidate === undefined || candidate.score < lowerBound) return
    const key = candidateKey(candidate)
    if (taken.has(key)) return
    taken.add(key)
    merged.push({ ...candidate, ranking })
  }
  const longest = Math.max(...rankings.map(({ length }) => length))
  for (const lowerBound of minScore > 0 ? [minScore, 0] : [0]) {
    for (let place = 0; place < longest; place++) {
      for (const [index, ranking] of rankings.entries()) take(ranking[place], index, lowerBound)
    }
  }
  return descending(merged, minScore)
}

/** The bounds that cut a ranking to the hits. */
interface TruncationBounds {
  limit: number
  minScore?: number | undefined
  /** The most tokens of all hits together. */
  maxTokens?: number | undefined
}

interface TruncatedRanking {
  hits: ScoredCandidate[]
  /** Whether `maxTokens` ended the list. */
  truncated: boolean
  tokens: number
}

/** Counts the tokens that `truncate` needs, then truncates. */
export function * truncateSteps (
  candidates: readonly ScoredCandidate[], bounds: TruncationBounds,
): Steps<TruncatedRanking> {
  yield * sumSteps(candidates.slice(0, bounds.limit).map(({ memory }) => memory.tokens), bounds.maxTokens)
  return truncate(candidates, bounds)
}

/** Takes the first candidates that are within the bounds of the request. */
export function truncate (
  candidates: readonly ScoredCandidate[], { limit, minScore = 0, maxTokens = Infinity }: TruncationBounds,
): TruncatedRanking {
  const hits: ScoredCandidate[] = []
  let tokens = 0
  for (const candidate of candidates) {
    if (hits.length >= limit || candidate.score < minScore) break
    const { value } = candidate.memory.tokens
    if (tokens + value > maxTokens) return { hits, truncated: true, tokens }
    tokens += value
    hits.push(candidate)
  }
  return { hits, truncated: false, tokens }
}
