import { withTimeLimit } from '../base/deadline.js'
import type { Reranker } from '../models/reranker.js'
import { descendingOrder } from '../stores/top-k.js'
import { byMemoryId } from '../stores/vector-store.js'
import {
  placesByDocument, documentKey, areConversations, fuse, TYPICAL_COSINE, withLessContext, candidateKey, STRATEGIES,
  type MergedCandidate, type FusionMethod, type Weights, type RankedCandidate, type Strategy,
} from './candidates.js'
import type { AnalyzedQuery } from './query.js'
import {
  rankingInputs, weightedSums, scoreBreakdown, SCORER_NAMES, type RankingInput, type ScorerWeights, type ScorerName,
} from './scoring/scorers.js'
import type { Signals } from './scoring/signals.js'

/**
 * The share of the weights of words and meaning that remains in a query which names only times: so little that a memory
 * with all of its words does not rank before one of the time if it is a day away from it.
 */
const CONTENT_SHARE = 0.1
/** The share of its weight that the semantic strategy has in questions about an earlier answer of the assistant. */
const EARLIER_ANSWER_SHARE = 0.5
/** The scorers that compare words or meaning. */
const CONTENT_SCORERS = [
  'match', 'phrase', 'document', 'document_best', 'document_meaning', 'question_meaning',
] as const

/**
 * The weights for a query. If it names only times, its words and their meaning say little: a memory that has the word
 * `yesterday` means the day before it was written. A question about an earlier answer is closer in meaning to the
 * question that was asked then than to the answer.
 */
export function weightsForQuery (
  weights: Weights, query: Pick<AnalyzedQuery, 'soughtPeriods' | 'asksForAssistantTurn' | 'asksForMethod'>,
): Weights {
  const { lexical, semantic } = weights
  if (query.soughtPeriods.length > 0) return { lexical: lexical * CONTENT_SHARE, semantic: semantic * CONTENT_SHARE }
  if (!query.asksForAssistantTurn && !query.asksForMethod) return weights
  return { lexical, semantic: semantic * EARLIER_ANSWER_SHARE }
}

/** The weights of the scorers, lower for those of the content when the query asks for the memories of a period. */
export function scorersForQuery (
  scorers: ScorerWeights, { soughtPeriods }: Pick<AnalyzedQuery, 'soughtPeriods'>,
): ScorerWeights {
  if (soughtPeriods.length === 0) return scorers
  const scaled = CONTENT_SCORERS.map((name) => [name, scorers[name] * CONTENT_SHARE] as const)
  return { ...scorers, ...Object.fromEntries(scaled) }
}

/** The share of the question in the meaning of an answer. */
const QUESTION_SHARE = 0.4

/**
 * For a query about an earlier answer of an assistant: the candidates with the cosines of its turns moved towards that
 * of the user's turn that precedes each among the candidates of its document. Such a query resembles the question that
 * was asked then, and the answer to it is sought.
 */
function withQuestionsOfAnswers (
  candidates: readonly MergedCandidate[], allSignals: readonly Signals[],
  { asksForAssistantTurn, asksForMethod }: Pick<AnalyzedQuery, 'asksForAssistantTurn' | 'asksForMethod'>,
): readonly MergedCandidate[] {
  if (!asksForAssistantTurn && !asksForMethod) return candidates
  const changed = [...candidates]
  for (const places of placesByDocument(candidates)) {
    for (let at = 1; at < places.length; at++) {
      const place = places[at]!
      const before = places[at - 1]!
      if (allSignals[place]!.role !== 'assistant' || allSignals[before]!.role !== 'user') continue
      const candidate = candidates[place]!
      const { semantic } = candidate.scores
      const ofQuestion = candidates[before]!.scores.semantic
      if (semantic === undefined || ofQuestion === undefined) continue
      const mixed = semantic + QUESTION_SHARE * (ofQuestion - semantic)
      changed[place] = { ...candidate, scores: { ...candidate.scores, semantic: mixed } }
    }
  }
  return changed
}

/**
 * Scores are rounded to this grid, so that equal memories tie whatever the order in which a store adds floating-point
 * numbers.
 */
const SCORE_GRID = 1e9
/** The smallest difference between two scores. */
const MIN_SCORE_DIFFERENCE = 1 / SCORE_GRID

/**
 * Lowers scores where the order needs it, so that they descend strictly, because ties are ordered by id. None that
 * reaches `minScore` falls below it.
 * @param scores in the order of their candidates; those below `minScore` are after all others
 * @param ceiling the highest score
 */
