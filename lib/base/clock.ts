/** Milliseconds since the Unix epoch. The one clock; tests pass their own. */
export type Clock = () => number

export const systemClock: Clock = Date.now

/** The rule of parseInstant, as the end of a sentence that begins with the field. */
export const INSTANT_RULE = 'must be an RFC 3339 date-time with an offset, such as 2026-01-05T09:30:00Z'

const SECOND = 1000

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** Maximum length of a text, which allows more digits of a second than any clock has. */
const MAX_CHARACTERS = 64

// RFC 3339 has years of four digits, so an instant that an offset moves beyond them could not be formatted.
export const FIRST_INSTANT = Date.parse('0000-01-01T00:00:00.000Z')
export const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads an RFC 3339 date-time with an offset (RFC 3339 section 5.6). A leap second is the second after it, as in POSIX
 * time.
 * @returns milliseconds since the epoch, fractions below a millisecond dropped; undefined when the text is no
 *   date-time, names a day that does not exist, has no offset, is longer than 64 characters, or lies outside of the
 *   years 0 to 9999 in UTC
 */
export function parseInstant (text: string): number | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  const parts = RFC3339.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second] = parts.map(Number) as number[]
  if (hour! > 23 || minute! > 59 || second! > 60) return undefined
  // Date.parse rolls 30 February over into March; a day beyond its month is refused here instead.
  if (month! < 1 || month! > 12 || day! < 1 || day! > daysInMonth(year!, month!)) return undefined
  const isLeapSecond = second === 60
  const readable = isLeapSecond ? text.replace(':60', ':59') : text
  const instant = Date.parse(readable.toUpperCase()) + (isLeapSecond ? SECOND : 0)
  if (!(instant >= FIRST_INSTANT && instant <= LAST_INSTANT)) return undefined
  return isLeapSecond && !isStartOfMonth(instant) ? undefined : instant
}

/** Leap seconds are inserted at the end of a month in UTC; whether one was is not known here. */
function isStartOfMonth (instant: number): boolean {
  return new Date(instant).toISOString().slice(8, 19) === '01T00:00:00'
}

/** @returns the instant as RFC 3339 with milliseconds, at an offset in milliseconds east of UTC */
export function formatAtOffset (instant: number, utcOffset: number): string {
  const local = instant + utcOffset
  if (utcOffset === 0 || local < FIRST_INSTANT || local > LAST_INSTANT) return formatInstant(instant)
  const minutes = Math.abs(utcOffset) / 60_000
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  return `${formatInstant(local).slice(0, -1)}${utcOffset < 0 ? '-' : '+'}${hour}:${minute}`
}

/**
 * The offset of a text that parseInstant reads.
 * @returns milliseconds east of UTC
 */
export function utcOffsetOf (text: string): number {
  const offset = text.slice(-6)
  if (!/^[+-]/.test(offset)) return 0
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))
  return (offset.startsWith('-') ? -minutes : minutes) * 60_000
}

function daysInMonth (year: number, month: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month, 0)
  return date.getUTCDate()
}

/** The last formatted second, because instants that are formatted together mostly share a few seconds. */
let lastSecond = { at: NaN, text: '' }

/** @returns the instant as RFC 3339 in UTC with `Z` and milliseconds */
export function formatInstant (instant: number): string {
  const whole = Math.trunc(instant)
  const at = Math.floor(whole / SECOND)
  if (at !== lastSecond.at) lastSecond = { at, text: new Date(at * SECOND).toISOString().slice(0, -4) }
  return `${lastSecond.text}${String(whole - at * SECOND).padStart(3, '0')}Z`
}
