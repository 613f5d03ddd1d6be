/** A summary of durations in milliseconds. */
export interface LatencySummary {
  p50: number
  p95: number
  p99: number
}

/**
 * The nearest-rank percentile: always a measured value, never an interpolated one.
 * @param sorted in rising order
 * @param share 0–1
 * @returns NaN when nothing was measured
 */
export function percentile (sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN
}

/** @param durations in any order */
export function summarize (durations: readonly number[]): LatencySummary {
  const sorted = [...durations].sort((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), p99: percentile(sorted, 0.99) }
}

/** @returns NaN when there are no values */
export function mean (values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
