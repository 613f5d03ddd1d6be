import { trimWhitespace } from './whitespace.js'
import { TokenRefused } from './token-refused.js'

/** The payload of a token whose signature is valid. */
export type Claims = Record<string, unknown>

/**
 * Refuses a token outside its validity period (RFC 7519 sections 4.1.4 to 4.1.6). There is no leeway. A token without
 * `exp` is accepted, since neither the HS256 nor the OIDC claims of the specification require one. `iat` must be a
 * number when present; its value is informational.
 * @param now milliseconds since the epoch
 */
export function checkTimes (claims: Claims, now: number): void {
  const expiry = numericDate(claims['exp'])
  const notBefore = numericDate(claims['nbf'])
  numericDate(claims['iat'])
  if (expiry !== undefined && now >= expiry) throw new TokenRefused('expired')
  if (notBefore !== undefined && now < notBefore) throw new TokenRefused('not yet valid')
}

/** @returns milliseconds. Rejects null and 1e999, which parses to Infinity and would never expire. */
function numericDate (seconds: unknown): number | undefined {
  if (seconds === undefined) return undefined
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) throw new TokenRefused('malformed claim')
  return seconds * 1000
}

/** The `iss` claim must be present and equal. */
export function checkIssuer (claims: Claims, issuer: string): void {
  if (claims['iss'] !== issuer) throw new TokenRefused('wrong issuer')
}

/** The `aud` claim must be present: the audience, or an array of strings that contains it. */
export function checkAudience (claims: Claims, audience: string): void {
  const claim = claims['aud']
  const audiences: unknown[] = Array.isArray(claim) ? claim : [claim]
  if (!audiences.every((value) => typeof value === 'string')) throw new TokenRefused('wrong audience')
  if (!audiences.includes(audience)) throw new TokenRefused('wrong audience')
}

/** @returns the `sub` claim, unchanged */
export function subjectOf (claims: Claims): string {
  const subject = claims['sub']
  if (!isFilled(subject)) throw new TokenRefused('missing sub')
  return subject
}

/** Whether a claim is a string with more than blanks in it. */
export function isFilled (claim: unknown): claim is string {
  return typeof claim === 'string' && trimWhitespace(claim) !== ''
}
