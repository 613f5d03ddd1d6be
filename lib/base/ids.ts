import { V7Generator } from 'uuidv7'
import type { Clock } from './clock.js'

/** Makes a new id. The one id source; tests pass their own. */
export type IdSource = () => string

/** The form of a bank id, as a part of a regular expression and in words. */
export const BANK_ID = '[A-Za-z0-9][A-Za-z0-9._:@-]{0,254}'
export const BANK_ID_IN_WORDS = 'of letters, digits and ._:@-, at most 255 characters, the first a letter or digit'

/** The form of a principal, likewise. */
export const PRINCIPAL = '[^\\s\\p{C}\\p{Z}]{1,256}'
export const PRINCIPAL_IN_WORDS = '1 to 256 visible characters without spaces'
export const PRINCIPAL_PATTERN_IN_WORDS = `${PRINCIPAL_IN_WORDS}, with * only as the last character`

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/**
 * UUIDv7 (RFC 9562 section 5.7): ids rise with the clock and within a millisecond, and never fall when the clock is set
 * back.
 */
export function uuidv7Source (clock: Clock): IdSource {
  const generator = new V7Generator()
  // The generator by itself would follow a clock that was set back by more than ten seconds.
  let latest = 0
  return () => {
    latest = Math.max(latest, clock())
    return textOf(generator.generateOrResetWithTs(latest).bytes)
  }
}

/**
 * Like UUID.toString(), which joins the digits one by one: until such a text is read, V8 keeps its parts, 800 bytes in
 * 30 objects, and copies them in each garbage collection.
 */
function textOf (bytes: Readonly<Uint8Array>): string {
  const hex = Buffer.from(bytes).toString('hex')
  const text = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  // A regular expression makes V8 store a text as one piece.
  UUID.test(text)
  return text
}

export function isUuid (text: string): boolean {
  return UUID.test(text)
}

export function isUuidV7 (text: string): boolean {
  return UUID_V7.test(text)
}
