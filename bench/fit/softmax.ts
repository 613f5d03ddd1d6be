/** The candidates of one question: a row of features for each, and which of them are evidence. */
export interface Example {
  /** The fold that it belongs to: its conversation. */
  group: string
  category: string
  /** Row-major, `candidates` rows of as many columns as there are features. */
  features: Float64Array
  candidates: number
  /** Rows that are evidence. */
  positives: readonly number[]
  /** Number of pieces of evidence, found or not. */
  wanted: number
}

export interface FitOptions {
  /** Columns that may have a weight. */
  columns: readonly number[]
  steps: number
  /** Pulls weights to 0, in units of each feature's deviation. */
  ridge: number
}

const RATE = 0.05

/**
 * Weights of a linear ranking by listwise softmax (ListNet's top-one, Cao et al. 2007): the likelihood that a candidate
 * drawn by e^score is evidence, by Adam over all examples at once. Deterministic.
 * @returns a weight for each of `width` columns, 0 for those not in `columns`
 */
export function fitWeights (
  examples: readonly Example[], width: number, { columns, steps, ridge }: FitOptions,
): Float64Array {
  const usable = examples.filter(({ positives }) => positives.length > 0)
  const deviation = deviations(usable, width)
  const weights = new Float64Array(width)
  const momentum = new Float64Array(width)
  const variance = new Float64Array(width)
  for (let step = 1; step <= steps; step++) {
    const gradient = new Float64Array(width)
    for (const example of usable) addGradient(gradient, example, width, weights, deviation)
    const rate = RATE * (step < steps * 0.7 ? 1 : 0.2)
    for (const column of columns) {
      const slope = gradient[column]! / usable.length + ridge * weights[column]!
      momentum[column] = 0.9 * momentum[column]! + 0.1 * slope
      variance[column] = 0.999 * variance[column]! + 0.001 * slope * slope
      const deviation = Math.sqrt(variance[column]! / (1 - 0.999 ** step))
      weights[column]! -= rate * (momentum[column]! / (1 - 0.9 ** step)) / (deviation + 1e-8)
    }
  }
  return weights.map((weight, column) => deviation[column] === 0 ? 0 : weight / deviation[column]!)
}

/** The score of every candidate. */
export function scoresOf ({ features, candidates }: Example, width: number, weights: Float64Array): Float64Array {
  const scores = new Float64Array(candidates)
  for (let row = 0; row < candidates; row++) {
    let sum = 0
    for (let column = 0; column < width; column++) sum += features[row * width + column]! * weights[column]!
    scores[row] = sum
  }
  return scores
}

function addGradient (
  gradient: Float64Array, { features, candidates, positives }: Example, width: number, weights: Float64Array,
  deviation: Float64Array,
): void {
  const scores = new Float64Array(candidates)
  let highest = -Infinity
  for (let row = 0; row < candidates; row++) {
    let sum = 0
    for (let column = 0; column < width; column++) {
      if (deviation[column]! > 0) sum += features[row * width + column]! / deviation[column]! * weights[column]!
    }
    scores[row] = sum
    if (sum > highest) highest = sum
  }
  let total = 0
  for (let row = 0; row < candidates; row++) total += scores[row] = Math.exp(scores[row]! - highest)
  const wanted = new Set(positives)
  for (let row = 0; row < candidates; row++) {
    const error = scores[row]! / total - (wanted.has(row) ? 1 / positives.length : 0)
    for (let column = 0; column < width; column++) {
      if (deviation[column]! > 0) gradient[column]! += error * features[row * width + column]! / deviation[column]!
    }
  }
}

function deviations (examples: readonly Example[], width: number): Float64Array {
  const sums = new Float64Array(width)
  const squares = new Float64Array(width)
  let rows = 0
  for (const { features, candidates } of examples) {
    rows += candidates
    for (let at = 0; at < features.length; at++) {
      sums[at % width]! += features[at]!
      squares[at % width]! += features[at]! ** 2
    }
  }
  return sums.map((sum, column) => Math.sqrt(Math.max(0, squares[column]! / rows - (sum / rows) ** 2)))
}
