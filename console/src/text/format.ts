const NUMBER = new Intl.NumberFormat()
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const HOUR = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

export function formatNumber (value: number): string {
  return NUMBER.format(value)
}

/** `1 memory`, `2 memories`. */
export function formatCount (count: number, one: string, several = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : several}`
}

/**
 * What a list of banks shows under its filter.
 * @param shown what is shown and how much of it, in words
 * @param hasMore whether some banks are not loaded
 */
export function describeShown (count: number, shown: string, hasMore = false): string {
  if (count > 0) return hasMore ? `${shown} of those loaded` : shown
  return hasMore
    ? 'No loaded bank matches the filter. “Load more” loads further banks.'
    : 'No bank matches the filter.'
}

/** In the user's time zone. */
export function formatTime (instant: string | number | Date): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? String(instant) : DATE_TIME.format(date)
}

/** Only the time of the day. */
export function formatClock (instant: string | number | Date): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? String(instant) : CLOCK.format(date)
}

/** The time of the day without seconds. */
export function formatHour (instant: string | number | Date): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? String(instant) : HOUR.format(date)
}

export function formatDate (instant: string | number | Date): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? String(instant) : DATE.format(date)
}

/** `2026-11-22 18:03:04 UTC`. */
export function formatUtc (instant: string | number | Date): string {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return String(instant)
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** Milliseconds with two decimals below 10, one below 100, and none from there on. */
export function formatMilliseconds (value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })} ms`
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function formatBytes (bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toLocaleString(undefined, { maximumFractionDigits: power === 0 ? 0 : 1 })} ` +
    `${UNITS[power]}`
}
