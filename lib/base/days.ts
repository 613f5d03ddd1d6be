import { formatInstant, parseInstant } from './clock.js'

export const DAY_MS = 86_400_000
export const WEEK_MS = 7 * DAY_MS

/**
 * The start of a day in UTC. Date.UTC reads the years 0 to 99 as those from 1900 on.
 * @param month from 0; a month or a day outside of its year or month counts on from it
 */
export function utcDate (year: number, month: number, day = 1): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

/** Days since the epoch, in UTC. */
export function dayOf (instant: number): number {
  return Math.floor(instant / DAY_MS)
}

export function startOfDay (instant: number): number {
  return dayOf(instant) * DAY_MS
}

/** @returns undefined unless the text is a day of the calendar as `YYYY-MM-DD` */
export function parseDay (text: string): number | undefined {
  const instant = parseInstant(`${text}T00:00:00Z`)
  return instant === undefined ? undefined : dayOf(instant)
}

export function formatDay (day: number): string {
  return formatInstant(day * DAY_MS).slice(0, 10)
}
