/** A duration in milliseconds, rounded to a microsecond. */
export function roundedMs (ms: number): number {
  return Math.round(ms * 1000) / 1000
}
