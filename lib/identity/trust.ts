/** How far a memory may be believed, from the least to the most. */
export const TRUST_LEVELS = ['suspect', 'untrusted', 'trusted'] as const

/**
 * The trust of a memory. It comes from who wrote it (`identity.trust`, `sources.<id>.trust`) and from what its text looks like
 * (lib/text/suspicion.ts), never from the request.
 */
export type Trust = typeof TRUST_LEVELS[number]

/** @returns the lowest of the levels; `trusted` for none */
export function lowestTrust (...levels: readonly Trust[]): Trust {
  return TRUST_LEVELS[Math.min(...levels.map((level) => TRUST_LEVELS.indexOf(level)), TRUST_LEVELS.length - 1)]!
}

export function isAtLeast (trust: Trust, least: Trust): boolean {
  return TRUST_LEVELS.indexOf(trust) >= TRUST_LEVELS.indexOf(least)
}

/** What a text from outside says; what is no level is believed least. */
export function readTrust (text: string): Trust {
  return TRUST_LEVELS.find((level) => level === text) ?? 'suspect'
}