function descendingScores (scores: readonly number[], minScore: number, ceiling = 1): number[] {
  return scores.map((given) => {
    const score = Math.min(ceiling, given)
    ceiling = Math.max(given >= minScore ? minScore : 0, score - MIN_SCORE_DIFFERENCE)
    return score
  })
}

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

/** The order of one query, as lists: an object is made for a candidate only when the rankings of a recall are one. */
export interface QueryOrder {
  /**
   * Each memory once, in no order. In notes and articles the words of neighbours count less than the searches say; in a
   * query about an earlier answer, the meaning of an answer includes that of its question.
   */
  readonly candidates: readonly MergedCandidate[]
  /** The score of each candidate over all strategies and scorers, within 0–1. */
  readonly scores: ArrayLike<number>
  /** The indices of the candidates, by descending score, ties by memory id. */
  readonly order: readonly number[]
}

/** The ranking of one query, with the values that explain it. */
export interface QueryRanking extends QueryOrder {
  readonly query: AnalyzedQuery
  readonly weights: Weights
  readonly fusion: FusionMethod
  /** In notes and articles without the scorers of conversations. */
  readonly scorers: ScorerWeights
  /** The sums of the strategies, in the order of `candidates`, as `inputs` and `sums` are. */
  readonly fusionScores: readonly number[]
  readonly inputs: readonly RankingInput[]
  /** What is subtracted from each sum. */
  readonly typicalCosineSum: number
  /** The sums of strategies and scorers, from which the scores are made. */
  readonly sums: ArrayLike<number>
}

/** How many of the best candidates are reordered for diversity. */
const DIVERSIFIED_CANDIDATES = 60

