import { UnusableInput } from '../checker.js'
import type { LatencySummary } from '../percentiles.js'

/** The observations of the clients of a run. Durations in milliseconds. */
export interface ClientFigures {
  calls: number
  /** Number of occurrences of each error. */
  errors: Record<string, number>
  latency: LatencySummary
}

/** @throws UnusableInput for anything but a positive number */
export function numberArgument (text: string | undefined): number {
  const value = Number(text)
  if (!(value > 0)) throw new UnusableInput(`${text ?? 'nothing'} is no positive number`)
  return value
}
