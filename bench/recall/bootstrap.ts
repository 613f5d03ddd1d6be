import { mean, percentile } from '../percentiles.js'
import { seededRandom } from '../http/vocabulary.js'
import { groupBy } from './figures.js'

const RESAMPLES = 2000
const SEED = 20_240_501

/** The same question under two runs. */
export interface Pair {
  conversation: string
  a: number
  b: number
}

export interface Difference {
  a: number
  b: number
  /** b − a. */
  difference: number
  /** The interval with 95 % of the resampled differences. */
  low: number
  high: number
  conversations: number
  /** Conversations in which b's mean is above a's. */
  won: number
}

/**
 * The paired bootstrap (B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993): questions are drawn with
 * replacement within each conversation, each with its values of both runs, and the difference of the means is computed
 * again. Conversations of one question form one group to draw from: alone such a conversation would never vary. The
 * mean is that over conversations of the means over questions, as for every figure of the bench. The generator is
 * seeded: the same pairs give the same interval.
 * @param pairs at least one
 */
export function pairedBootstrap (
  pairs: readonly Pair[], { resamples = RESAMPLES, seed = SEED }: { resamples?: number, seed?: number } = {},
): Difference {
  const groups = [...groupBy(pairs, ({ conversation }) => conversation).values()]
  const differences = groups.map((group) => Float64Array.from(group, ({ a, b }) => b - a))
  const strata = strataOf(differences)
  const random = seededRandom(seed)
  const draw = () => strata.reduce(
    (total, { values, conversations }) => total + conversations * resampledMean(values, random), 0,
  ) / groups.length
  const drawn = Array.from({ length: resamples }, draw).sort((x, y) => x - y)
  const macro = (valueOf: (pair: Pair) => number) => mean(groups.map((group) => mean(group.map(valueOf))))
  const [a, b] = [macro((pair) => pair.a), macro((pair) => pair.b)]
  return {
    a,
    b,
    difference: b - a,
    low: percentile(drawn, 0.025),
    high: percentile(drawn, 0.975),
    conversations: groups.length,
    won: differences.filter((values) => sum(values) > 1e-12).length,
  }
}

/** The groups to draw from, and the number of conversations in each. */
function strataOf (differences: readonly Float64Array[]): Array<{ values: Float64Array, conversations: number }> {
  const single = differences.filter(({ length }) => length === 1)
  const strata = differences.filter(({ length }) => length > 1).map((values) => ({ values, conversations: 1 }))
  return single.length === 0
    ? strata
    : [...strata, { values: Float64Array.from(single, ([value]) => value!), conversations: single.length }]
}

function resampledMean (values: Float64Array, random: () => number): number {
  let total = 0
  for (let i = 0; i < values.length; i++) total += values[Math.floor(random() * values.length)]!
  return total / values.length
}

function sum (values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0)
}
