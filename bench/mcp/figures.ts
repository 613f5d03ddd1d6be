import { UnusableInput } from '../checked.js'
import type { LatencySummary } from '../percentiles.js'

/** What the clients of a run have seen. Durations in milliseconds. */
export interface ClientFigures {
  calls: number
  /** How often each error came. */
  errors: Record<string, number>
  latency: LatencySummary
}

/** @throws UnusableInput for anything but a positive number */
export function numberArgument (text: string | undefined): number {
  const value = Number(text)
  if (!(value > 0)) throw new UnusableInput(`${text ?? 'nothing'} is no positive number`)
  return value
}
