/** Trust levels of a memory, from the lowest to the highest. */
export const TRUST_LEVELS = ['suspect', 'untrusted', 'trusted'] as const

/**
 * The trust of a memory. It depends on its writer (`identity.trust`, `sources.<id>.trust`) and on its text
 * (lib/text/suspicion.ts), never on the request.
 */
export type Trust = typeof TRUST_LEVELS[number]

/** @returns the lowest of the levels; `trusted` for none */
export function lowestTrust (...levels: readonly Trust[]): Trust {
  return TRUST_LEVELS[Math.min(...levels.map((level) => TRUST_LEVELS.indexOf(level)), TRUST_LEVELS.length - 1)]!
}

export function isAtLeast (trust: Trust, minimum: Trust): boolean {
  return TRUST_LEVELS.indexOf(trust) >= TRUST_LEVELS.indexOf(minimum)
}

/** Reads a level from outside data; anything else is `suspect`. */
export function readTrust (text: string): Trust {
  return TRUST_LEVELS.find((level) => level === text) ?? 'suspect'
}
