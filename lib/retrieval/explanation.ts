import { candidateKey, STRATEGIES, type MergedCandidate, type RankedCandidate, type Strategy } from './candidates.js'
import { fuse } from './fusion.js'
import type { RankingObservation } from './ranking.js'
import { scoreBreakdown } from './scoring/inputs.js'
import { SCORER_NAMES, type ScorerName } from './scoring/scorers.js'

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

/** A ranking with what explains each of its candidates. */
interface ExplainedRanking extends RankingObservation {
  readonly places: ReadonlyMap<string, number>
  /** What each strategy that is switched on adds to the sums. */
  readonly sumsByStrategy: ReadonlyArray<readonly [Strategy, readonly number[]]>
}

/**
 * Explains hits by the rankings of the query and of its parts. @returns the explanations in the order of the hits
 * @param rankings at least one, in the order in which they were interleaved
 */
export function explainHits (
  hits: ReadonlyArray<Pick<RankedCandidate, 'bank' | 'memory' | 'ranking'>>, rankings: readonly RankingObservation[],
): Explanation[] {
  const prepared: ExplainedRanking[] = []
  for (const ranking of rankings) {
    prepared.push(prepare(ranking))
  }
  const explanations: Explanation[] = []
  for (const hit of hits) {
    const key = candidateKey(hit)
    const [main] = prepared
    const ownPlace = main!.places.get(key)
    const ranking = prepared[hit.ranking ?? 0]!
    explanations.push({
      strategies: ownPlace === undefined ? undefined : main!.merged[ownPlace]!.strategies,
      ...explain(ranking, ranking.places.get(key)!),
    })
  }
  return explanations
}

function prepare (ranking: RankingObservation): ExplainedRanking {
  const { merged, weights, fusion } = ranking
  const names = STRATEGIES.filter((name) => weights[name] !== 0)
  return {
    ...ranking,
    places: new Map(merged.map((candidate, place) => [candidateKey(candidate), place])),
    sumsByStrategy: names.map((name) => (
      [name, fuse(merged, { lexical: 0, semantic: 0, [name]: weights[name] }, fusion)]
    )),
  }
}

function explain (
  { query, scorers, inputs, sums, sumsByStrategy, typicalCosineSum }: ExplainedRanking, place: number,
): Omit<Explanation, 'strategies'> {
  const values = scoreBreakdown(inputs[place]!, query)
  const weighted = SCORER_NAMES.map((name) => [name, values[name] * scorers[name]] as const)
  return {
    contributions: Object.fromEntries(sumsByStrategy.map(([strategy, added]) => (
      [strategy, added[place]! - (strategy === 'semantic' ? typicalCosineSum : 0)]
    ))),
    scorerContributions: Object.fromEntries(weighted.filter(([, value]) => value !== 0)),
    sum: sums[place]!,
  }
}