/** @param signals of each candidate */
export function rankQuery (
  found: readonly MergedCandidate[], query: AnalyzedQuery, signals: readonly Signals[],
  { weights, fusion, scorers: allScorers, diversity, minScore }: RankingOptions,
): QueryRanking {
  const inConversations = areConversations(found, signals)
  const hasCosines = found.some(({ scores: { semantic = 0 } }) => semantic > 0)
  let candidates = found
  if (!inConversations) candidates = found.map(withLessContext)
  else if (hasCosines) candidates = withQuestionsOfAnswers(found, signals, query)
  const scorers = inConversations ? allScorers : { ...allScorers, details: 0 }
  const fusionScores = fuse(candidates, weights, fusion)
  const inputs = rankingInputs(candidates, signals, query)
  const scorerSums = weightedSums(inputs, query, scorers)
  // Subtracting what a typical cosine adds keeps scores comparable between recalls with and without the semantic
  // strategy.
  const typicalCosineSum = hasCosines ? weights.semantic * TYPICAL_COSINE : 0
  const sums = new Float64Array(candidates.length)
  const scores = new Float64Array(candidates.length)
  const indices: number[] = []
  for (let index = 0; index < candidates.length; index++) {
    sums[index] = fusionScores[index]! + scorerSums[index]! - typicalCosineSum
    scores[index] = toScore(sums[index]!)
    indices.push(index)
  }
  const order = descendingOrder(indices, scores, (a, b) => byMemoryId(candidates[a]!, candidates[b]!))
  const ranking = {
    query, weights, fusion, scorers, candidates, fusionScores, inputs, typicalCosineSum, sums, scores, order,
  }
  return query.asksForList && diversity > 0 && inConversations
    ? { ...ranking, ...diversified(ranking, diversity, minScore) }
    : ranking
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
function diversified (
  { candidates, sums, scores, order }: QueryRanking, diversity: number, minScore: number,
): Pick<QueryOrder, 'scores' | 'order'> {
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
  const reordered = [
    ...all.filter((index) => scores[index]! >= minScore), ...all.filter((index) => scores[index]! < minScore),
  ]
  const lowered = new Float64Array(scores.length)
  descendingScores(reordered.map((index) => scores[index]!), minScore)
    .forEach((score, place) => { lowered[reordered[place]!] = score })
  return { scores: lowered, order: reordered }
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
export function interleave (rankings: readonly QueryOrder[], minScore: number): RankedCandidate[] {
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

export interface RerankOptions {
  /** How many of the best candidates are sent to the reranker. */
  readonly candidates: number
  readonly timeoutMs: number
  /** The reranker's share in the new score, 0–1; the earlier score has the rest. */
  readonly weight: number
}

type Reranked = RankedCandidate & { readonly rerankScore: number }

/**
 * Reranks the first candidates. The reranker's scores are normalised to their range in this call, because every model
 * has its own scale. The candidates that were not sent to it stay below the others.
 * @throws when the reranker fails, exceeds its time, or does not return one finite number for each text
 */
export async function rerank (
  reranker: Reranker, query: string, candidates: readonly RankedCandidate[],
  options: RerankOptions, signal?: AbortSignal,
): Promise<Reranked[]> {
  const first = candidates.slice(0, options.candidates)
  if (first.length === 0) return candidates.map((candidate) => ({ ...candidate, rerankScore: candidate.rankScore }))
  const scores = await withTimeLimit(options.timeoutMs, signal, async (signal) => (
    await reranker.rerank(query, first.map(({ memory }) => memory.text), { signal })
  ))
  if (!Array.isArray(scores) || scores.length !== first.length || !scores.every(Number.isFinite)) {
    throw new Error('The reranker gave unusable scores')
  }
  const lowest = Math.min(...scores)
  // Halved, because the difference of two large numbers can be infinite.
  const range = Math.max(...scores) / 2 - lowest / 2
  const order = scores.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score || a.index - b.index)
  const ranks = new Map(order.map(({ index }, place) => [index, place + 1]))
  const reranked = first.map((candidate, index) => ({
    ...candidate,
    rerankScore: (1 - options.weight) * candidate.rankScore +
      options.weight * (range === 0 ? 0.5 : (scores[index]! / 2 - lowest / 2) / range),
    rerank: { rank: ranks.get(index)!, score: scores[index]! },
  })).sort((a, b) => b.rerankScore - a.rerankScore || byMemoryId(a, b))
  return [...reranked, ...belowAll(candidates.slice(options.candidates), reranked.at(-1)!.rerankScore)]
}

/** Candidates that were not reranked keep their rank scores, lowered where needed to stay below those that were. */
function belowAll (candidates: readonly RankedCandidate[], lowest: number): Reranked[] {
  const ceiling = Math.max(0, lowest - MIN_SCORE_DIFFERENCE)
  const scores = descendingScores(candidates.map(({ rankScore }) => rankScore), 0, ceiling)
  return candidates.map((candidate, index) => ({ ...candidate, rerankScore: scores[index]! }))
}

/** How the score of a hit came about. */
export interface Explanation {
  /** The rank and score in each strategy, for the whole query; absent for a hit that only a part of it found. */
  readonly strategies: MergedCandidate['strategies']
  /** What each strategy that is switched on added to the sum. */
  readonly contributions: Readonly<Partial<Record<Strategy, number>>>
  /** What each scorer added to the sum, without those that added nothing. */
  readonly scorerContributions: Readonly<Partial<Record<ScorerName, number>>>
  /** Before it is mapped to 0–1. */
  readonly sum: number
}

/**
 * Explains hits by the rankings of the query and of its parts. @returns the explanations in the order of the hits
 * @param rankings at least one, in the order in which they were interleaved
 */
export function explainHits (
  hits: ReadonlyArray<Pick<RankedCandidate, 'bank' | 'memory' | 'ranking'>>, rankings: readonly QueryRanking[],
): Explanation[] {
  const prepared = rankings.map((ranking) => {
    const { candidates, weights, fusion } = ranking
    const places = new Map(candidates.map((candidate, place) => [candidateKey(candidate), place]))
    const sumsByStrategy = STRATEGIES.filter((name) => weights[name] !== 0).map((name) => (
      [name, fuse(candidates, { lexical: 0, semantic: 0, [name]: weights[name] }, fusion)] as const
    ))
    return { ...ranking, places, sumsByStrategy }
  })
  return hits.map((hit) => {
    const key = candidateKey(hit)
    const main = prepared[0]!
    const ownPlace = main.places.get(key)
    const { query, scorers, inputs, sums, places, sumsByStrategy, typicalCosineSum } = prepared[hit.ranking ?? 0]!
    const place = places.get(key)!
    const values = scoreBreakdown(inputs[place]!, query)
    const weighted = SCORER_NAMES.map((name) => [name, values[name] * scorers[name]] as const)
    return {
      strategies: ownPlace === undefined ? undefined : main.candidates[ownPlace]!.strategies,
      contributions: Object.fromEntries(sumsByStrategy.map(([strategy, added]) => (
        [strategy, added[place]! - (strategy === 'semantic' ? typicalCosineSum : 0)]
      ))),
      scorerContributions: Object.fromEntries(weighted.filter(([, value]) => value !== 0)),
      sum: sums[place]!,
    }
  })
}
