import { failed, ok, warning, type Finding } from './finding.js'

/** Beyond this difference, times in answers are visibly wrong. */
const NOTABLE_MS = 2000
/** Beyond this difference, tokens are refused as expired or not yet valid. */
const HARMFUL_MS = 30_000

/** When, by our clock, the request for the other clock was sent and its answer received. */
interface Exchange {
  sent: number
  received: number
}

/**
 * Compares our clock with another's.
 * @param theirs milliseconds since 1970
 * @param resolutionMs of their clock
 */
export function clockFinding (
  check: string, theirs: number, { sent, received }: Exchange, resolutionMs = 0,
): Finding {
  const early = theirs + resolutionMs < sent ? sent - theirs - resolutionMs : 0
  const late = theirs > received ? theirs - received : 0
  const difference = Math.max(early, late)
  const told = `this machine's clock is ${(difference / 1000).toFixed(1)} s ${early > 0 ? 'ahead of' : 'behind'} it`
  if (difference <= NOTABLE_MS) return ok(check, 'it agrees with that of this machine')
  const advice = 'synchronise the clocks (NTP)'
  return difference > HARMFUL_MS ? failed(check, told, advice) : warning(check, told, advice)
}
